/* `npm run bench:growth`: exits with 1 if a run failed. */
import { resolve } from 'node:path';
import { canMeasure, complain, print, runCommand } from '../command.js';
import { writeGenerated, writePictures } from '../document.js';
import { keepResults, readResults } from '../kept-results.js';
import { describeMachine } from '../machine.js';
import { type GrowthFigures, growthSchema } from './figures.js';
import { readGrowthOptions } from './options.js';
import { toDocument, toJson, toPictures, toTables } from './report.js';
import { estimate, isWhole, runGrowth } from './run-growth.js';

const WRITTEN_BY = 'npm run bench:growth -- --write-docs';

await runCommand(async (args, stop) => {
  const options = readGrowthOptions(args);
  const results = resolve(options.results);
  const before = await figuresBefore(options);
  let figures = before;
  if (!isWhole(options, before)) {
    if (!canMeasure()) return 1;
    complain(`growth: ${estimate(options, before)}. What is measured is kept in ${results}`);
    const machine = await describeMachine(`npm run bench:growth -- ${args.join(' ')}`.trim());
    const keep = (now: GrowthFigures) => keepResults(results, now);
    const report = (line: string) => complain(`growth: ${line}`);
    figures = await runGrowth(options, { ...before, runs: [...before.runs, machine] }, { report, stop, keep });
  }
  if (!options.json) print(`\n${toTables(figures)}\n`);
  if (options.writeDocs) {
    await writePictures(toPictures(figures));
    await writeGenerated(toDocument(figures), WRITTEN_BY);
  }
  print(toJson(figures));
  return figures.failures.length === 0 ? 0 : 1;
});

async function figuresBefore({ from, system }: ReturnType<typeof readGrowthOptions>): Promise<GrowthFigures> {
  if (from === undefined) return { system, runs: [], sizes: [], points: [], failures: [] };
  const before = await readResults(from, growthSchema);
  if (before.system === system) return before;
  throw new Error(`${from} has figures of ${before.system}, not of ${system}: add --system ${before.system}`);
}
