import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { closeAll, runProcess } from './process/run-process.js';
import { type Config, readConfig } from './settings/read-settings.js';
import { withTemporalApiKey } from './settings/secret-files.js';
import { createLogger } from './telemetry/logger.js';
import { connectClient, loadTemporalTarget } from './temporal/connection.js';
import { encryptionOf } from './temporal/encryption.js';
import { loggingRuntime } from './worker/log.js';
import { hasRuns, replayRuns } from './worker/replay.js';

const USAGE = `Usage: node lib/replay.js [--open <n>] [--ended <n>] [--per-second <n>]

Replays the payments at Temporal with the workflows of this version, before it is deployed. It only reads.

  --open <n>         at most so many open workflows, the latest; by default, all
  --ended <n>        so many ended workflows of each type, the latest; by default, 200
  --per-second <n>   read at most so many histories a second; by default, 20

It needs the settings of Temporal, and ENCRYPTION_KEYS as the API and the workers have it. The exit code is 1 when this
version can't go on with one of them, and 0 where there is no payment yet.
`;

/** This version's workflows, bundled when the project was built. */
const WORKFLOW_BUNDLE = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));

interface Limits {
  readonly open: number | undefined;
  readonly ended: number;
  readonly perSecond: number;
}

await runProcess(async (stop) => {
  const limits = readLimits();
  if (limits === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = 64;
    return;
  }
  const config = readConfig('replay', process.env);
  const isWhole = await replay(config, limits, stop);
  if (!isWhole) process.exitCode = 1;
});

/** Prints each run that this version can't go on with, and how many it can. Returns whether it can with all. */
async function replay(config: Config<'replay'>, limits: Limits, stop: AbortSignal): Promise<boolean> {
  const logger = createLogger('replay', 'error');
  const encryption = encryptionOf(config);
  const client = connectClient(loadTemporalTarget(withTemporalApiKey(process.env)), encryption);
  Runtime.install({ ...loggingRuntime(logger), shutdownSignals: [] });
  const counts = new Map<string, number>();
  try {
    const taskQueue = config.TEMPORAL_TASK_QUEUE;
    const options = { client, taskQueue, encryption, workflowBundle: { codePath: WORKFLOW_BUNDLE }, ...limits };
    for await (const run of replayRuns(options, stop)) {
      const kind = run.kind === 'replayed' ? (run.isOpen ? 'open' : 'ended') : run.kind;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      if (run.kind === 'failed') print(`${run.workflowId} (${run.type}, run ${run.runId}): ${reasonOf(run.error)}`);
    }
    if (counts.size === 0 && !stop.aborted && !(await hasRuns(client))) {
      print(`No payments in the namespace ${client.options.namespace}, nothing to replay.`);
      return true;
    }
  } finally {
    await closeAll(logger, [() => client.connection.close()]);
  }
  return summarise(counts, stop.aborted);
}

/** The words of Temporal's core for what doesn't replay; anything else may quote a payment, and is in the log alone. */
function reasonOf({ message }: Error): string {
  return /\[TMPRL1100\](?:[^"\\]|\\.)*/.exec(message)?.[0] ?? 'its workflow task fails: the log has the error';
}

/** Says how it went. Where there are payments, a replay of nothing proves nothing. */
function summarise(counts: ReadonlyMap<string, number>, wasStopped: boolean): boolean {
  const of = (kind: string) => counts.get(kind) ?? 0;
  print(
    `Replayed: ${of('open')} open workflows and ${of('ended')} ended ones. Failed: ${of('failed')}. ` +
      `Not begun yet: ${of('untouched')}. Deleted meanwhile: ${of('gone')}.`,
  );
  if (wasStopped) print('It was stopped before its end.');
  else if (counts.size === 0)
    print('There are payments, but none was replayed: look at TEMPORAL_TASK_QUEUE and the options.');
  return of('failed') === 0 && !wasStopped && counts.size > 0;
}

/** Reads the options; `undefined` for what is none of ours. */
function readLimits(): Limits | undefined {
  const option = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ options: { open: option, ended: option, 'per-second': option } });
    const { open, ended = '200', 'per-second': perSecond = '20' } = values;
    const isNumber = [open ?? '0', ended].every((text) => /^\d{1,9}$/.test(text)) && /^[1-9]\d{0,3}$/.test(perSecond);
    if (!isNumber) return undefined;
    return { open: open === undefined ? undefined : Number(open), ended: Number(ended), perSecond: Number(perSecond) };
  } catch {
    return undefined;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
