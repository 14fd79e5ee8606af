import { parseArgs, types } from 'node:util';
import { z } from 'zod';
import { Counts } from './counts.js';

/** The command line is invalid; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments of one of the lab's programs. */
interface Usage<Options> {
  /** One line, printed after a usage error. */
  readonly usage: string;
  readonly schema: z.ZodType<Options>;
  /** Default values of the options that take a value. `--json` stands alone. */
  readonly defaults: Readonly<Record<string, string>>;
}

const integer = (min: number, max?: number) => {
  const number = z.coerce.number<string>().int().min(min);
  return max === undefined ? number : number.max(max);
};

/** A bound of the exploration; 0 means none. */
const bound = integer(0, 1_000_000_000);

/**
 * Options of `npm run explore`: 1,500,000 states in all by default, and no other bound. With `--walks`, it plays these
 * alone.
 */
export const EXPLORE = usageOf(
  'usage: npm run explore -- [--depth N] [--states N] [--seconds N] [--json]\n' +
    '       npm run explore -- --walks N [--seed S] [--json]',
  z.strictObject({
    depth: bound,
    states: bound,
    seconds: bound,
    walks: bound,
    seed: integer(0),
    json: z.boolean(),
  }),
  { depth: '0', states: '1500000', seconds: '0', walks: '0', seed: '1' },
);

/** Options of `npm run simulate`. */
export const SIMULATE = usageOf(
  'usage: npm run simulate -- [--payments N] [--seed S] [--json]',
  z.strictObject({ payments: integer(1, 1_000_000), seed: integer(0), json: z.boolean() }),
  { payments: '1000', seed: '1' },
);

/** Options of `npm run chaos`. */
export const CHAOS = usageOf(
  'usage: npm run chaos -- [--payments N] [--kills K] [--seed S] [--json]',
  z.strictObject({
    payments: integer(1, 100_000),
    kills: integer(0, 10_000),
    seed: integer(0),
    json: z.boolean(),
  }),
  { payments: '300', kills: '30', seed: '1' },
);

/**
 * Reads a program's arguments.
 *
 * @throws UsageError if they are invalid
 */
export function readCommandLine<Options>({ schema, defaults }: Usage<Options>, args: readonly string[]): Options {
  const read = schema.safeParse(valuesOf(args, defaults));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`--${issue?.path.join('.')}: ${issue?.message}`);
}

/** A process may go on this long after its program's end, in ms; then something was left open. */
const END_LIMIT_MS = 30_000;

/**
 * Runs a program, and sets the exit code to its result, to 64 after a usage error and to 1 after any other. Errors are
 * written to stderr. If something keeps the process alive after the end, it exits with 1 and names that.
 */
export async function runProgram<Options>(
  usage: Usage<Options>,
  run: (options: Options) => Promise<number>,
  endLimitMs = END_LIMIT_MS,
): Promise<void> {
  try {
    process.exitCode = await run(readCommandLine(usage, process.argv.slice(2)));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(isUsage ? `${error.message}\n${usage.usage}\n` : `${stack}\n`);
    process.exitCode = isUsage ? 64 : 1;
  }
  // When nothing is left to do, Node tears its heap down. After thousands of workflows that has taken over a minute.
  process.once('beforeExit', () => process.exit());
  const before = process.cpuUsage();
  setTimeout(() => {
    const open = new Counts();
    for (const kind of process.getActiveResourcesInfo()) open.add(kind);
    const { user, system } = process.cpuUsage(before);
    const after = `after ${endLimitMs / 1_000} s, with ${((user + system) / 1e6).toFixed(1)} s of CPU time`;
    process.stderr.write(`${after}, these keep the process alive: ${JSON.stringify(open)}\n`);
    process.exit(1);
  }, endLimitMs).unref();
}

function usageOf<Options>(
  usage: string,
  schema: z.ZodType<Options>,
  defaults: Readonly<Record<string, string>>,
): Usage<Options> {
  return { usage, schema, defaults };
}

function valuesOf(args: readonly string[], defaults: Readonly<Record<string, string>>): unknown {
  const valued = Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }] as const);
  const options = { ...Object.fromEntries(valued), json: { type: 'boolean', default: false } as const };
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's own errors are of another realm under jest, so that `instanceof Error` doesn't recognise them.
    throw types.isNativeError(error) ? new UsageError(error.message) : error;
  }
}
