import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { migrate } from '../../src/book/migrate.js';
import { settingNames } from '../../src/settings/read-settings.js';
import { lazyConnection, type TemporalTarget, workflowPollers } from '../../src/temporal/connection.js';
import { startBook } from '../postgres/start-book.js';
import { bringUpTemporal, type TemporalServer } from '../temporal/bring-up-temporal.js';
import type { StartDevServerOptions } from '../temporal/start-dev-server.js';
import { answers, type Child, startChild, untilReady } from './child.js';
import { addressesOf, type StackPorts, withoutSettings } from './settings.js';

/** The parts beside Temporal, in the order in which they are started. */
const PARTS = ['book', 'sandbox', 'worker', 'codec', 'api', 'desk'] as const;
export type StackPart = (typeof PARTS)[number];

/** The parts of a stack with these ports. */
export function partsOf({ book, codec, desk }: StackPorts): readonly StackPart[] {
  const places: Partial<Record<StackPart, unknown>> = { book, codec, desk };
  return PARTS.filter((name) => !(name in places) || places[name] !== undefined);
}

/** Every process of a stack. */
export type StackProcess = StackPart | 'temporal';

/** The processes that payments can't do without. */
export type PaymentProcess = Exclude<StackProcess, 'desk' | 'codec' | 'book'>;

/** The compiled program of each part that is ours. */
const PROGRAMS: Readonly<Record<Exclude<StackPart, 'book'>, string>> = {
  sandbox: 'build/sandbox/main.js',
  worker: 'lib/worker.js',
  codec: 'lib/codec-server.js',
  api: 'lib/server.js',
  desk: 'lib/desk.js',
};

/**
 * Each part may run this long after a stop begins, in ms, before it is killed. Temporal then has 5 s of its own, so
 * that all of it takes less than 10 s. A worker that is killed loses nothing: the next one carries on.
 */
const STOP_LIMITS_MS: Readonly<Record<StackPart, number>> = {
  desk: 700,
  api: 1_500,
  codec: 2_000,
  worker: 4_000,
  sandbox: 4_600,
  book: 4_900,
};

const PROBE_LIMIT_MS = 5_000;

const SILENT = pino({ level: 'silent' });

export interface StackOptions {
  readonly ports: StackPorts;
  /** The environment of each part, as `stackSettings` makes it; Temporal's address is added to it. */
  readonly env: NodeJS.ProcessEnv;
  readonly taskQueue: string;
  readonly logFolder: string;
  readonly report: (line: string) => void;
  readonly temporal?: Pick<StartDevServerOptions, 'databaseFile' | 'port' | 'uiPort' | 'ui' | 'env'>;
  /** Folder of the database with the book; by default, in that of the logs. */
  readonly bookFolder?: string | undefined;
  /** A part that is restarted appends to its log. */
  readonly appendLogs?: boolean;
  /** The project's folder, with `lib/` and `build/` in it. */
  readonly project?: string;
  /** Aborting it stops the stack from coming up. */
  readonly stop?: AbortSignal;
}

/** All the processes that take payments, running on this machine. */
export interface Stack {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  /** Address where operators sign in; without it, there is no desk. */
  readonly deskUrl?: string;
  /** The codec server's; without a port for it, there is none. */
  readonly codecUrl?: string;
  /** The Temporal server that was brought up last. */
  readonly temporal: TemporalServer;
  /** The address of the stack's own database with the book, where there is one, with its password. */
  readonly bookUrl?: string;
  /** The process of this part that was started last. */
  part(name: StackPart): Child;
  /** Starts a part whose process has ended, from now on with these settings, too; resolves when it is ready. */
  restart(name: StackPart, settings?: NodeJS.ProcessEnv): Promise<Child>;
  /** Starts a Temporal server in place of one that has ended. It has the same address only if its port was given. */
  restartTemporal(): Promise<void>;
  /** Kills a process with SIGKILL. That doesn't count as a failure of the stack. */
  kill(name: StackProcess): Promise<void>;
  /** Resolves when a part has ended by itself, with a message that says which and shows the end of its log. */
  readonly broken: Promise<string>;
  /** Stops the parts in reverse order, then Temporal if it is embedded; within 10 s. */
  stop(): Promise<void>;
}

/**
 * Brings up Temporal, the sandbox, a worker, the API and, if they have a place, the book's database, the codec server
 * and the desk, each in a process of its own, and waits until all are ready. An embedded Temporal's Web UI then reads
 * payments by the codec server. That Web UI has no credentials to send, so that its address of the codec server has a
 * secret part: anybody who can open the Web UI can read payments.
 *
 * @throws Error with the end of a part's log when that part doesn't come up; the reason of `stop` when it is aborted.
 * Whatever was started has then been stopped, or stops with this process.
 */
