import { z } from 'zod';
import { readOptions } from '../simulation/command-line.js';

const count = z.coerce.number<string>().int().min(0).max(1_000_000_000);

const schema = z.strictObject({
  depth: count,
  states: count,
  seconds: count,
  stories: count,
  json: z.boolean(),
});

/** What an exploration's command line asks for; 0 is no bound. */
export type CommandLine = z.infer<typeof schema>;

export const USAGE =
  'usage: npm run explore -- [--depth N] [--states N] [--seconds N] [--stories N] [--json]';

/**
 * Reads the arguments; 1,500,000 states in all, and no other bound, unless they say otherwise.
 *
 * @throws UsageError saying what is wrong with them.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  return readOptions(schema, { depth: '0', states: '1500000', seconds: '0', stories: '0' }, args);
}
