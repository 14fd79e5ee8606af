import { fileURLToPath } from 'node:url';
import { readCommandLine, USAGE, UsageError } from './command-line.js';
import { describeReport } from './describe-report.js';
import { runSimulation } from './run-simulation.js';

/** `npm run simulate`: exits with 1 when an invariant was broken, with 64 when it was called wrongly. */
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const write = (line: string) => process.stdout.write(`${line}\n`);

try {
  const { payments, seed, json } = readCommandLine(process.argv.slice(2));
  const { result, violations, doings, digest } = await runSimulation({
    payments,
    seed,
    workerProgram: here('./world/worker-main.js'),
    report: json ? undefined : write,
  });
  for (const { invariant, about, what } of violations)
    process.stderr.write(`${invariant}: ${about}: ${what}\n`);
  if (!json) write(describeReport({ result, violations, doings, digest }));
  write(JSON.stringify(result));
  process.exitCode = violations.length === 0 ? 0 : 1;
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(
    isUsage ? `${error.message}\n${USAGE}\n` : `${error instanceof Error ? error.stack : error}\n`,
  );
  process.exitCode = isUsage ? 64 : 1;
}
