import {
  type ActivityInterceptorsFactory,
  type NativeConnection,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Activities } from '../activities/activities.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { Tracing } from '../telemetry/tracing.js';
import { dataConverterOf, type Encryption } from '../temporal/encryption.js';
import { type StatementSteps, statementsQueue } from '../workflows/messages.js';
import { LeanWorker } from './workflow-threads.js';

/** A worker's concurrency, and its time to stop, in ms. */
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
  readonly encryption: Encryption;
  readonly activities: Activities;
  /** Without them, this worker makes no statements. */
  readonly statementSteps?: StatementSteps | undefined;
  /** With the converters of `src/temporal` in it. */
  readonly workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  readonly limits: WorkerLimits;
  /** Traces payments; nobody does, by default. */
  readonly tracing?: Tracing | undefined;
  /** Tracks where each workflow's code waits, for Temporal's Web UI: it takes 40 % more CPU time. Default: false. */
  readonly callStacks?: boolean;
  /** Set when the operator deploys by versions: workflows then move to a version when it is made current. */
  readonly deployment?: { readonly deploymentName: string; readonly buildId: string } | undefined;
}

/** Time from the end of the grace period until activities that still run are abandoned, in ms. */
const FORCE_AFTER_MS = 1_000;

/**
 * Polls that a worker has open at a time, for first tasks and for later ones each. Every open poll is a task that the
 * server may hand over at the same moment. When the server takes more than a second to write one down
 * (`recordTaskStartedSyncMatchTimeout` in Temporal's matching), that task is lost until it times out, after ten
 * seconds.
 */
const MAX_POLLS = 8;

/**
 * Polls that a worker has open at least, for first tasks and for later ones each: as many as a queue's partitions, by
 * default. A poll that meets a partition with a backlog of five seconds stays there for a minute after the backlog is
 * gone (`isBacklogNegligible` in Temporal's matching): after an outage, a new payment at a partition without a poll
 * would wait that long.
 */
const MIN_POLLS = 4;

/** Steps of statements that run at a time: each asks the provider one thing after another. */
const MAX_STATEMENT_STEPS = 2;

/** A worker that runs until `shutdown` is called. */
export interface PaymentWorker {
  /**
   * Resolves when the worker has stopped; rejects when it fails. Call it even if the worker was shut down before: it
   * then stops at once, and only after that can its connection be closed.
   */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * Makes the worker that runs payments, and another for statements, with a queue and slots of its own. The caller closes
 * the connection after `run` has ended.
 */
export async function createPaymentWorker(options: PaymentWorkerOptions): Promise<PaymentWorker> {
  const workers: Worker[] = [];
  let isShutDown = false;
  const shutdown = () => {
    isShutDown = true;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const run = async () => {
    // No worker is of use alone: when one ends, for any reason, the others are stopped.
    const running = workers.map((worker) => worker.run().finally(shutdown));
    if (isShutDown) shutdown();
    await Promise.allSettled(running);
    await Promise.all(running);
  };
  try {
    workers.push(await createPayments(options));
    if (options.statementSteps !== undefined) workers.push(await createStatements(options, options.statementSteps));
  } catch (error) {
    // Workers hold threads and the connection until they have run.
    shutdown();
    await run().catch(() => undefined);
    throw error;
  }
  return { shutdown, run };
}

/** Runs workflows, and the activities that call the provider. */
function createPayments(options: PaymentWorkerOptions): Promise<Worker> {
  const { limits, deployment, activities, tracing } = options;
  return (options.callStacks ? Worker : LeanWorker).create({
    ...commonOptions(options),
    ...tracedActivities(tracing),
    activities,
    taskQueue: options.taskQueue,
    workflowBundle: options.workflowBundle,
    maxCachedWorkflows: limits.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: limits.maxConcurrentWorkflowTasks,
    // The SDK's default asks for the first tasks of payments with two polls at a time, and with eight for all later
    // ones: under load, new payments then wait while everything else goes on.
    workflowTaskPollerBehavior: { type: 'autoscaling', minimum: MIN_POLLS, maximum: MAX_POLLS },
    maxConcurrentActivityTaskExecutions: limits.maxConcurrentActivities,
    maxConcurrentLocalActivityExecutions: limits.maxConcurrentLocalActivities,
    ...(deployment && {
      workerDeploymentOptions: {
        version: deployment,
        useWorkerVersioning: true,
        // A payment may run for days. What changes the loop's commands goes behind patched().
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  });
}

function createStatements(options: PaymentWorkerOptions, steps: StatementSteps): Promise<Worker> {
  return Worker.create({
    ...commonOptions(options),
    activities: steps,
    taskQueue: statementsQueue(options.taskQueue),
    maxConcurrentActivityTaskExecutions: MAX_STATEMENT_STEPS,
  });
}

function commonOptions({ connection, namespace, encryption, limits }: PaymentWorkerOptions) {
  return {
    connection,
    namespace,
    dataConverter: dataConverterOf(encryption),
    shutdownGraceTime: limits.shutdownGraceMs,
    shutdownForceTime: limits.shutdownGraceMs + FORCE_AFTER_MS,
  };
}

const tracedActivities = (tracing: Tracing | undefined) =>
  tracing && { interceptors: { activity: [traceActivities(tracing)] } };

/** Puts each activity of a payment into its trace; the calls that it makes are parts of it. */
function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const id = parsePaymentId(info.workflowExecution?.workflowId);
        if (id === undefined) return await next(input);
        const attributes = {
          'temporal.activity.type': info.activityType,
          'temporal.workflow.run_id': info.workflowExecution?.runId ?? '',
        };
        return await tracing.run(id, info.activityType, attributes, () => next(input), kindOf);
      },
    },
  });
}

/** Reads from an activity's answer what the payment has to do next. */
function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const said = 'todo' in value ? value.todo : value;
  if (typeof said !== 'object' || said === null || !('kind' in said)) return undefined;
  return typeof said.kind === 'string' ? said.kind : undefined;
}
