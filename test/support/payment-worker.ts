import { createActivities } from '../../src/activities/activities.js';
import { createPaymentWorker, type PaymentWorker, type PaymentWorkerOptions } from '../../src/worker/payment-worker.js';
import { CLOSED_URL, clientOf } from './local-servers.js';
import { noCollections } from './no-collections.js';
import { noMerchant } from './no-merchant.js';
import { testEncryption } from './test-encryption.js';

type Given = Pick<PaymentWorkerOptions, 'connection' | 'taskQueue' | 'workflowBundle' | 'callStacks'>;

/** A worker that reaches neither a provider nor a merchant, for tests of the worker itself. */
export function createLonelyWorker(given: Given): Promise<PaymentWorker> {
  return createPaymentWorker({
    ...given,
    namespace: 'default',
    encryption: testEncryption,
    activities: createActivities({
      providers: { collection: clientOf(CLOSED_URL), payout: clientOf(CLOSED_URL) },
      merchant: noMerchant,
      collections: noCollections,
    }),
    limits: {
      maxCachedWorkflows: 10,
      maxConcurrentWorkflowTasks: 10,
      maxConcurrentActivities: 10,
      maxConcurrentLocalActivities: 10,
      shutdownGraceMs: 500,
    },
  });
}
