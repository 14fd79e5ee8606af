import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createApi } from './api/app.js';
import { temporalCalls } from './api/request-traces.js';
import { Book } from './book/book.js';
import { beatsInTemporal, runBeats } from './engine/beats.js';
import { paymentMetrics } from './engine/payment-metrics.js';
import { paymentReports } from './engine/reports.js';
import type { RequestAllowance } from './http/request-limits.js';
import { serve } from './http/server.js';
import type { PaymentTerms } from './payments/words/order.js';
import { isBookReady, untilBookIsReady } from './process/book.js';
import { isNamespaceReady, untilNamespaceIsReady } from './process/namespace.js';
import { orStopped, reloadOnHangUp, runProcess } from './process/run-process.js';
import { createProviderServices } from './process/services.js';
import { Shutdown } from './process/shutdown.js';
import { merchantsOf } from './settings/api.js';
import type { Merchant } from './settings/merchants.js';
import { type Config, readConfig } from './settings/read-settings.js';
import { withTemporalApiKey } from './settings/secret-files.js';
import { createLogger } from './telemetry/logger.js';
import { codecMetrics, createRegistry, type MetricsPage, providerMetrics, serveMetrics } from './telemetry/metrics.js';
import { startTracing } from './telemetry/tracing.js';
import { connectClient, loadTemporalTarget } from './temporal/connection.js';
import { encryptionOf } from './temporal/encryption.js';

/** A beat of the book that is under way when the process has to stop may take this much longer, in ms. */
const BEAT_GRACE_MS = 1_000;

/** Requests without a valid API key within a minute, after which an address's refusals are delayed. */
const MAX_FAILURES_PER_MINUTE = 20;

/**
 * The API process: serves until SIGTERM or SIGINT, then finishes the responses it has begun. It starts without the book
 * and Temporal. On SIGHUP it reads the merchants again. Once the two answer, it ends if the book has other tables than
 * it knows, or the namespace isn't set up for payments.
 */
await runProcess(async (stop) => {
  const config = readConfig('api', process.env);
  const { HOST: host, TRUSTED_PROXIES: trustedProxies } = config;
  const logger = createLogger('api', config.LOG_LEVEL);
  const target = loadTemporalTarget(withTemporalApiKey(process.env));
  const tracing = await startTracing('sanaga-api', config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_TRACES_SAMPLER_ARG);
  const registry = createRegistry();
  const encryption = encryptionOf(config, codecMetrics(registry));
  const client = connectClient(target, encryption, tracing && { interceptors: { workflow: [temporalCalls] } });
  const providers = createProviderServices(config, { onCall: providerMetrics(registry) }, tracing);
  const book = new Book(config.DATABASE_URL, encryption);
  const shutdown = new Shutdown();
  const { app, replaceMerchants, onUnparsed } = createApi({
    client,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    namespace: target.namespace,
    temporalUiUrl: config.TEMPORAL_UI_URL,
    terms: toTerms(config),
    merchants: merchantsOf(config),
    trustedProxies,
    allowance: allowanceOf(config),
    webhookToken: config.WEBHOOK_TOKEN,
    floatWarnBelow: config.FLOAT_WARN_BELOW,
    providers,
    book,
    onTurn: paymentReports(logger, paymentMetrics(registry), tracing).report,
    logger,
    shutdown,
    registry,
    tracing,
  });
  reloadMerchants(replaceMerchants, logger);
  let page: MetricsPage | undefined;
  let beating: Promise<void> | undefined;
  // The beats end with the API, also when it ends by itself.
  const ended = new AbortController();
  const ending = AbortSignal.any([stop, ended.signal]);
  const required = { connection: client.connection, namespace: target.namespace, logger };
  try {
    page = await showMetrics(config.API_METRICS_ADDRESS, registry, logger);
    const isReady = await orStopped(isNamespaceReady(required), stop);
    const hasBook = await orStopped(isBookReady(book), stop);
    if (stop.aborted) return;
    const serving = await serve(app, { host, port: config.PORT, shutdown, onUnparsed, trustedProxies });
    logger.info({ host, port: serving.port, temporal: target.address }, 'API is listening');
    try {
      // Where no worker runs, what nobody has sent can be withdrawn only while the book is known not to have gone back.
      beating = runBeats({ book, store: beatsInTemporal(client, config.TEMPORAL_TASK_QUEUE), logger }, ending);
      if (!hasBook) await untilBookIsReady(book, logger, stop);
      if (!isReady) await untilNamespaceIsReady(required, stop);
      if (!stop.aborted) await once(stop, 'abort');
    } finally {
      logger.info('API is stopping');
      await serving.stop();
    }
  } finally {
    ended.abort();
    if (beating !== undefined) await orStopped(beating, ending, BEAT_GRACE_MS);
    await page?.stop();
    await tracing?.stop();
    await client.connection.close();
    await book.close();
    for (const provider of Object.values(providers)) provider.close();
    logger.info('API has stopped');
  }
});

function allowanceOf(config: Config<'api'>): RequestAllowance {
  return {
    perMinute: config.MAX_REQUESTS_PER_MINUTE,
    concurrent: config.MAX_CONCURRENT_REQUESTS,
    active: config.MAX_ACTIVE_REQUESTS,
    failures: MAX_FAILURES_PER_MINUTE,
  };
}

async function showMetrics(
  address: string | undefined,
  registry: Registry,
  logger: Logger,
): Promise<MetricsPage | undefined> {
  if (address === undefined) return undefined;
  const page = await serveMetrics(address, registry);
  logger.info({ address }, 'metrics are shown');
  return page;
}

/** Reads the merchants again on SIGHUP. */
function reloadMerchants(replace: (merchants: readonly Merchant[]) => void, logger: Logger): void {
  reloadOnHangUp(
    logger,
    () =>
      merchantsOf(
        readConfig('api', process.env, (gap) => {
          // A key that was removed must not stay valid because of this.
          logger.error(
            { gap },
            'the merchants were read again, but nobody can complete some decisions or approvals now',
          );
        }),
      ),
    (merchants) => {
      replace(merchants);
      logger.info({ merchants: merchants.map(({ name }) => name) }, 'the merchants were read again');
    },
  );
}

function toTerms(config: Config<'api'>): PaymentTerms {
  return {
    linkLifetimeMs: config.LINK_LIFETIME,
    pollFirstMs: config.POLL_FIRST,
    pollMaxMs: config.POLL_MAX,
    ambiguousGraceMs: config.AMBIGUOUS_GRACE,
    ambiguousPolicy: config.AMBIGUOUS_POLICY,
    resolveAfterMs: config.RESOLVE_AFTER,
    listedAfterMs: config.RESOLVE_AFTER,
    sendByMs: config.SEND_BY,
    providerTimeoutMs: config.PROVIDER_TIMEOUT,
    deskUrl: config.DESK_URL,
  };
}
