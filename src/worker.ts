import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { type NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createActivities } from './activities/activities.js';
import { createMerchantNotifier, type MerchantNotifier } from './activities/merchant.js';
import { refundedCollections } from './engine/refunded-collections.js';
import { untilNamespaceIsReady } from './process/namespace.js';
import { closeAll, orStopped, reloadOnHangUp, runProcess } from './process/run-process.js';
import { createProviderServices, openRecords } from './process/services.js';
import { runRecorder } from './records/recorder.js';
import { type Config, readConfig } from './settings/read-settings.js';
import { withTemporalApiKey } from './settings/secret-files.js';
import { scheduleStatements } from './statements/schedule.js';
import { createStatementSteps } from './statements/steps.js';
import { createLogger } from './telemetry/logger.js';
import { codecMetrics, createRegistry, type MetricsPage, providerMetrics, serveMetrics } from './telemetry/metrics.js';
import { startTracing, type Tracing } from './telemetry/tracing.js';
import { connectClient, connectWorker, endingWith, loadTemporalTarget } from './temporal/connection.js';
import { type Encryption, encryptionOf } from './temporal/encryption.js';
import { latestRestore } from './worker/latest-restore.js';
import { loggingRuntime } from './worker/log.js';
import { installMeasuredRuntime, measuredNotifier, paymentMetrics, startSdkCounters } from './worker/metrics.js';
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

/**
 * The worker process: runs payments until SIGTERM or SIGINT, then stops within its grace period. On SIGHUP it reads the
 * merchants' webhook addresses again.
 */
await runProcess(async (stop) => {
  const config = readConfig('worker', process.env);
  const logger = createLogger('worker', config.LOG_LEVEL);
  const target = loadTemporalTarget(withTemporalApiKey(process.env));
  const { namespace } = target;
  const taskQueue = config.TEMPORAL_TASK_QUEUE;
  const registry = createRegistry();
  const measures = paymentMetrics(registry);
  const onCall = providerMetrics(registry);
  const encryption = encryptionOf(config, codecMetrics(registry));
  const tracing = await startTracing(
    'sanaga-worker',
    config.OTEL_EXPORTER_OTLP_ENDPOINT,
    config.OTEL_TRACES_SAMPLER_ARG,
  );

  const merchant = measuredNotifier(startNotifier(config, logger, tracing), registry);
  const orderSlots = config.WORKER_MAX_CONCURRENT_ACTIVITIES;
  const providers = createProviderServices(config, { onCall, orderSlots }, tracing);
  const page = await startRuntime(config.WORKER_METRICS_ADDRESS, registry, logger);
  // A connection of its own: the worker's can't give up a call when it has to stop.
  const client = connectClient(target, encryption);
  const keeping = openKeeping(config, client, encryption, logger);
  let connection: NativeConnection | undefined;
  try {
    startSdkCounters(Runtime.instance().metricMeter, namespace, taskQueue);
    connection = await connectPatiently(target, logger, stop);
    if (connection === undefined) return;
    await untilNamespaceIsReady({ connection, namespace, logger }, stop);
    if (stop.aborted) return;
    // Without keys: the time of a restore is in plain text.
    const temporal = new Client({ connection, namespace });
    const restoredAt = config.TEMPORAL_RESTORED_AT;
    const collections = refundedCollections({ client, records: keeping?.records, taskQueue, logger });
    const knownRestore = await latestRestore(temporal, taskQueue, restoredAt);
    const creating = createPaymentWorker({
      connection,
      namespace,
      taskQueue,
      encryption,
      activities: createActivities({ providers, merchant, collections, restoredAt, latestRestore: knownRestore }),
      statementSteps: keeping && createStatementSteps({ ...keeping, providers, taskQueue, logger }),
      measures,
      tracing,
      workflowBundle: { codePath: WORKFLOW_BUNDLE },
      ...workerSettings(config),
    });
    const worker = await orStopped(creating, stop, CREATION_GRACE_MS);
    if (worker === undefined) return;
    logger.info({ taskQueue, namespace }, 'worker is running');
    const record = (ended: AbortSignal) => keepRecords(keeping, taskQueue, logger, ended);
    if (!(await runWorker(worker, record, config.WORKER_SHUTDOWN_GRACE + LEAVE_MS, stop))) {
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
      () => keeping?.records.close(),
      ...Object.values(providers).map((provider) => () => provider.close()),
    ]);
    logger.info('worker has stopped');
  }
});

