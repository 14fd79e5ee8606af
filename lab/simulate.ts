import { fileURLToPath } from 'node:url';
import { runProgram, SIMULATE } from './command-line.js';
import { describeReport, runSimulation } from './simulation/run-simulation.js';

/** `npm run simulate`: exits with 1 if an invariant was broken. */
const workerProgram = fileURLToPath(new URL('./world/worker-main.js', import.meta.url));
const write = (line: string) => process.stdout.write(`${line}\n`);

await runProgram(SIMULATE, async ({ payments, seed, json }) => {
  const report = await runSimulation({ payments, seed, workerProgram, report: json ? undefined : write });
  for (const { invariant, about, what } of report.violations) {
    process.stderr.write(`${invariant}: ${about}: ${what}\n`);
  }
  if (!json) write(describeReport(report));
  write(JSON.stringify(report.result));
  return report.violations.length === 0 ? 0 : 1;
});
