import { migrate } from './book/migrate.js';
import { runProcess } from './process/run-process.js';
import { readConfig } from './settings/read-settings.js';
import { createLogger } from './telemetry/logger.js';

/** Brings the book's tables up to date, before the API and the workers of a release are started. */
await runProcess(async () => {
  const config = readConfig('migrate', process.env);
  await migrate(config.DATABASE_URL, createLogger('migrate', config.LOG_LEVEL));
});
