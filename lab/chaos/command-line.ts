import { z } from 'zod';
import { readOptions } from '../simulation/command-line.js';

const schema = z.strictObject({
  payments: z.coerce.number<string>().int().min(1).max(100_000),
  kills: z.coerce.number<string>().int().min(0).max(10_000),
  seed: z.coerce.number<string>().int().min(0),
  json: z.boolean(),
});

/** What a chaos run's command line asks for. */
export type CommandLine = z.infer<typeof schema>;

export const USAGE = 'usage: npm run chaos -- [--payments N] [--kills K] [--seed S] [--json]';

/**
 * Reads the arguments; 300 payments, 30 kills and seed 1 unless they say otherwise.
 *
 * @throws UsageError saying what is wrong with them.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  return readOptions(schema, { payments: '300', kills: '30', seed: '1' }, args);
}
