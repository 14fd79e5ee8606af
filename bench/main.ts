/* `npm run bench`: exits with 1 if a system failed. */
import { canMeasure, complain, print, runCommand } from './command.js';
import { writeGenerated } from './document.js';
import { describeMachine, loadNow } from './machine.js';
import { type BenchOptions, readOptions } from './options.js';
import { toJson, toTables } from './report.js';
import { type BenchResult, runBench } from './run-bench.js';
import { SYSTEM_NAMES } from './systems/system.js';

/** Concurrencies that docs/performance.md compares and discusses. */
const PUBLISHED = [1, 32];

/** Reports whether a result has everything that docs/performance.md shows. */
function isWhole({ loads }: BenchOptions, { figures }: BenchResult): boolean {
  const measured = loads.map(({ concurrency }) => concurrency);
  return (
    PUBLISHED.every((concurrency) => measured.includes(concurrency)) &&
    figures.every(
      ({ systems }) => systems.size === SYSTEM_NAMES.length && SYSTEM_NAMES.every((name) => systems.has(name)),
    )
  );
}

const WRITTEN_BY = 'npm run bench -- --write-docs';

await runCommand(async (args, stop) => {
  const options = readOptions(args);
  if (!canMeasure()) return 1;
  const load = loadNow();
  const result = await runBench(options, complain, stop);
  const machine = await describeMachine(`npm run bench -- ${args.join(' ')}`.trim(), load);
  if (!options.json) print(`\n${machine}\n\n${toTables(result)}\n`);
  if (options.writeDocs) {
    if (isWhole(options, result)) await writeGenerated(`${machine}\n\n${toTables(result)}`, WRITTEN_BY);
    else
      complain(
        'bench: docs/performance.md stays as it is: it takes the systems of a run without --systems, at 1 and 32 at a time',
      );
  }
  for (const each of result.figures) print(toJson(each));
  return result.failed.size === 0 ? 0 : 1;
});
