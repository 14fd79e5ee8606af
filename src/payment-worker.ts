import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from './activities/activities.js';

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

/** The worker that runs payments. Closing the connection, after its `run` has ended, is the caller's. */
export function createPaymentWorker(options: PaymentWorkerOptions): Promise<Worker> {
  const { limits, deployment } = options;
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    activities: options.activities,
    workflowBundle: options.workflowBundle,
    maxCachedWorkflows: limits.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: limits.maxConcurrentWorkflowTasks,
    maxConcurrentActivityTaskExecutions: limits.maxConcurrentActivities,
    maxConcurrentLocalActivityExecutions: limits.maxConcurrentLocalActivities,
    shutdownGraceTime: limits.shutdownGraceMs,
    shutdownForceTime: limits.shutdownGraceMs + FORCE_AFTER_MS,
    ...(deployment && {
      workerDeploymentOptions: {
        version: deployment,
        useWorkerVersioning: true,
        // A payment may live for days: changes to the workflows keep to patched(), so that it can move on.
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  });
}
