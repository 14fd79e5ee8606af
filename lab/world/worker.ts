import { type ChildProcess, fork } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import { createMerchantNotifier } from '../../src/activities/merchant.js';
import { refundedCollections } from '../../src/engine/refunded-collections.js';
import { createProviderClient } from '../../src/provider/client.js';
import { dataConverterOf, type Encryption, keysOf } from '../../src/temporal/encryption.js';
import { createPaymentWorker, type PaymentWorkerOptions } from '../../src/worker/payment-worker.js';
import { withEmptyIndex } from '../../stack/temporal/time-skipping.js';
import { CREDENTIALS, MERCHANT_SECRET } from './credentials.js';

/** The settings of a simulated worker, passed to its process as JSON. */
export const workerSettingsSchema = z.object({
  temporalAddress: z.string(),
  providerUrl: z.string(),
  /** Address that takes notifications for the merchant. */
  merchantUrl: z.string(),
  workflowBundle: z.string(),
  providerTimeoutMs: z.int(),
  merchantTimeoutMs: z.int(),
  /** The base64 of the key that payments are encrypted with. */
  encryptionKey: z.string(),
});
export type WorkerSettings = z.infer<typeof workerSettingsSchema>;

export const NAMESPACE = 'default';
export const TASK_QUEUE = 'payments';

const LIMITS: PaymentWorkerOptions['limits'] = {
  maxCachedWorkflows: 5_000,
  maxConcurrentWorkflowTasks: 40,
  maxConcurrentActivities: 40,
  maxConcurrentLocalActivities: 100,
  shutdownGraceMs: 1_000,
};

/**
 * Simulated time passes this many times faster than real time while connections wait: too fast for the client's pauses
 * to matter.
 */
const TIME_FACTOR = 1_000;

/** A client for each of the provider's services. Their pauses are short, as simulated time stands still in them. */
export function providerClients(url: string, timeoutMs: number) {
  const now = () => performance.now() * TIME_FACTOR;
  const common = { url, timeoutMs, now, orderSlots: LIMITS.maxConcurrentActivities };
  return {
    collection: createProviderClient({ service: 'collection', ...CREDENTIALS.collection, ...common }),
    payout: createProviderClient({ service: 'payout', ...CREDENTIALS.payout, ...common }),
  };
}

/** @param key the base64 of 32 bytes */
export function encryptionWith(key: string): Encryption {
  return { keys: keysOf([{ id: 'simulated', key: createSecretKey(key, 'base64') }]), isOn: true };
}

/** Everything a simulated worker needs, and how to let go of it. */
export function workerParts(settings: WorkerSettings, connection: NativeConnection) {
  const encryption = encryptionWith(settings.encryptionKey);
  const client = new Client({ connection, namespace: NAMESPACE, dataConverter: dataConverterOf(encryption) });
  const providers = providerClients(settings.providerUrl, settings.providerTimeoutMs);
  const endpoints = [{ url: settings.merchantUrl, secrets: [MERCHANT_SECRET] }];
  const merchant = createMerchantNotifier({
    endpointsOf: () => endpoints,
    timeoutMs: settings.merchantTimeoutMs,
    allowPrivate: true,
  });
  const collections = refundedCollections({ client, taskQueue: TASK_QUEUE, logger: pino({ level: 'silent' }) });
  return {
    options: {
      namespace: NAMESPACE,
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: settings.workflowBundle },
      limits: LIMITS,
      encryption,
    },
    activities: createActivities({ providers, merchant, collections }),
    close(): void {
      for (const provider of Object.values(providers)) provider.close();
    },
  };
}

/** A worker's connection: uncompressed, so that the wire understands it. */
export async function connectWorker({ temporalAddress: address }: WorkerSettings): Promise<NativeConnection> {
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

/** A worker beside everything else: it can be stopped and started, but not killed. */
export function workerInThisProcess(
  settings: WorkerSettings,
  wrapActivities: (activities: Activities) => Activities,
): WorkerHost {
  let running: { readonly shutdown: () => void; readonly ended: Promise<void> } | undefined;
  return {
    async start() {
      const connection = await connectWorker(settings);
      const { options, activities, close } = workerParts(settings, connection);
      const worker = await createPaymentWorker({
        ...options,
        connection,
        activities: wrapActivities(activities),
      });
      running = { shutdown: () => worker.shutdown(), ended: end(worker.run(), connection, close) };
    },
    async stop() {
      running?.shutdown();
      await running?.ended;
      running = undefined;
    },
    kill: () => Promise.resolve(false),
  };
}

async function end(running: Promise<void>, connection: NativeConnection, close: () => void): Promise<void> {
  try {
    await running;
  } finally {
    await connection.close();
    close();
  }
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
const QUERY_GUARD = `${SOURCE}/workflows/query-guard.${EXTENSION}`;
const FAILURE_CONVERTER = `${SOURCE}/temporal/failure-converter.${EXTENSION}`;
const PAYLOAD_CONVERTER = `${SOURCE}/temporal/payload-converter.${EXTENSION}`;

/** Bundles the workflows into a file, as they are but for their timers: see `workflow-timers.ts`. Returns the file. */
export async function bundleWorkflows(file: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: here(WORKFLOWS),
    preloadModules: [here(WORKFLOWS), here(QUERY_GUARD)],
    failureConverterPath: here(FAILURE_CONVERTER),
    payloadConverterPath: here(PAYLOAD_CONVERTER),
    workflowInterceptorModules: [here(QUERY_GUARD), here(`./workflow-timers.${EXTENSION}`)],
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

/**
 * Changes what activities do.
 *
 * @param lastWebhookStatus the status that notifications named last for a transaction
 */
export type WrapActivities = (
  activities: Activities,
  lastWebhookStatus: (transId: string) => string | undefined,
) => Activities;
