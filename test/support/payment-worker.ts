import { pino } from 'pino';
import { createActivities } from '../../src/activities/activities.js';
import { Book } from '../../src/book/book.js';
import { createPaymentWorker, type PaymentWorker, type PaymentWorkerOptions } from '../../src/worker/payment-worker.js';
import { CLOSED_URL, clientOf } from './local-servers.js';
import { noCollections } from './no-collections.js';
import { testEncryption } from './test-encryption.js';

type Given = Pick<
  PaymentWorkerOptions,
  'connection' | 'taskQueue' | 'workflowBundle' | 'callStacks' | 'statementSteps'
>;

/** A worker that reaches neither a provider nor a book, for tests of the worker itself. */
export function createLonelyWorker(given: Given): Promise<PaymentWorker> {
  return createPaymentWorker({
    ...given,
    namespace: 'default',
    encryption: testEncryption,
    activities: createActivities({
      book: new Book('postgres://127.0.0.1:1/none', testEncryption),
      providers: { collection: clientOf(CLOSED_URL), payout: clientOf(CLOSED_URL) },
      collections: noCollections,
      limitsOf: () => ({}),
      logger: pino({ level: 'silent' }),
      reports: { report: () => undefined },
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
