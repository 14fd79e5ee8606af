import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interrupted, stopSignal } from '../stack/processes/stop-signal.js';
import { runChaos } from './chaos/run-chaos.js';
import { CHAOS, runProgram } from './command-line.js';

/** `npm run chaos`: exits with 1 if an invariant was broken or a process ended by itself, with 130 on Ctrl-C. */
const print = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

await runProgram(CHAOS, async ({ json, ...options }) => {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-chaos-'));
  const stop = stopSignal();
  const startedAt = performance.now();
  const report = (line: string) => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6);
    if (!json) print(`${seconds} s  ${line}`);
  };
  let ok = false;
  try {
    const { result, violations, collapses, actions } = await runChaos({ ...options, folder, report, stop });
    for (const { invariant, about, what } of violations) complain(`${invariant}: ${about}: ${what}`);
    for (const collapse of collapses) complain(collapse);
    ok = violations.length === 0 && collapses.length === 0;
    if (!json) for (const [action, count] of Object.entries(actions.toJSON())) print(`${action}: ${count}`);
    print(JSON.stringify(result));
    return ok ? 0 : 1;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    if (stop.reason instanceof Interrupted) return stop.reason.exitCode;
    throw error;
  } finally {
    // The databases and logs show what went wrong.
    if (ok || stop.aborted) await rm(folder, { recursive: true, force: true });
    else complain(`The databases and logs are kept in ${folder}`);
  }
});
