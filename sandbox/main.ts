/* The sandbox as a process of its own: reads its settings from the environment, and runs until SIGTERM or SIGINT. */
import { once } from 'node:events';
import { scaledClock } from './clock.js';
import { openJournal } from './journal.js';
import { createLog } from './log.js';
import { createSandbox } from './sandbox.js';
import { readSettings, SettingsError } from './settings.js';

/** EX_CONFIG of sysexits.h. */
const WRONG_SETTING_EXIT_CODE = 78;

async function run(stop: AbortSignal): Promise<void> {
  const settings = readSettings(process.env);
  const log = createLog(settings.LOG_LEVEL);
  const webhookUrl = settings.SANDBOX_WEBHOOK_URL;
  const scale = settings.SANDBOX_CLOCK_SCALE;
  const journal = settings.SANDBOX_JOURNAL === undefined ? undefined : openJournal(settings.SANDBOX_JOURNAL);
  const sandbox = createSandbox({
    clock: scaledClock({ scale, startMs: journal?.clockNow(scale) }),
    journal,
    merchantName: settings.SANDBOX_MERCHANT_NAME,
    publicUrl: settings.SANDBOX_PUBLIC_URL,
    seed: settings.SANDBOX_SEED,
    payoutFunds: settings.SANDBOX_BALANCE,
    webhookDelayMs: settings.SANDBOX_WEBHOOK_DELAY,
    settleDelayMs: settings.SANDBOX_SETTLE_DELAY,
    services: {
      collection: {
        apiUser: settings.PROVIDER_COLLECTION_API_USER,
        apiKey: settings.PROVIDER_COLLECTION_API_KEY,
        webhookUrl,
      },
      payout: {
        apiUser: settings.PROVIDER_PAYOUT_API_USER,
        apiKey: settings.PROVIDER_PAYOUT_API_KEY,
        webhookUrl,
      },
    },
    log,
  });
  const { url } = await sandbox.listen(settings.SANDBOX_PORT, settings.HOST);
  log('listening', { url, clockScale: scale, restored: journal?.entries.length });

  if (!stop.aborted) await once(stop, 'abort');
  await sandbox.close();
  journal?.close();
  log('stopped', {});
}

const stopping = new AbortController();
// The handlers stay until the end: a second signal, which npm sends, must not interrupt the shutdown.
const stop = () => stopping.abort();
process.on('SIGTERM', stop).on('SIGINT', stop);
// It has no settings to read again: without a listener, it would end.
process.on('SIGHUP', () => undefined);
try {
  await run(stopping.signal);
} catch (error) {
  const isWrongSetting = error instanceof SettingsError;
  const text = error instanceof Error ? (isWrongSetting ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = isWrongSetting ? WRONG_SETTING_EXIT_CODE : 1;
} finally {
  process.off('SIGTERM', stop).off('SIGINT', stop);
}
