import { once } from 'node:events';
import { readConfig } from '../src/config.js';
import { createLogger } from '../src/logger.js';
import { runProcess } from '../src/process.js';
import { scaledClock } from './clock.js';
import { openJournal } from './journal/journal.js';
import { createSandbox } from './sandbox.js';

/** The sandbox as a process of its own, set from the environment, until it is told to stop. */
await runProcess(async (stop) => {
  const config = readConfig('sandbox', process.env);
  const logger = createLogger('sandbox', config.LOG_LEVEL);
  const webhookUrl = config.SANDBOX_WEBHOOK_URL;
  const scale = config.SANDBOX_CLOCK_SCALE;
  const journal = config.SANDBOX_JOURNAL === undefined ? undefined : openJournal(config.SANDBOX_JOURNAL);
  const sandbox = createSandbox({
    clock: scaledClock({ scale, startMs: journal?.clockNow(scale) }),
    journal,
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
  logger.info({ url, clockScale: scale, kept: journal?.entries.length }, 'listening');

  if (!stop.aborted) await once(stop, 'abort');
  await sandbox.close();
  journal?.close();
  logger.info('stopped');
});
