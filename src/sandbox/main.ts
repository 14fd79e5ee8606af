import { pino } from 'pino';
import { ConfigError, readConfig } from '../config.js';
import { scaledClock } from './clock.js';
import { createSandbox } from './sandbox.js';

/** The sandbox as a process of its own, set from the environment; SIGTERM and SIGINT end it cleanly. */
async function main(): Promise<void> {
  const config = readConfig('sandbox', process.env);
  const logger = pino({ name: 'sandbox', level: config.LOG_LEVEL });
  const webhookUrl = config.SANDBOX_WEBHOOK_URL;
  const sandbox = createSandbox({
    clock: scaledClock({ scale: config.SANDBOX_CLOCK_SCALE }),
    merchantName: config.SANDBOX_MERCHANT_NAME,
    publicUrl: config.SANDBOX_PUBLIC_URL,
    seed: config.SANDBOX_SEED,
    webhookDelayMs: config.SANDBOX_WEBHOOK_DELAY,
    settleDelayMs: config.SANDBOX_SETTLE_DELAY,
    services: {
      collection: {
        apiUser: config.PROVIDER_COLLECTION_API_USER,
        apiKey: config.PROVIDER_COLLECTION_API_KEY,
        webhookUrl,
      },
      payout: {
        apiUser: config.PROVIDER_PAYOUT_API_USER,
        apiKey: config.PROVIDER_PAYOUT_API_KEY,
        webhookUrl,
      },
    },
    log: (event, details) => (event === 'error' ? logger.error(details, event) : logger.info(details, event)),
  });
  const { url } = await sandbox.listen(config.SANDBOX_PORT, config.HOST);
  logger.info({ url, clockScale: config.SANDBOX_CLOCK_SCALE }, 'listening');

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    await sandbox.close();
    logger.info({ signal }, 'stopped');
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  const message =
    error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
});
