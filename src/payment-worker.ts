import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from './activities/activities.js';
import { notificationsQueue } from './workflows/messages.js';

/** How much a worker takes on at a time, and how long it may take to stop (ms). */
export interface WorkerLimits {
  readonly maxCachedWorkflows: number;
  readonly maxConcurrentWorkflowTasks: number;
  readonly maxConcurrentActivities: number;
  readonly maxConcurrentLocalActivities: number;
  readonly shutdownGraceMs: number;
}

export interface PaymentWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly activities: Activities;
  readonly workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  readonly limits: WorkerLimits;
  /** Set when the operator deploys by versions: workflows then move to a version when it is made current. */
  readonly deployment?: { readonly deploymentName: string; readonly buildId: string } | undefined;
}

/** Time between the end of the grace period and giving up on what still runs, in ms. */
const FORCE_AFTER_MS = 1_000;

/** What runs until it is told to stop. */
export interface PaymentWorker {
  /** Ends when it has stopped; rejects when it can't go on. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * The worker that runs payments, and beside it one that only makes slow deliveries to the merchant, on a queue and with
 * slots of its own. Closing the connection, after `run` has ended, is the caller's.
 */
export async function createPaymentWorker(options: PaymentWorkerOptions): Promise<PaymentWorker> {
  const { limits, deployment, activities, taskQueue } = options;
  const shared = {
    connection: options.connection,
    namespace: options.namespace,
    activities,
    shutdownGraceTime: limits.shutdownGraceMs,
    shutdownForceTime: limits.shutdownGraceMs + FORCE_AFTER_MS,
  };
  const payments = await Worker.create({
    ...shared,
    taskQueue,
    workflowBundle: options.workflowBundle,
    maxCachedWorkflows: limits.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: limits.maxConcurrentWorkflowTasks,
    maxConcurrentActivityTaskExecutions: limits.maxConcurrentActivities,
    maxConcurrentLocalActivityExecutions: limits.maxConcurrentLocalActivities,
    ...(deployment && {
      workerDeploymentOptions: {
        version: deployment,
        useWorkerVersioning: true,
        // A payment may live for days: changes to the workflows keep to patched(), so that it can move on.
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  });
  const deliveries = await Worker.create({
    ...shared,
    taskQueue: notificationsQueue(taskQueue),
    maxConcurrentActivityTaskExecutions: limits.maxConcurrentActivities,
  });
  const workers = [payments, deliveries];
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
    async run() {
      // One can't do without the other: when one ends, for whatever reason, so does the other.
      const running = workers.map((worker) => worker.run().finally(shutdown));
      await Promise.allSettled(running);
      await Promise.all(running);
    },
  };
}
