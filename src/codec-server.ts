import { once } from 'node:events';
import { createCodecServer } from './codec/app.js';
import { serve } from './http/server.js';
import { reloadOnHangUp, runProcess } from './process/run-process.js';
import { Shutdown } from './process/shutdown.js';
import { merchantsIn } from './settings/merchants.js';
import { readConfig } from './settings/read-settings.js';
import { createLogger } from './telemetry/logger.js';
import { EncryptionCodec, encryptionOf } from './temporal/encryption.js';

/**
 * The codec server's process: decrypts payloads for operators in Temporal's Web UI and command line, until SIGTERM or
 * SIGINT. On SIGHUP it reads the API keys again. It needs no Temporal.
 */
await runProcess(async (stop) => {
  const config = readConfig('codec', process.env);
  const logger = createLogger('codec', config.LOG_LEVEL);
  const { app, replaceMerchants } = createCodecServer({
    codec: new EncryptionCodec(encryptionOf(config)),
    merchants: merchantsIn(config),
    uiUrl: config.TEMPORAL_UI_URL,
    uiToken: config.CODEC_UI_TOKEN,
    trustedProxies: config.TRUSTED_PROXIES,
    logger,
  });
  reloadOnHangUp(
    logger,
    () => readConfig('codec', process.env),
    (next) => {
      const merchants = merchantsIn(next);
      replaceMerchants(merchants);
      logger.info({ merchants: merchants.map(({ name }) => name) }, 'the merchants were read again');
    },
  );
  const serving = await serve(app, {
    host: config.HOST,
    port: config.CODEC_PORT,
    shutdown: new Shutdown(),
    trustedProxies: config.TRUSTED_PROXIES,
  });
  logger.info({ host: config.HOST, port: serving.port }, 'codec server is listening');
  if (!stop.aborted) await once(stop, 'abort');
  await serving.stop();
  logger.info('codec server has stopped');
});
