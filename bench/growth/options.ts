import { Command, Option } from 'commander';
import { type Load, loadsOf, MAX_CONCURRENCY, wholeNumbers } from '../options.js';

/** The systems that can be measured as they grow. */
export const GROWTH_SYSTEMS = ['sanaga', 'sanaga-postgres'] as const;
export type GrowthSystem = (typeof GROWTH_SYSTEMS)[number];

/** Options of `npm run bench:growth`. */
export interface GrowthOptions {
  readonly system: GrowthSystem;
  /** Numbers of open payments to measure at, the fewest first. */
  readonly sizes: readonly number[];
  /** Loads to measure at each size. */
  readonly loads: readonly Load[];
  /** File that the figures are saved to as they come. */
  readonly results: string;
  /** Figures of an earlier run, which aren't measured again. */
  readonly from?: string;
  /** Print JSON alone. */
  readonly json: boolean;
  /** Put the tables into docs/performance.md, and the pictures beside it. */
  readonly writeDocs: boolean;
}

/**
 * Reads the arguments of `npm run bench:growth`.
 *
 * @throws CommanderError when they are wrong, or ask for help; commander has said so then
 */
export function readGrowthOptions(args: readonly string[]): GrowthOptions {
  const command = new Command('npm run bench:growth --')
    .description('Measures Sanaga under more and more load, and with more and more payments open.')
    .exitOverride()
    .addOption(
      new Option('--system <name>', 'which Temporal it runs on').choices(GROWTH_SYSTEMS).default('sanaga-postgres'),
    )
    .addOption(
      new Option('--waiting <n>', 'open payments, which wait for their webhook or are under review; several, in turn')
        .argParser(wholeNumbers(1_000_000, 0))
        .default([0, 10_000], '0,10000'),
    )
    .addOption(
      new Option('--concurrency <n>', 'payments at the same time; several, in turn')
        .argParser(wholeNumbers(MAX_CONCURRENCY))
        .default([1, 8, 32, 128, 512], '1,8,32,128,512'),
    )
    .addOption(
      new Option('--payments <n>', 'payments of each run; with several, one for each concurrency')
        .argParser(wholeNumbers(1_000_000))
        .default([50, 200, 300, 500, 1_024], '50,200,300,500,1024'),
    )
    .option('--results <file>', 'where the figures are kept as they come', 'growth.json')
    .option('--from <file>', 'begin with the figures of an earlier run, and measure only what it lacks')
    .option('--json', 'print the result alone, as JSON', false)
    .option('--write-docs', 'write the tables and pictures to docs', false)
    .parse(args, { from: 'user' });
  const { waiting, payments, concurrency, ...rest } = command.opts<
    Omit<GrowthOptions, 'sizes' | 'loads'> & {
      readonly waiting: readonly number[];
      readonly payments: readonly number[];
      readonly concurrency: readonly number[];
    }
  >();
  const sizes = [...new Set(waiting)].sort((one, other) => one - other);
  return { ...rest, sizes, loads: loadsOf(command, payments, concurrency) };
}
