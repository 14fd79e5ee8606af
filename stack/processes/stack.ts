import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringUpTemporal, type TemporalServer } from '../temporal/bring-up-temporal.js';
import type { StartDevServerOptions } from '../temporal/start-dev-server.js';
import { type Child, startChild } from './child.js';
import { answers, workerPolls } from './probes.js';
import { addressesOf, type StackPorts } from './settings.js';
import { untilReady } from './until-ready.js';

/** The parts beside Temporal, in the order in which they are started. */
export const PARTS = ['sandbox', 'worker', 'api'] as const;
export type Part = (typeof PARTS)[number];
/** Every process of a stack. */
export type StackProcess = Part | 'temporal';

/** Each part's compiled program. */
const PROGRAMS: Readonly<Record<Part, string>> = {
  sandbox: 'build/sandbox/main.js',
  worker: 'lib/worker.js',
  api: 'lib/server.js',
};

/**
 * How many ms after the beginning of a stop each part has to have ended; what hasn't is killed. Temporal then has its
 * own 5 s, within 10 s for all. A worker that is cut short loses nothing: the next one carries on.
 */
const STOPPED_BY: Readonly<Record<Part, number>> = { api: 1_500, worker: 4_000, sandbox: 4_800 };

export interface StackOptions {
  readonly ports: StackPorts;
  /** The whole environment of each part, to which Temporal's address is added. */
  readonly env: NodeJS.ProcessEnv;
  readonly taskQueue: string;
  readonly logFolder: string;
  readonly report: (line: string) => void;
  readonly temporal?: Pick<StartDevServerOptions, 'databaseFile' | 'port' | 'uiPort' | 'ui' | 'env'>;
  /** A part that is started anew goes on with the log of its last process. */
  readonly appendLogs?: boolean;
  /** The folder of the project, which has been built. */
  readonly project?: string;
  /** Ends the bringing up when it is aborted. */
  readonly stop?: AbortSignal;
}

/** Everything that takes payments, running on this machine. */
export interface Stack {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  /** The server that was brought up last. */
  readonly temporal: TemporalServer;
  /** The process of a part that was started last. */
  part(name: Part): Child;
  /** Starts a part anew, once its process has ended; resolves when it does its work. */
  restart(name: Part): Promise<Child>;
  /** Starts Temporal anew, once its server has ended; to be found as before only if its port was given. */
  restartTemporal(): Promise<void>;
  /** Kills a process with SIGKILL, as a machine's trouble would; the stack doesn't count as broken by that. */
  kill(name: StackProcess): Promise<void>;
  /** Resolves when a part has ended though nobody stopped the stack, with what to tell about it. */
  readonly broken: Promise<string>;
  /** Stops the parts in reverse order, and Temporal when it is ours; within 10 s. */
  stop(): Promise<void>;
}

/**
 * Brings up Temporal, the sandbox, a worker and the API, each a process of its own, and waits until all do their work.
 *
 * @throws Error with the end of a part's log when it doesn't come up; whatever `stop` was aborted with. What was
 * started is stopped then, at the latest at the end of this process.
 */
export async function bringUpStack(options: StackOptions): Promise<Stack> {
  const { report, stop, project = fileURLToPath(new URL('../../..', import.meta.url)) } = options;
  await mkdir(options.logFolder, { recursive: true, mode: 0o700 });
  const bringUp = () => orStopped(bringUpTemporal({ ...options.temporal, report }), stop);
  let temporal = await bringUp();
  const env = {
    ...options.env,
    ...temporal.env,
    ...(temporal.uiUrl !== undefined && { TEMPORAL_UI_URL: temporal.uiUrl }),
    TEMPORAL_TASK_QUEUE: options.taskQueue,
  };
  const urls = addressesOf(options.ports);
  const parts = new Map<Part, Child>();
  /** Process ids of those that have been killed on purpose. */
  const killed = new Set<number | undefined>();
  let stopping: Promise<void> | undefined;
  const isExpected = (pid: number | undefined) => stopping !== undefined || killed.has(pid);

  const spawn = async (name: Part): Promise<Child> => {
    const program = join(project, PROGRAMS[name]);
    const logFile = join(options.logFolder, `${name}.log`);
    const child = await startChild({ name, program, env, logFile, appendLog: options.appendLogs });
    parts.set(name, child);
    return child;
  };
  const probes: Readonly<Record<Part, (child: Child) => () => Promise<boolean>>> = {
    sandbox: () => () => answers(`${urls.sandboxUrl}/_sandbox/ledger?limit=1`),
    worker: ({ pid }) => workerPolls(temporal.target, options.taskQueue, pid),
    api: () => () => answers(`${urls.apiUrl}/readyz`),
  };
  const ready = (name: Part, child: Child) => untilReady(child, probes[name](child));

  const stopAll = () => {
    stopping ??= stopParts(parts, temporal);
    return stopping;
  };
  try {
    // All of them run before any is waited for, so that a failure leaves none behind that was about to be started.
    const started = await Promise.all(PARTS.map(async (name) => ({ name, child: await spawn(name) })));
    await orStopped(Promise.all(started.map(({ name, child }) => ready(name, child))), stop);
  } catch (error) {
    await stopAll();
    throw error;
  }

  const broken = new Promise<string>((resolve) => {
    for (const child of parts.values()) {
      void child.ended.then(async (how) => {
        if (isExpected(child.pid)) return;
        resolve(`${child.name}: ended with ${how}; its log is ${child.logFile}\n${await child.logTail()}`);
      });
    }
    const { pid, ended } = temporal;
    void ended.then((how) => {
      if (!isExpected(pid)) resolve(`temporal: ended with ${how}`);
    });
  });
  return {
    ...urls,
    get temporal() {
      return temporal;
    },
    part: (name) => known(parts.get(name), name),
    async restart(name) {
      const child = await spawn(name);
      await ready(name, child);
      return child;
    },
    async restartTemporal() {
      temporal = await bringUp();
    },
    async kill(name) {
      const victim = name === 'temporal' ? temporal : known(parts.get(name), name);
      killed.add(victim.pid);
      await victim.kill();
    },
    broken,
    stop: stopAll,
  };
}

async function stopParts(parts: ReadonlyMap<Part, Child>, temporal: TemporalServer): Promise<void> {
  const begun = Date.now();
  for (const name of [...PARTS].reverse()) {
    const left = STOPPED_BY[name] - (Date.now() - begun);
    await parts.get(name)?.stop(Math.max(0, left));
  }
  await temporal.stop();
}

/** The task's result, unless we are to stop first; what it began is then left to end with this process. */
async function orStopped<T>(task: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined) return await task;
  stop.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
  return await Promise.race([task, stopped]);
}

function known(child: Child | undefined, name: Part): Child {
  if (child === undefined) throw new Error(`${name} was never started`);
  return child;
}