export async function bringUpStack(options: StackOptions): Promise<Stack> {
  const { report, stop, ports } = options;
  await mkdir(options.logFolder, { recursive: true, mode: 0o700 });
  const urls = addressesOf(ports);
  const bookUrl = ports.book === undefined ? undefined : options.env.DATABASE_URL;
  const codecToken = randomBytes(24).toString('base64url');
  const codecEndpoint = urls.codecUrl && `${urls.codecUrl}/ui/${codecToken}`;
  const bringUp = () => orStopped(bringUpTemporal({ ...options.temporal, codecEndpoint, report }), stop);
  let temporal = await bringUp();
  const env = {
    ...options.env,
    ...temporal.env,
    ...(temporal.uiUrl !== undefined && { TEMPORAL_UI_URL: temporal.uiUrl }),
    TEMPORAL_TASK_QUEUE: options.taskQueue,
    CODEC_UI_TOKEN: codecToken,
    CODEC_UI_TOKEN_FILE: undefined,
  };
  const parts = new Map<StackPart, Child>();
  /** Ids of the processes that were killed on purpose. */
  const killed = new Set<number | undefined>();
  let stopping: Promise<void> | undefined;

  const spawn = async (name: StackPart): Promise<Child> => {
    const child = await startPart(name, options, env);
    parts.set(name, child);
    return child;
  };
  const ready = (name: StackPart, child: Child) =>
    untilReady(child, probeOf(name, child, { ...options, urls, target: temporal.target }));

  const stopAll = () => {
    stopping ??= stopParts(parts, temporal);
    return stopping;
  };
  try {
    if (bookUrl !== undefined) {
      await orStopped(spawn('book'), stop);
      await migrate(bookUrl, SILENT);
    }
    // All are started before any is waited for: if one fails, none is still about to start.
    const others = partsOf(ports).filter((name) => name !== 'book');
    const started = await Promise.all(others.map(async (name) => ({ name, child: await spawn(name) })));
    await orStopped(Promise.all(started.map(({ name, child }) => ready(name, child))), stop);
  } catch (error) {
    await stopAll();
    throw error;
  }

  return {
    ...urls,
    ...(bookUrl !== undefined && { bookUrl }),
    get temporal() {
      return temporal;
    },
    part: (name) => known(parts.get(name), name),
    async restart(name, settings = {}) {
      Object.assign(env, settings);
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
    broken: untilBroken([...parts.values()], temporal, (pid) => stopping !== undefined || killed.has(pid)),
    stop: stopAll,
  };
}

function startPart(name: StackPart, options: StackOptions, env: NodeJS.ProcessEnv): Promise<Child> {
  const { project = fileURLToPath(new URL('../../..', import.meta.url)), logFolder, appendLogs } = options;
  const log = { logFile: join(logFolder, `${name}.log`), appendLog: appendLogs };
  if (name === 'book') {
    const { bookFolder = join(logFolder, 'book') } = options;
    return startBook({ ...log, folder: bookFolder, url: env.DATABASE_URL ?? '' });
  }
  return startChild({
    ...{ name, ...log },
    file: process.execPath,
    args: [join(project, PROGRAMS[name])],
    env: name === 'desk' ? desksOwn(env) : env,
  });
}

/** Addresses at which the parts report whether they are ready. */
interface Places {
  readonly urls: ReturnType<typeof addressesOf>;
  readonly target: TemporalTarget;
  readonly taskQueue: string;
}

function probeOf(name: StackPart, { pid }: Child, { urls, target, taskQueue }: Places): () => Promise<boolean> {
  switch (name) {
    case 'book':
      // It is started ready.
      return async () => true;
    case 'sandbox':
      return () => answers(`${urls.sandboxUrl}/_sandbox/ledger?limit=1`);
    case 'worker':
      return workerPolls(target, taskQueue, pid);
    case 'codec':
      return () => answers(`${urls.codecUrl}/healthz`);
    case 'api':
      return () => answers(`${urls.apiUrl}/readyz`);
    case 'desk':
      return () => answers(`${urls.deskUrl}/sign-in`);
  }
}

/** Resolves when a part or Temporal has ended unexpectedly, with a message that says which. */
function untilBroken(
  parts: readonly Child[],
  { pid, ended }: TemporalServer,
  isExpected: (pid: number | undefined) => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    for (const child of parts) {
      void child.ended.then(async (how) => {
        if (isExpected(child.pid)) return;
        resolve(`${child.name}: ended with ${how}; its log is ${child.logFile}\n${await child.logTail()}`);
      });
    }
    void ended.then((how) => {
      if (!isExpected(pid)) resolve(`temporal: ended with ${how}`);
    });
  });
}

/** The desk is given none of the others' secrets. */
function desksOwn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = settingNames('desk');
  const own = withoutSettings(env);
  for (const name of names) if (env[name] !== undefined) own[name] = env[name];
  return own;
}

async function stopParts(parts: ReadonlyMap<StackPart, Child>, temporal: TemporalServer): Promise<void> {
  const begun = Date.now();
  for (const name of [...PARTS].reverse()) {
    const left = STOP_LIMITS_MS[name] - (Date.now() - begun);
    await parts.get(name)?.stop(Math.max(0, left));
  }
  await temporal.stop();
}

/** The task's result, unless `stop` is aborted first; what the task began then ends with this process. */
async function orStopped<T>(task: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined) return await task;
  stop.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
  return await Promise.race([task, stopped]);
}

function known(child: Child | undefined, name: StackPart): Child {
  if (child === undefined) throw new Error(`${name} was never started`);
  return child;
}

/**
 * A probe for whether the worker with this process id polls the task queue: from then on, it takes up payments.
 * Temporal identifies a worker by its process id and host.
 */
export function workerPolls(target: TemporalTarget, taskQueue: string, pid: number): () => Promise<boolean> {
  return async () => {
    const connection = lazyConnection(target);
    try {
      const pollers = await connection.withDeadline(Date.now() + PROBE_LIMIT_MS, () =>
        workflowPollers(connection, target.namespace, taskQueue),
      );
      return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`));
    } finally {
      await connection.close();
    }
  };
}
