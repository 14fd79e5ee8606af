import { parseArgs, types } from 'node:util';
import { z } from 'zod';

/** The command line can't be followed; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const schema = z.strictObject({
  payments: z.coerce.number<string>().int().min(1).max(1_000_000),
  seed: z.coerce.number<string>().int().min(0),
  json: z.boolean(),
});

/** What a simulation's command line asks for. */
export type CommandLine = z.infer<typeof schema>;

export const USAGE = 'usage: npm run simulate -- [--payments N] [--seed S] [--json]';

/**
 * Reads the arguments; 1,000 payments and seed 1 unless they say otherwise.
 *
 * @throws UsageError saying what is wrong with them.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  return readOptions(schema, { payments: '1000', seed: '1' }, args);
}

/**
 * Reads options of the form `--name value`, and `--json`, which stands alone.
 *
 * @param defaults the options that take a value, with what they are when they aren't given
 * @throws UsageError saying what is wrong with them.
 */
export function readOptions<Read>(
  options: z.ZodType<Read>,
  defaults: Readonly<Record<string, string>>,
  args: readonly string[],
): Read {
  const valued = Object.entries(defaults).map(
    ([name, value]) => [name, { type: 'string', default: value }] as const,
  );
  const read = options.safeParse(
    valuesOf(args, { ...Object.fromEntries(valued), json: { type: 'boolean', default: false } }),
  );
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`--${issue?.path.join('.')}: ${issue?.message}`);
}

function valuesOf(
  args: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>['options'],
): unknown {
  try {
    return parseArgs({ args: [...args], ...(options && { options }) }).values;
  } catch (error) {
    throw types.isNativeError(error) ? new UsageError(error.message) : error;
  }
}
