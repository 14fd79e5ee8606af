import { createRequire } from 'node:module';
import { defaultPayloadConverter, type Payload, TypedSearchAttributes } from '@temporalio/common';
import proto, { type coresdk } from '@temporalio/proto';
import type { WorkflowInfo } from '@temporalio/workflow';
import { failureConverter } from '../../src/temporal/failure-converter.js';
import type { PaymentInput, PaymentWorkflowType } from '../../src/workflows/messages.js';

// Both packages are CommonJS; these modules are private, so a new release may move them.
const require = createRequire(import.meta.url);
const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm.js');
const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared.js');
const { parseWorkflowCode } = require('@temporalio/worker/lib/worker.js');

const { WorkflowActivation } = proto.coresdk.workflow_activation;

/** A job of an activation, with plain numbers where the protocol has its own. */
export type Job = Readonly<Record<string, object>>;
export type Command = coresdk.workflow_commands.IWorkflowCommand;

type Duration = NonNullable<NonNullable<Command['startTimer']>['startToFireTimeout']>;

/** Facts from the server for a run, beside its jobs. */
export interface Moment {
  /** ms since the epoch */
  readonly now: number;
  /** The history has grown so long that a new run should take over. */
  readonly isLong?: boolean;
  readonly isReplaying?: boolean;
}

/** No limit on an activation: the watchdog that each would take costs more than the activation. */
const NO_LIMIT = undefined;

/**
 * Ends the SDK's tracking of each promise of the process, which it does once workflows run in its main thread. Nobody
 * needs it here, and it would slow down everything that follows.
 */
export function stopTracingPromises(): void {
  globalHandlers.stopPromiseHook();
  globalHandlers.promiseHookInstalled = false;
}

/** The first run of each payment. */
export const FIRST_RUN_ID = 'run-1';

/**
 * The built workflow bundle in the VM that the SDK's worker runs it in, without a worker or a server: activations are
 * made by hand, and the commands that come of them are read.
 */
export class WorkflowVm {
  private runs = 0;

  private constructor(private readonly creator: InstanceType<typeof ReusableVMWorkflowCreator>) {}

  /** @param bundle the code of the workflow bundle */
  static async create(bundle: string): Promise<WorkflowVm> {
    const activities = new Set([
      'initiatePay',
      'directPay',
      'payOut',
      'paymentStatus',
      'expirePay',
      'expireUnissued',
      'lookUp',
      'mayHaveBeenReset',
      'notifyMerchant',
    ]);
    const code = parseWorkflowCode(bundle);
    const creator = await ReusableVMWorkflowCreator.create(code, NO_LIMIT, activities);
    stopTracingPromises();
    return new WorkflowVm(creator);
  }

  /** A run of a payment's workflow; it does nothing until it is activated with {@link startJob}. */
  async run(type: PaymentWorkflowType, now: number, of: RunOf): Promise<WorkflowRun> {
    const runId = `run-${++this.runs}`;
    const workflow = await this.creator.createWorkflow({
      info: infoOf(type, runId, now, of),
      randomnessSeed: [1, 2, 3, 4, 5, 6, 7, 8],
      now,
      showStackTraceSources: false,
    });
    return new WorkflowRun(workflow, runId);
  }
}

/** One run of a workflow in the VM. */
export class WorkflowRun {
  /** Each activation is a workflow task of its own. */
  #tasks = 0;

  constructor(
    private readonly workflow: {
      activate(activation: unknown): Promise<coresdk.workflow_completion.IWorkflowActivationCompletion>;
      getAndResetSinkCalls(): Promise<unknown>;
      dispose(): Promise<void>;
    },
    private readonly runId: string,
  ) {}

