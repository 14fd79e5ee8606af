import { z } from 'zod';
import {
  areRead,
  count,
  databaseUrl,
  duration,
  httpUrl,
  logLevel,
  metricsAddress,
  text,
  webhookSecrets,
  xaf,
  yesNo,
} from './kinds.js';
import { merchantsFile } from './merchants-file.js';
import { encryption, hasKeys, KEYS_MISSING, ONE_DESCRIPTION, provider, temporal, tracing } from './shared-settings.js';

/** The worker's settings. */
export const workerSettings = z
  .object({
    ...temporal,
    ...provider,
    ...encryption,
    ...tracing,
    LOG_LEVEL: logLevel,
    MERCHANTS_FILE: merchantsFile.optional(),
    MERCHANT_WEBHOOK_URL: httpUrl.optional(),
    MERCHANT_WEBHOOK_SECRET: webhookSecrets.optional(),
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: yesNo(false),
    MERCHANT_WEBHOOK_TIMEOUT: duration('5s', {
      min: '100ms',
      max: '9s',
      because: 'a worker that stops waits no longer for the answer',
    }),
    WORKER_MAX_CACHED_WORKFLOWS: count(500),
    WORKER_MAX_CONCURRENT_WORKFLOW_TASKS: count(40, { min: 2 }),
    WORKER_MAX_CONCURRENT_ACTIVITIES: count(100),
    WORKER_MAX_CONCURRENT_LOCAL_ACTIVITIES: count(100),
    WORKER_CALL_STACKS: yesNo(false),
    WORKER_DEPLOYMENT: text.default('sanaga'),
    WORKER_BUILD_ID: text.optional(),
    WORKER_METRICS_ADDRESS: metricsAddress,
    WORKER_SHUTDOWN_GRACE: duration('8s', { min: '1s', max: '2m' }),
    DATABASE_URL: databaseUrl,
    MAX_PAYOUTS_PER_DAY: xaf.optional(),
  })
  .refine(
    ({ MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_SECRET: secret }) => url === undefined || secret !== undefined,
    {
      path: ['MERCHANT_WEBHOOK_SECRET'],
      error: 'must be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned',
      when: areRead('MERCHANT_WEBHOOK_URL', 'MERCHANT_WEBHOOK_SECRET'),
    },
  )
  .refine((settings) => settings.MERCHANTS_FILE === undefined || settings.MERCHANT_WEBHOOK_URL === undefined, {
    path: ['MERCHANT_WEBHOOK_URL'],
    error: ONE_DESCRIPTION,
    when: areRead('MERCHANTS_FILE', 'MERCHANT_WEBHOOK_URL'),
  })
  .refine(hasKeys, KEYS_MISSING);
