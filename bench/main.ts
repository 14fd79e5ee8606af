/* `npm run bench`: exits with 1 if a system failed. */
import { canMeasure, complain, print, runCommand } from './command.js';
import { writeGenerated } from './document.js';
import { describeMachine } from './machine.js';
import { readOptions } from './options.js';
import { toJson, toTables } from './report.js';
import { runBench } from './run-bench.js';

const WRITTEN_BY = 'npm run bench -- --write-docs';

await runCommand(async (args, stop) => {
  const options = readOptions(args);
  if (!canMeasure()) return 1;
  const machine = await describeMachine(`npm run bench -- ${args.join(' ')}`.trim());
  const result = await runBench(options, complain, stop);
  if (!options.json) print(`\n${machine}\n\n${toTables(result)}\n`);
  if (options.writeDocs) await writeGenerated(`${machine}\n\n${toTables(result)}`, WRITTEN_BY);
  for (const load of result.figures) print(toJson(load));
  return result.failed.size === 0 ? 0 : 1;
});