  /**
   * Gives the run its jobs, and returns the commands that come of them.
   *
   * @throws Error when the workflow's task fails
   */
  async activate(jobs: readonly Job[], { now, isLong = false, isReplaying = false }: Moment): Promise<Command[]> {
    this.#tasks += 1;
    const activation = WorkflowActivation.fromObject({
      runId: this.runId,
      timestamp: timestamp(now, this.#tasks),
      isReplaying,
      historyLength: isLong ? 2_000 : 10,
      historySizeBytes: 1_000,
      continueAsNewSuggested: isLong,
      availableInternalFlags: [1, 2, 3, 4, 5, 6],
      jobs: [...jobs],
    });
    const { successful, failed } = await this.workflow.activate(activation);
    await this.workflow.getAndResetSinkCalls();
    if (failed?.failure != null) {
      // As a payload, the message would be encrypted.
      const { message } = failureConverter.failureToError(failed.failure, defaultPayloadConverter);
      throw new Error(`the workflow task failed: ${message}`);
    }
    if (failed != null) throw new Error('the workflow task failed');
    return successful?.commands ?? [];
  }

  async dispose(): Promise<void> {
    await this.workflow.dispose();
  }
}

export function startJob(type: PaymentWorkflowType, input: PaymentInput, now: number): Job {
  return {
    initializeWorkflow: {
      workflowType: type,
      workflowId: input.order.id,
      arguments: [payloadOf(input)],
      randomnessSeed: 7,
      attempt: 1,
      firstExecutionRunId: FIRST_RUN_ID,
      startTime: timestamp(now),
    },
  };
}

export function signalJob(signalName: string, argument: unknown): Job {
  return { signalWorkflow: { signalName, input: [payloadOf(argument)] } };
}

/** @param id names the request in its response */
export function updateJob(id: string, name: string, args: readonly unknown[]): Job {
  return {
    doUpdate: { id, protocolInstanceId: id, name, input: args.map(payloadOf), runValidator: true },
  };
}

export function timerJob(seq: number): Job {
  return { fireTimer: { seq } };
}

export function activityJob(seq: number, isLocal: boolean, result: unknown): Job {
  return { resolveActivity: { seq, isLocal, result: { completed: { result: payloadOf(result) } } } };
}

type TimeLimit = 'SCHEDULE_TO_START' | 'START_TO_CLOSE';

/**
 * Ends an activity without an answer: no worker took it in time, or the one that did didn't end in time.
 *
 * @param before how an earlier attempt of it has ended
 */
export function timedOutJob(seq: number, activity: string, limit: TimeLimit, before?: TimeLimit): Job {
  const timeout = (of: TimeLimit) => ({ timeoutFailureInfo: { timeoutType: `TIMEOUT_TYPE_${of}` } as const });
  const cause = { ...timeout(limit), ...(before !== undefined && { cause: timeout(before) }) };
  const failure = { activityFailureInfo: { activityType: { name: activity } }, cause };
  return { resolveActivity: { seq, isLocal: false, result: { failed: { failure } } } };
}

/** Ends an activity that its workflow has taken back. */
export function takenBackJob(seq: number, activity: string): Job {
  const cause = { canceledFailureInfo: {} };
  const failure = { activityFailureInfo: { activityType: { name: activity } }, cause };
  return { resolveActivity: { seq, isLocal: false, result: { cancelled: { failure } } } };
}

/** Makes a job that has to be the only one of its activation. */
export function queryJob(queryType: string): Job {
  return { queryWorkflow: { queryId: queryType, queryType } };
}

/** Somebody asks for the run to be cancelled. */
export function cancelJob(): Job {
  return { cancelWorkflow: { reason: 'somebody has pressed Cancel' } };
}

/** Tells a replay that the history has the patch's marker. */
export function patchJob(patchId: string): Job {
  return { notifyHasPatch: { patchId } };
}

/** Makes a job without content: the run only sees that time has passed, or that its history is long. */
export function emptyJob(): Job {
  return { updateRandomSeed: { randomnessSeed: 7 } };
}

/** Lists the values that a command carries. */
export function valuesOf(payloads: readonly Payload[] | null | undefined): unknown[] {
  return (payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload));
}

/** @returns `undefined` when there is none: a limit that isn't set is no limit of 0 ms */
export function milliseconds(duration: Duration | null | undefined): number | undefined {
  return duration == null ? undefined : Number(duration.seconds ?? 0) * 1_000 + (duration.nanos ?? 0) / 1_000_000;
}

function payloadOf(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value) as Payload;
}

/** @param tasks tells the times of tasks of one millisecond apart */
function timestamp(now: number, tasks = 0) {
  return { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1_000_000 + tasks };
}

/** The payment of a run, and whether it continues another run's work. */
interface RunOf {
  readonly workflowId: string;
  readonly isContinued?: boolean;
}

function infoOf(type: PaymentWorkflowType, runId: string, now: number, { workflowId, isContinued }: RunOf) {
  return {
    workflowId,
    runId,
    ...(isContinued && { continuedFromExecutionRunId: FIRST_RUN_ID }),
    workflowType: type,
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
    taskQueue: 'payments',
    namespace: 'default',
    firstExecutionRunId: FIRST_RUN_ID,
    startTime: new Date(now),
    runStartTime: new Date(now),
    taskTimeoutMs: 10_000,
    attempt: 1,
    historyLength: 1,
    historySize: 0,
    continueAsNewSuggested: false,
    targetWorkerDeploymentVersionChanged: false,
    currentBuildId: '',
    unsafe: { now: () => now, isReplaying: false, isReplayingHistoryEvents: false, random: {} },
    priority: {},
  } as unknown as WorkflowInfo;
}
