import { once } from 'node:events';
import { createDesk } from './desk/app.js';
import { serve } from './http/server.js';
import { runProcess } from './process/run-process.js';
import { Shutdown } from './process/shutdown.js';
import { readConfig } from './settings/read-settings.js';
import { createLogger } from './telemetry/logger.js';

/**
 * The desk's process: serves pages for operators and approvers until SIGTERM or SIGINT. It knows neither Temporal nor
 * the provider, and has no key of its own: it calls the API with the key of whoever signed in.
 */
await runProcess(async (stop) => {
  const config = readConfig('desk', process.env);
  const logger = createLogger('desk', config.LOG_LEVEL);
  const shutdown = new Shutdown();
  const app = createDesk({
    apiUrl: config.DESK_API_URL,
    sessions: { maxAgeMs: config.DESK_SESSION, maxIdleMs: config.DESK_SESSION_IDLE },
    floatWarnBelow: config.FLOAT_WARN_BELOW,
    trustedProxies: config.TRUSTED_PROXIES,
    logger,
    shutdown,
  });
  const serving = await serve(app, {
    host: config.HOST,
    port: config.DESK_PORT,
    shutdown,
    trustedProxies: config.TRUSTED_PROXIES,
  });
  logger.info({ host: config.HOST, port: serving.port, api: config.DESK_API_URL }, 'desk is listening');
  if (!stop.aborted) await once(stop, 'abort');
  logger.info('desk is stopping');
  await serving.stop();
});
