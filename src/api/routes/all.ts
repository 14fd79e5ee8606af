import type { Route } from '../route.js';
import { cancelPayout } from './cancel-payout.js';
import { createCollection } from './create-collection.js';
import { createPayout } from './create-payout.js';
import { expireCollection } from './expire-collection.js';
import { getBalance } from './get-balance.js';
import { getMetrics } from './get-metrics.js';
import { getPayment } from './get-payment.js';
import { healthz, readyz } from './health.js';
import { listNotifications } from './list-notifications.js';
import { listPayments } from './list-payments.js';
import { listUnmatched } from './list-unclaimed.js';
import { providerWebhook } from './provider-webhook.js';
import { refreshPayment } from './refresh-payment.js';
import { resendNotification } from './resend-notification.js';
import { resolvePayment } from './resolve-payment.js';

/** Every call of the API, one file each. */
export const routes: readonly Route[] = [
  createCollection,
  createPayout,
  listPayments,
  getPayment,
  expireCollection,
  cancelPayout,
  refreshPayment,
  resolvePayment,
  listNotifications,
  resendNotification,
  getBalance,
  providerWebhook,
  listUnmatched,
  healthz,
  readyz,
  getMetrics,
];
