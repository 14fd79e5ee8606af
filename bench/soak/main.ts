/* `npm run bench:soak`: exits with 1 if a payment failed, or if the memory of the API or the worker grows. */
import { resolve } from 'node:path';
import { canMeasure, complain, print, runCommand } from '../command.js';
import { writeGenerated, writePictures } from '../document.js';
import { keepResults, readResults } from '../kept-results.js';
import { describeMachine } from '../machine.js';
import { type SoakFigures, soakSchema } from './figures.js';
import { readSoakOptions, type SoakOptions } from './options.js';
import { isGrowing, toDocument, toJson, toPictures, toTables } from './report.js';
import { runSoak } from './run-soak.js';

const WRITTEN_BY = 'npm run bench:soak -- --write-docs';
/** The start, the warm-up and the search for the limit, in minutes. */
const PREPARATION_MINUTES = 2;

await runCommand(async (args, stop) => {
  const options = readSoakOptions(args);
  if (options.from === undefined && !canMeasure()) return 1;
  const figures =
    options.from === undefined ? await measureNow(options, args, stop) : await readResults(options.from, soakSchema);
  if (!options.json) print(`\n${toTables(figures)}\n`);
  if (options.writeDocs) {
    await writePictures(toPictures(figures));
    await writeGenerated(toDocument(figures), WRITTEN_BY);
  }
  print(toJson(figures));
  return isGrowing(figures) || figures.failed !== undefined ? 1 : 0;
});

async function measureNow(options: SoakOptions, args: readonly string[], stop: AbortSignal) {
  const results = resolve(options.results);
  const minutes = Math.ceil(options.minutes + PREPARATION_MINUTES);
  complain(`soak: about ${minutes} minutes. What is measured is kept in ${results}`);
  const machine = await describeMachine(`npm run bench:soak -- ${args.join(' ')}`.trim());
  const keep = (now: SoakFigures) => keepResults(results, now);
  return await runSoak(options, machine, { report: (line) => complain(`soak: ${line}`), stop, keep });
}
