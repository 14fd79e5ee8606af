import { parseArgs } from 'node:util';
import { z } from 'zod';

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
 * @throws Error saying what is wrong with them.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      payments: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  });
  const read = schema.safeParse(values);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`--${issue?.path.join('.')}: ${issue?.message}`);
}
