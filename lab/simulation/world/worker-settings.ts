import { z } from 'zod';
import { createActivities } from '../../../src/activities/activities.js';
import { createMerchantNotifier } from '../../../src/activities/merchant.js';
import type { PaymentWorkerOptions } from '../../../src/payment-worker.js';
import { createProviderClient } from '../../../src/provider/client.js';
import { CREDENTIALS, MERCHANT_SECRET } from './credentials.js';

/** What a simulated worker is told; it crosses a process's border as JSON. */
export const workerSettingsSchema = z.object({
  temporalAddress: z.string(),
  providerUrl: z.string(),
  /** Where the merchant takes notifications. */
  merchantUrl: z.string(),
  workflowBundle: z.string(),
  providerTimeoutMs: z.int(),
  merchantTimeoutMs: z.int(),
});
export type WorkerSettings = z.infer<typeof workerSettingsSchema>;

export const NAMESPACE = 'default';
export const TASK_QUEUE = 'payments';

const LIMITS: PaymentWorkerOptions['limits'] = {
  maxCachedWorkflows: 5_000,
  maxConcurrentWorkflowTasks: 40,
  maxConcurrentActivities: 40,
  maxConcurrentLocalActivities: 100,
  shutdownGraceMs: 1_000,
};

/** How many times faster than ours simulated time passes while connections wait; fast enough to make nobody wait. */
const HURRY = 1_000;

/** A client for each of the provider's services. Their pauses are short, as simulated time stands still in them. */
export function providerClients(url: string, timeoutMs: number) {
  const now = () => performance.now() * HURRY;
  const common = { url, timeoutMs, now };
  return {
    collection: createProviderClient({ service: 'collection', ...CREDENTIALS.collection, ...common }),
    payout: createProviderClient({ service: 'payout', ...CREDENTIALS.payout, ...common }),
  };
}

/** Everything a simulated worker needs but the connection, and how to let go of it. */
export function workerParts(settings: WorkerSettings) {
  const providers = providerClients(settings.providerUrl, settings.providerTimeoutMs);
  const endpoint = {
    url: settings.merchantUrl,
    secrets: [MERCHANT_SECRET],
    timeoutMs: settings.merchantTimeoutMs,
    allowPrivate: true,
  };
  const merchant = createMerchantNotifier(endpoint);
  return {
    options: {
      namespace: NAMESPACE,
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: settings.workflowBundle },
      limits: LIMITS,
    },
    activities: createActivities({ providers, merchant }),
    close(): void {
      for (const provider of Object.values(providers)) provider.close();
    },
  };
}

/** Uncompressed, for the wire to understand what it carries. */
export const connectionOptions = ({ temporalAddress }: WorkerSettings) => ({
  address: temporalAddress,
  grpcCompression: { codec: 'none' } as const,
});