/** Makes the merchants' notifier. On SIGHUP it reads their addresses again. */
function startNotifier(config: Config<'worker'>, logger: Logger, tracing: Tracing | undefined): MerchantNotifier {
  let endpointsOf = endpoints(config);
  if (config.MERCHANTS_FILE === undefined && config.MERCHANT_WEBHOOK_URL === undefined) {
    logger.warn(
      'neither MERCHANTS_FILE nor MERCHANT_WEBHOOK_URL is set: no merchant is notified of the payments that this worker runs',
    );
  }
  reloadOnHangUp(
    logger,
    () => readConfig('worker', process.env),
    (next) => {
      endpointsOf = endpoints(next);
      const merchants = next.MERCHANTS_FILE?.map(({ name }) => name);
      logger.info({ merchants }, 'the merchants were read again');
    },
  );
  return createMerchantNotifier({
    endpointsOf: (name) => endpointsOf(name),
    timeoutMs: config.MERCHANT_WEBHOOK_TIMEOUT,
    allowPrivate: config.MERCHANT_WEBHOOK_ALLOW_PRIVATE,
    slots: config.WORKER_MAX_CONCURRENT_ACTIVITIES,
    headers: tracing?.headers,
    onFault: (error, name) =>
      logger.error({ err: error, merchant: name }, 'a notification could not be signed or sent'),
  });
}

/**
 * Runs the worker until `stop`, and `record` for the same time.
 *
 * @returns whether the worker has ended within `leaveMs` after `stop`
 */
async function runWorker(
  worker: PaymentWorker,
  record: (stop: AbortSignal) => Promise<void>,
  leaveMs: number,
  stop: AbortSignal,
): Promise<boolean> {
  stop.addEventListener('abort', () => worker.shutdown(), { once: true });
  // A worker that never runs would hold its threads and its connection for good.
  if (stop.aborted) worker.shutdown();
  const ended = new AbortController();
  const recording = record(AbortSignal.any([stop, ended.signal]));
  try {
    const running = worker.run().then(() => true);
    return (await orStopped(running, stop, leaveMs)) ?? false;
  } finally {
    ended.abort();
    await recording;
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

/** Opens the records, if there is a database. Payments continue without it. */
function openKeeping(config: Config<'worker'>, client: Client, encryption: Encryption, logger: Logger) {
  try {
    const records = openRecords(config, encryption, logger);
    return records && { records, client };
  } catch (error) {
    logger.error({ err: error }, "the records can't be opened: payments go on, and are not recorded");
    return undefined;
  }
}

/**
 * Records payments until `stop`, and has their statements made each day; never rejects, since payments continue without
 * it.
 */
async function keepRecords(
  keeping: ReturnType<typeof openKeeping>,
  taskQueue: string,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  if (keeping === undefined) return;
  const recording = runRecorder({ ...keeping, logger }, stop).catch((error: unknown) => {
    logger.error({ err: error }, 'the recorder has ended: payments go on, and are not recorded');
  });
  const scheduling = endingWith(keeping.client, stop, () => scheduleStatements(keeping.client, taskQueue)).catch(
    (error: unknown) => {
      if (stop.aborted) return;
      logger.error(
        { err: error },
        'the daily statement could not be scheduled: unless it was scheduled before, none is made until a worker schedules it at its start',
      );
    },
  );
  await Promise.all([recording, scheduling]);
}

/**
 * Finds the addresses of notifications: those of their merchant in the merchants' file, or the one address in the
 * settings.
 */
function endpoints(config: Config<'worker'>) {
  const { MERCHANTS_FILE: merchants, MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_SECRET: secrets } = config;
  if (merchants !== undefined) {
    const known = new Map(merchants.map(({ name, webhooks }) => [name, webhooks]));
    return (merchant: string | undefined) => (merchant === undefined ? undefined : known.get(merchant));
  }
  const only = url === undefined || secrets === undefined ? [] : [{ url, secrets }];
  return () => only;
}
