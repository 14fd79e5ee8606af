import { Command, InvalidArgumentError, Option } from 'commander';
import { SYSTEM_NAMES, type SystemName, VARIANT_NAMES } from './systems/system.js';

/** Options of `npm run bench`. */
export interface BenchOptions {
  /** Numbers of payments with their concurrency, measured one after the other. */
  readonly loads: readonly Load[];
  readonly repeats: number;
  readonly systems: readonly SystemName[];
  /** Print JSON alone. */
  readonly json: boolean;
  /** Put the tables into docs/performance.md. */
  readonly writeDocs: boolean;
}

export interface Load {
  readonly payments: number;
  readonly concurrency: number;
}

/** Reads an option that is a whole number. */
const wholeNumber =
  (max: number, min = 1) =>
  (text: string) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };

/** Reads an option that is one or several whole numbers. */
export const wholeNumbers =
  (max: number, min = 1) =>
  (text: string) =>
    text.split(',').map(wholeNumber(max, min));

/** Payments that are in progress at the same time, at most. */
export const MAX_CONCURRENCY = 1_000;

/**
 * The loads that `--payments` and `--concurrency` ask for.
 *
 * @throws CommanderError when there are neither one number of payments nor one for each concurrency
 */
export function loadsOf(
  command: Command,
  payments: readonly number[],
  concurrency: readonly number[],
): readonly Load[] {
  const [only] = payments;
  if (payments.length !== 1 && payments.length !== concurrency.length) {
    command.error('error: --payments takes one number, or one for each of --concurrency', { exitCode: 64 });
  }
  return concurrency.map((each, index) => ({
    payments: payments[index] ?? only ?? 1,
    concurrency: each,
  }));
}

const NAMES = [...SYSTEM_NAMES, ...VARIANT_NAMES];

function systemNames(text: string): SystemName[] {
  return text.split(',').map((name) => {
    const known = NAMES.find((one) => one === name);
    if (known !== undefined) return known;
    throw new InvalidArgumentError(`There is no system ${name}. Choose from ${NAMES.join(', ')}.`);
  });
}

/**
 * Reads the arguments of `npm run bench`.
 *
 * @throws CommanderError when they are wrong, or ask for help; commander has said so then
 */
export function readOptions(args: readonly string[]): BenchOptions {
  const command = new Command('npm run bench --')
    .description('Measures Sanaga beside what others would use, on this machine.')
    .exitOverride()
    .addOption(
      new Option('--payments <n>', 'payments of each run; with several, one for each concurrency')
        .argParser(wholeNumbers(1_000_000))
        .default([400], '400'),
    )
    .addOption(
      new Option('--concurrency <n>', 'payments at the same time; several, such as 1,32,128, in turn')
        .argParser(wholeNumbers(MAX_CONCURRENCY))
        .default([32], '32'),
    )
    .option('--repeats <n>', 'runs of each system; the result has their medians', wholeNumber(100), 3)
    .addOption(
      new Option('--systems <names>', `some of ${NAMES.join(', ')}`)
        .argParser(systemNames)
        .default([...SYSTEM_NAMES], `all but ${VARIANT_NAMES.join(', ')}`),
    )
    .option('--json', 'print the result alone, as JSON: a line for each concurrency', false)
    .option('--write-docs', 'write the tables to docs/performance.md', false)
    .parse(args, { from: 'user' });
  const { payments, concurrency, ...rest } = command.opts<
    Omit<BenchOptions, 'loads'> & {
      readonly payments: readonly number[];
      readonly concurrency: readonly number[];
    }
  >();
  return { ...rest, loads: loadsOf(command, payments, concurrency) };
}
