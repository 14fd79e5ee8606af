import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interrupted, stopSignal } from '../../cli/stop-signal.js';
import { readCommandLine, USAGE } from './command-line.js';
import { runChaos } from './run-chaos.js';

/**
 * `npm run chaos`: exits with 1 when an invariant was broken or a process died by itself, with 64 when it was called
 * wrongly, with 130 on Ctrl-C.
 */
const print = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

function commandLine() {
  try {
    return readCommandLine(process.argv.slice(2));
  } catch (error) {
    complain(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    return undefined;
  }
}

async function run({ json, ...options }: NonNullable<ReturnType<typeof commandLine>>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-chaos-'));
  const stop = stopSignal();
  const begun = performance.now();
  const report = (line: string) => {
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(6);
    if (!json) print(`${seconds} s  ${line}`);
  };
  let ok = false;
  try {
    const { result, violations, collapses, doings } = await runChaos({ ...options, folder, report, stop });
    for (const { invariant, about, what } of violations) complain(`${invariant}: ${about}: ${what}`);
    for (const collapse of collapses) complain(collapse);
    ok = violations.length === 0 && collapses.length === 0;
    if (!json) for (const [what, count] of Object.entries(doings.toJSON())) print(`${what}: ${count}`);
    print(JSON.stringify(result));
    return ok ? 0 : 1;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    if (stop.reason instanceof Interrupted) return stop.reason.exitCode;
    complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  } finally {
    // What went wrong can then be read in the logs.
    if (ok || stop.aborted) await rm(folder, { recursive: true, force: true });
    else complain(`chaos: databases and logs are kept in ${folder}`);
  }
}

const asked = commandLine();
process.exitCode = asked === undefined ? 64 : await run(asked);
