import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { type NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createActivities } from './activities/activities.js';
import { refundedCollections } from './activities/refunded-collections.js';
import { Book } from './book/book.js';
import { createMerchantNotifier, type MerchantNotifier } from './delivery/merchant.js';
import { type OutboxOptions, runOutbox } from './delivery/outbox.js';
import { beatsInTemporal, runBeats } from './engine/beats.js';
import { paymentMetrics } from './engine/payment-metrics.js';
import { paymentReports } from './engine/reports.js';
import { type Ring, ringer } from './engine/ring.js';
import type { DeliveryOutcome } from './payments/words/delivery.js';
import type { PaymentId } from './payments/words/payment-id.js';
import { isBookReady, untilBookIsReady } from './process/book.js';
import { untilNamespaceIsReady } from './process/namespace.js';
import { closeAll, orStopped, runProcess } from './process/run-process.js';
import { createProviderServices } from './process/services.js';
import { type Config, readConfig } from './settings/read-settings.js';
import { withTemporalApiKey } from './settings/secret-files.js';
import { scheduleStatements } from './statements/schedule.js';
import { createStatementSteps } from './statements/steps.js';
import { createLogger } from './telemetry/logger.js';
import { codecMetrics, createRegistry, type MetricsPage, providerMetrics, serveMetrics } from './telemetry/metrics.js';
import { startTracing, type Tracing } from './telemetry/tracing.js';
import { connectClient, connectWorker, endingWith, loadTemporalTarget } from './temporal/connection.js';
import { encryptionOf } from './temporal/encryption.js';
import { runEraser } from './worker/eraser.js';
import { runKeeper } from './worker/keeper.js';
import { loggingRuntime } from './worker/log.js';
import { WorkersMerchants } from './worker/merchants.js';
import {
  givenUpCounter,
  installMeasuredRuntime,
  measureBook,
  measuredNotifier,
  startSdkCounters,
} from './worker/metrics.js';
import { createPaymentWorker, type PaymentWorker } from './worker/payment-worker.js';

/** The workflows, bundled when the project was built. */
const WORKFLOW_BUNDLE = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));

/** Pause between two attempts to connect to Temporal at the start, in ms. */
const CONNECT_AGAIN_MS = 2_000;

/**
 * A worker that is being made may take this long to start once the process has to stop, in ms: usually a second is
 * enough.
 */
const CREATION_GRACE_MS = 5_000;

/**
 * A worker may take this long to end beyond its grace period, in ms: activities that still run then are abandoned after
 * a second. The SDK waits for half a minute until Temporal has heard that a worker ends.
 */
const LEAVE_MS = 1_250;

/** Once the worker has ended, a try to notify a merchant may take this much longer, in ms: otherwise it is repeated. */
const LOOPS_GRACE_MS = 1_000;

/**
 * The worker process: runs payments until SIGTERM or SIGINT, then stops within its grace period. On SIGHUP it reads the
 * merchants' webhook addresses again.
 */
