import type { Route } from '../route.js';
import { createCollection } from './create-collection.js';
import { createPayout } from './create-payout.js';
import { expireCollection } from './expire-collection.js';
import { getBalance } from './get-balance.js';
import { getMetrics } from './get-metrics.js';
import { getPayment } from './get-payment.js';
import { healthz, readyz } from './health.js';
import { providerWebhook } from './provider-webhook.js';
import { refreshPayment } from './refresh-payment.js';

/** Every call of the API, one file each. */
export const routes: readonly Route[] = [
  createCollection,
  createPayout,
  getPayment,
  expireCollection,
  refreshPayment,
  getBalance,
  providerWebhook,
  healthz,
  readyz,
  getMetrics,
];
