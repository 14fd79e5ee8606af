import { once } from 'node:events';
import { createApp } from './api/app.js';
import { Shutdown, serve } from './api/http/server.js';
import { type Config, readConfig } from './config.js';
import { createLogger } from './logger.js';
import type { PaymentTerms } from './payments/order.js';
import { createProviderServices, isNamespaceReady, runProcess, untilNamespaceIsReady } from './process.js';
import { connectClient, loadTemporalTarget } from './temporal/connection.js';

/**
 * The API process: serves until SIGTERM or SIGINT, then finishes the responses it has begun. It starts without Temporal.
 * Once Temporal answers, it ends if the namespace isn't set up for payments.
 */
await runProcess(async (stop) => {
  const config = readConfig('api', process.env);
  const logger = createLogger('api', config.LOG_LEVEL);
  const target = loadTemporalTarget(process.env);
  const client = connectClient(target);
  const providers = createProviderServices(config);
  const shutdown = new Shutdown();
  const app = createApp({
    client,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    namespace: target.namespace,
    temporalUiUrl: config.TEMPORAL_UI_URL,
    terms: toTerms(config),
    apiKeys: config.API_KEYS,
    webhookToken: config.WEBHOOK_TOKEN,
    providers,
    logger,
    shutdown,
  });
  const required = { connection: client.connection, namespace: target.namespace, logger };
  try {
    const isReady = await isNamespaceReady(required);
    const serving = await serve(app, { host: config.HOST, port: config.PORT, shutdown });
    logger.info({ host: config.HOST, port: serving.port, temporal: target.address }, 'API is listening');
    try {
      if (!isReady) await untilNamespaceIsReady(required, stop);
      if (!stop.aborted) await once(stop, 'abort');
    } finally {
      logger.info('API is stopping');
      await serving.stop();
    }
  } finally {
    await client.connection.close();
    for (const provider of Object.values(providers)) provider.close();
    logger.info('API has stopped');
  }
});

function toTerms(config: Config<'api'>): PaymentTerms {
  return {
    linkLifetimeMs: config.LINK_LIFETIME,
    pollFirstMs: config.POLL_FIRST,
    pollMaxMs: config.POLL_MAX,
    ambiguousGraceMs: config.AMBIGUOUS_GRACE,
    ambiguousPolicy: config.AMBIGUOUS_POLICY,
    resolveAfterMs: config.RESOLVE_AFTER,
    sendByMs: config.SEND_BY,
    providerTimeoutMs: config.PROVIDER_TIMEOUT,
  };
}