await runProcess(async (stop) => {
  const config = readConfig('worker', process.env);
  const { TEMPORAL_TASK_QUEUE: taskQueue, OTEL_EXPORTER_OTLP_ENDPOINT: collector } = config;
  const logger = createLogger('worker', config.LOG_LEVEL);
  const target = loadTemporalTarget(withTemporalApiKey(process.env));
  const { namespace } = target;
  const registry = createRegistry();
  const measures = paymentMetrics(registry);
  const onCall = providerMetrics(registry);
  const encryption = encryptionOf(config, codecMetrics(registry));
  const tracing = await startTracing('sanaga-worker', collector, config.OTEL_TRACES_SAMPLER_ARG);

  const merchants = new WorkersMerchants(config, logger);
  const merchant = measuredNotifier(createNotifier(config, merchants, logger, tracing), registry);
  const trace = tracing && traceTries(tracing);
  const onGivenUp = givenUpCounter(registry);
  const orderSlots = config.WORKER_MAX_CONCURRENT_ACTIVITIES;
  const providers = createProviderServices(config, { onCall, orderSlots }, tracing);
  const page = await startRuntime(config.WORKER_METRICS_ADDRESS, registry, logger);
  // A connection of its own: the worker's can't give up a call when it has to stop.
  const client = connectClient(target, encryption);
  const book = new Book(config.DATABASE_URL, encryption);
  measureBook(registry, book);
  let connection: NativeConnection | undefined;
  try {
    startSdkCounters(Runtime.instance().metricMeter, namespace, taskQueue);
    if (!(await isBookReady(book))) await untilBookIsReady(book, logger, stop);
    connection = await connectPatiently(target, logger, stop);
    if (connection === undefined) return;
    await untilNamespaceIsReady({ connection, namespace, logger }, stop);
    if (stop.aborted) return;
    const ring = ringer(client, taskQueue, book);
    const context = { book, providers, logger };
    const collections = refundedCollections(book, ring);
    const limitsOf = (name: string) => merchants.limitsOf(name);
    const reports = paymentReports(logger, measures, tracing);
    const creating = createPaymentWorker({
      connection,
      namespace,
      taskQueue,
      encryption,
      activities: createActivities({ ...context, collections, limitsOf, reports }),
      statementSteps: createStatementSteps({ ...context, ring }),
      tracing,
      workflowBundle: { codePath: WORKFLOW_BUNDLE },
      ...workerSettings(config),
    });
    const worker = await orStopped(creating, stop, CREATION_GRACE_MS);
    if (worker === undefined) return;
    logger.info({ taskQueue, namespace }, 'worker is running');
    const beside = { book, client, taskQueue, ring, merchant, slots: orderSlots, trace, onGivenUp, logger };
    const loops = (ended: AbortSignal) => runLoops(beside, ended);
    if (!(await runWorker(worker, loops, config.WORKER_SHUTDOWN_GRACE + LEAVE_MS, stop))) {
      logger.warn('the worker has stopped without telling Temporal, which does not answer');
      // Its workers still hold it, so it can't be closed.
      connection = undefined;
    }
  } finally {
    await closeAll(logger, [
      () => page?.stop(),
      () => tracing?.stop(),
      () => connection?.close(),
      () => client.connection.close(),
      () => book.close(),
      ...Object.values(providers).map((provider) => () => provider.close()),
    ]);
    logger.info('worker has stopped');
  }
});

/** Makes the merchants' notifier. */
function createNotifier(
  config: Config<'worker'>,
  merchants: WorkersMerchants,
  logger: Logger,
  tracing: Tracing | undefined,
): MerchantNotifier {
  return createMerchantNotifier({
    endpointsOf: (name) => merchants.endpointsOf(name),
    timeoutMs: config.MERCHANT_WEBHOOK_TIMEOUT,
    allowPrivate: config.MERCHANT_WEBHOOK_ALLOW_PRIVATE,
    headers: tracing?.headers,
    onFault: (error, name) =>
      logger.error({ err: error, merchant: name }, 'a notification could not be signed or sent'),
  });
}

/** Puts a try to notify a merchant into the trace of its payment. */
function traceTries(tracing: Tracing) {
  return (id: PaymentId, deliver: () => Promise<DeliveryOutcome>): Promise<DeliveryOutcome> =>
    tracing.run(id, 'notifyMerchant', {}, deliver, ({ kind }) => kind);
}

/**
 * Runs the worker until `stop`, and the loops beside it for the same time.
 *
 * @returns whether the worker has ended within `leaveMs` after `stop`
 */
