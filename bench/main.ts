/* `npm run bench`: exits with 1 if a system failed, with 64 for wrong arguments, and with 130 on Ctrl-C. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { Interrupted, stopSignal } from '../stack/processes/stop-signal.js';
import { describeMachine } from './machine.js';
import { readOptions } from './options.js';
import { toJson, toTables, withGenerated } from './report.js';
import { runBench } from './run-bench.js';

const DOCUMENT = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));

const WRITTEN_BY = 'npm run bench -- --write-docs';

const print = (text: string) => process.stdout.write(`${text}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (process.platform !== 'linux') {
    complain('bench: CPU times are read from /proc, which only Linux has');
    return 1;
  }
  const machine = await describeMachine(`npm run bench -- ${args.join(' ')}`.trim());
  const stop = stopSignal();
  const result = await runBench(options, complain, stop);
  if (!options.json) print(`\n${machine}\n\n${toTables(result)}\n`);
  if (options.writeDocs) {
    const document = await readFile(DOCUMENT, 'utf8');
    await writeFile(DOCUMENT, withGenerated(document, `${machine}\n\n${toTables(result)}`, WRITTEN_BY));
  }
  for (const load of result.figures) print(toJson(load));
  return result.failed.size === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 64;
  else if (error instanceof Interrupted) process.exitCode = error.exitCode;
  else {
    complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  }
}
