import { Command, InvalidArgumentError, Option } from 'commander';
import { GROWTH_SYSTEMS, type GrowthSystem } from '../growth/options.js';

/** Options of `npm run bench:soak`. */
export interface SoakOptions {
  readonly system: GrowthSystem;
  /** Duration of the load. */
  readonly minutes: number;
  /** Payments begun a second; without it, a share of the system's highest rate, which is measured first. */
  readonly rate?: number;
  /** File that the figures are saved to as they come. */
  readonly results: string;
  /** Figures of an earlier run: they are told again, and nothing is measured. */
  readonly from?: string;
  /** Print JSON alone. */
  readonly json: boolean;
  /** Put the table into docs/performance.md, and the pictures beside it. */
  readonly writeDocs: boolean;
}

const MAX_MINUTES = 24 * 60;
const MAX_RATE = 1_000;

const positive = (max: number) => (text: string) => {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number > 0 && number <= max) return number;
  throw new InvalidArgumentError(`It must be a number above 0, and at most ${max}.`);
};

/**
 * Reads the arguments of `npm run bench:soak`.
 *
 * @throws CommanderError when they are wrong, or ask for help; commander has said so then
 */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  return new Command('npm run bench:soak --')
    .description('Has Sanaga take payments for a long time, and judges whether its memory grows.')
    .exitOverride()
    .addOption(
      new Option('--system <name>', 'which Temporal it runs on').choices(GROWTH_SYSTEMS).default('sanaga-postgres'),
    )
    .option('--minutes <n>', 'how long', positive(MAX_MINUTES), 20)
    .option('--rate <n>', 'payments begun a second; otherwise 70 % of what it makes at most', positive(MAX_RATE))
    .option('--results <file>', 'where the figures are kept as they come', 'soak.json')
    .option('--from <file>', 'tell the figures of an earlier run again, and measure nothing')
    .option('--json', 'print the result alone, as JSON', false)
    .option('--write-docs', 'write the table and pictures to docs', false)
    .parse(args, { from: 'user' })
    .opts<SoakOptions>();
}
