import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createPaymentWorker } from '../../src/worker/payment-worker.js';
import { withEmptyIndex } from '../../stack/temporal/time-skipping.js';
import { startWorkerParts, type WorkerCalls, type WorkerSettings } from './worker-parts.js';

/** A worker's connection: uncompressed, so that the wire understands it. */
async function connectWorker({ temporalAddress: address }: WorkerSettings): Promise<NativeConnection> {
  return withEmptyIndex(await NativeConnection.connect({ address, grpcCompression: { codec: 'none' } }));
}

/** Runs the worker, one at a time. */
export interface WorkerHost {
  /** Resolves when the worker takes tasks. */
  start(): Promise<void>;
  /** Lets the worker finish its tasks, within its grace period. */
  stop(): Promise<void>;
  /** Kills the worker at once, and resolves when it is gone; `false` if it can't be killed. */
  kill(): Promise<boolean>;
}

/** ms that a worker may take to stop before it is killed all the same. */
const STOP_LIMIT_MS = 5_000;

/**
 * The SDK takes a stack trace for each promise of a workflow, a tenth of all that a worker does; they are not used
 * here. More room for young objects saves the collector's time.
 */
const NODE_OPTIONS = ['--stack-trace-limit=1', '--max-semi-space-size=64'];

/**
 * A worker in a process of its own, which can be killed. It ends with this process, whose channel it watches.
 *
 * @param program the compiled worker process
 * @param onFailure called when a worker ends that was neither stopped nor killed
 */
export function workerChild(
  settings: WorkerSettings,
  program: string,
  onFailure: (code: number | null) => void,
): WorkerHost {
  let child: ChildProcess | undefined;
  let isReady = false;
  return {
    async start() {
      const started = fork(program, [JSON.stringify(settings)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        execArgv: NODE_OPTIONS,
      });
      child = started;
      const exit = once(started, 'exit').then(([code]) => {
        throw new Error(`the worker ended with code ${code} before it was ready`);
      });
      await Promise.race([once(started, 'message'), exit.catch((error: unknown) => Promise.reject(error))]);
      exit.catch(() => undefined);
      isReady = true;
      started.once('exit', (code) => {
        if (child !== started || !isReady) return;
        isReady = false;
        onFailure(code);
      });
    },
    async stop() {
      if (child === undefined || hasEnded(child)) return;
      const ended = once(child, 'exit');
      isReady = false;
      child.kill('SIGTERM');
      const stopping = child;
      const killing = setTimeout(() => stopping.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(killing);
      child = undefined;
    },
    async kill() {
      // A worker that isn't ready has no task yet that could be interrupted.
      if (child === undefined || !isReady || hasEnded(child)) return false;
      isReady = false;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      return true;
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** A worker that runs, and the loops beside it. */
export async function runSimulatedWorker(
  settings: WorkerSettings,
  stop: AbortSignal,
  { onReady, wrap }: { readonly onReady?: () => void; readonly wrap?: (calls: WorkerCalls) => WorkerCalls } = {},
): Promise<void> {
  const connection = await connectWorker(settings);
  const parts = await startWorkerParts(settings, connection, wrap);
  const ended = new AbortController();
  try {
    const { options, activities } = parts;
    const worker = await createPaymentWorker({ ...options, connection, activities });
    stop.addEventListener('abort', () => worker.shutdown(), { once: true });
    if (stop.aborted) worker.shutdown();
    const looping = parts.loops(ended.signal);
    onReady?.();
    try {
      await worker.run();
    } finally {
      ended.abort();
      await looping;
    }
  } finally {
    await connection.close();
    await parts.close();
  }
}

/** A worker beside everything else: it can be stopped and started, but not killed. */
export function workerInThisProcess(settings: WorkerSettings, wrap: (calls: WorkerCalls) => WorkerCalls): WorkerHost {
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  return {
    async start() {
      const stop = new AbortController();
      let ended: Promise<void> = Promise.resolve();
      const ready = new Promise<void>((onReady) => {
        ended = runSimulatedWorker(settings, stop.signal, { onReady, wrap });
      });
      await Promise.race([ready, ended]);
      running = { stop, ended };
    },
    async stop() {
      running?.stop.abort();
      await running?.ended;
      running = undefined;
    },
    kill: () => Promise.resolve(false),
  };
}

let isQuiet = false;

/** Lets Temporal's runtime, one for each process, log its own errors alone: what workflows log is for operators. */
export function quietRuntime(): void {
  if (isQuiet) return;
  isQuiet = true;
  const logger = new DefaultLogger('ERROR', ({ message, meta }) => {
    if (meta?.sdkComponent !== 'workflow') process.stderr.write(`${message} ${inspect(meta)}\n`);
  });
  Runtime.install({ logger, shutdownSignals: [] });
}

/** File extension of the code: `ts` when it runs from the source, as in tests, `js` when compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
/** The compiled workflows are in lib: build has only what the lab imports. */
const SOURCE = EXTENSION === 'ts' ? '../../src' : '../../../lib';
const WORKFLOWS = `${SOURCE}/workflows/index.${EXTENSION}`;
const FAILURE_CONVERTER = `${SOURCE}/temporal/failure-converter.${EXTENSION}`;
const PAYLOAD_CONVERTER = `${SOURCE}/temporal/payload-converter.${EXTENSION}`;

/** Bundles the workflows into a file, as they are but for their timers: see `workflow-timers.ts`. Returns the file. */
export async function bundleWorkflows(file: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: here(WORKFLOWS),
    preloadModules: [here(WORKFLOWS)],
    failureConverterPath: here(FAILURE_CONVERTER),
    payloadConverterPath: here(PAYLOAD_CONVERTER),
    workflowInterceptorModules: [here(`./workflow-timers.${EXTENSION}`)],
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
  await writeFile(file, code);
  return file;
}

function here(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