async function runWorker(
  worker: PaymentWorker,
  loops: (stop: AbortSignal) => Promise<unknown>,
  leaveMs: number,
  stop: AbortSignal,
): Promise<boolean> {
  stop.addEventListener('abort', () => worker.shutdown(), { once: true });
  // A worker that never runs would hold its threads and its connection for good.
  if (stop.aborted) worker.shutdown();
  const ended = new AbortController();
  const ending = AbortSignal.any([stop, ended.signal]);
  const looping = loops(ending);
  try {
    const running = worker.run().then(() => true);
    return (await orStopped(running, stop, leaveMs)) ?? false;
  } finally {
    ended.abort();
    await orStopped(looping, ending, LOOPS_GRACE_MS);
  }
}

/** The settings for {@link createPaymentWorker}. */
function workerSettings(config: Config<'worker'>) {
  const { WORKER_DEPLOYMENT: deploymentName, WORKER_BUILD_ID: buildId } = config;
  return {
    limits: {
      maxCachedWorkflows: config.WORKER_MAX_CACHED_WORKFLOWS,
      maxConcurrentWorkflowTasks: config.WORKER_MAX_CONCURRENT_WORKFLOW_TASKS,
      maxConcurrentActivities: config.WORKER_MAX_CONCURRENT_ACTIVITIES,
      maxConcurrentLocalActivities: config.WORKER_MAX_CONCURRENT_LOCAL_ACTIVITIES,
      shutdownGraceMs: config.WORKER_SHUTDOWN_GRACE,
    },
    callStacks: config.WORKER_CALL_STACKS,
    deployment: buildId === undefined ? undefined : { deploymentName, buildId },
  };
}

/**
 * Installs Temporal's runtime. With an address, it serves the runtime's metrics and the worker's own there.
 *
 * @throws {Error} of the system when the address is in use.
 */
async function startRuntime(
  address: string | undefined,
  registry: Registry,
  logger: Logger,
): Promise<MetricsPage | undefined> {
  const options = { ...loggingRuntime(logger), shutdownSignals: [] };
  if (address === undefined) {
    Runtime.install(options);
    return undefined;
  }
  const page = await serveMetrics(address, registry, await installMeasuredRuntime(options));
  logger.info({ address }, 'metrics are shown');
  return page;
}

/** Connects to Temporal, trying again until it answers; `undefined` when the process has to stop before. */
async function connectPatiently(
  target: ReturnType<typeof loadTemporalTarget>,
  logger: Logger,
  stop: AbortSignal,
): Promise<NativeConnection | undefined> {
  while (!stop.aborted) {
    const connecting = connectWorker(target);
    try {
      const connection = await orStopped(connecting, stop);
      // A late connection isn't waited for, and nobody will use it.
      if (connection === undefined) connecting.then((late) => late.close()).catch(() => undefined);
      return connection;
    } catch (error) {
      logger.warn({ err: error, address: target.address }, 'Temporal is not reachable yet');
      await pause(CONNECT_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
  return undefined;
}

/** What a worker does beside Temporal's tasks needs these. */
interface Loops extends OutboxOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly ring: Ring;
}

/** Does what a worker does beside Temporal's tasks, until `stop`. Nothing of it rejects. */
function runLoops({ client, taskQueue, ring, ...outbox }: Loops, stop: AbortSignal): Promise<unknown> {
  const { book, logger } = outbox;
  return Promise.all([
    runOutbox(outbox, stop),
    runKeeper({ book, ring, logger }, stop),
    runBeats({ book, store: beatsInTemporal(client, taskQueue), logger }, stop),
    runEraser(book, logger, stop),
    untilScheduled(client, taskQueue, logger, stop),
  ]);
}

/** Has statements made each day. */
async function untilScheduled(client: Client, taskQueue: string, logger: Logger, stop: AbortSignal): Promise<void> {
  try {
    await endingWith(client, stop, () => scheduleStatements(client, taskQueue));
  } catch (error) {
    if (stop.aborted) return;
    logger.error(
      { err: error },
      'the daily statement could not be scheduled: unless it was scheduled before, none is made until a worker schedules it at its start',
    );
  }
}
