import { setTimeout as pause } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { PaymentId } from '../../payments/payment-id.js';
import { temporarilyUnavailable } from '../problem.js';
import { ask } from './temporal-calls.js';

const { PENDING_WORKFLOW_TASK_STATE_STARTED: STARTED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;

/** Pauses between two looks at whether a payment is idle, in ms: the first, and what doubling it leads to at most. */
const POLL_MS = { first: 25, max: 500 } as const;

/**
 * ms without any progress after which a workflow task counts as stalled. Long enough for a busy worker, or one that
 * has just been restarted; far shorter than a caller would wait otherwise.
 */
const STALLED_AFTER_MS = 2_000;

/** Payments whose pending task is remembered; the one seen longest ago is forgotten first. */
const MAX_PENDING = 5_000;

/** A workflow task as it was first seen here. */
interface PendingTask {
  /** Changes as soon as the task is started, retried or replaced by another one. */
  readonly key: string;
  /** A worker is at its first attempt. It may take as long as a slow provider does. */
  readonly healthy: boolean;
  /** ms since the epoch by our own clock, which need not agree with the server's. */
  readonly since: number;
}

interface Look {
  readonly running: Promise<WorkflowExecutionDescription>;
  next?: Promise<WorkflowExecutionDescription>;
}

interface Poll {
  readonly done: Promise<void>;
  /** When the last of those who wait gives up, in ms since the epoch. */
  deadline: number;
}

/**
 * Descriptions of payments' workflows, as Temporal gives them without a worker. All requests of this process share
 * them: however many ask about one payment, there is one call at a time for it. So absent workers, for whom everybody
 * waits at once, don't become a flood of calls that Temporal has to refuse.
 */
export class Descriptions {
  readonly #looks = new Map<PaymentId, Look>();
  readonly #polls = new Map<PaymentId, Poll>();
  readonly #pending = new Map<PaymentId, PendingTask>();

  constructor(private readonly client: Client) {}

  /**
   * The payment's latest run, by a call that begins after this one. Who comes while a call is under way shares the
   * one after it: the first may have been answered before something that this caller has done.
   *
   * @throws {WorkflowNotFoundError} when there is none.
   * @throws {ApiError} `temporarily_unavailable`.
   */
  async describe(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const look = this.#looks.get(id);
    if (look === undefined) return await this.#look(id);
    look.next ??= look.running.then(
      () => this.#look(id),
      () => this.#look(id),
    );
    return await look.next;
  }

  /**
   * Waits until the payment has no workflow task before it; all who wait for one payment share the polling.
   *
   * @param deadline ms since the epoch
   * @param last a description from a moment ago, if there is one
   * @throws {ApiError} `temporarily_unavailable` when the deadline passes, and earlier when nobody works on the task.
   */
  async untilIdle(id: PaymentId, deadline: number, last?: WorkflowExecutionDescription): Promise<void> {
    if (isIdle(last ?? (await this.describe(id)))) return;
    const poll = this.#polls.get(id) ?? this.#startPoll(id);
    poll.deadline = Math.max(poll.deadline, deadline);
    await before(deadline, poll.done);
  }

  #look(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const running = this.#call(id).finally(() => {
      if (look.next === undefined) this.#looks.delete(id);
    });
    const look: Look = { running };
    this.#looks.set(id, look);
    return running;
  }

  async #call(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const description = await ask(this.client, () => this.client.workflow.getHandle(id).describe());
    this.#remember(id, description);
    return description;
  }

  #startPoll(id: PaymentId): Poll {
    const poll: Poll = {
      deadline: 0,
      // Begins with a pause, so that the deadline of whoever started it is set by then.
      done: this.#poll(id, () => poll.deadline).finally(() => this.#polls.delete(id)),
    };
    // It may fail after everybody has stopped waiting.
    poll.done.catch(() => undefined);
    this.#polls.set(id, poll);
    return poll;
  }

  async #poll(id: PaymentId, deadline: () => number): Promise<void> {
    for (let pauseMs: number = POLL_MS.first; ; pauseMs = Math.min(2 * pauseMs, POLL_MS.max)) {
      // Those who wait for a stalled payment must be told at once, also when they come later.
      if (this.#isStalled(id)) throw temporarilyUnavailable(undefined, { cause: new Error(STALLED) });
      await pause(pauseMs * (0.5 + Math.random() / 2));
      if (isIdle(await this.describe(id))) return;
      if (Date.now() >= deadline()) throw temporarilyUnavailable();
    }
  }

  #remember(id: PaymentId, { raw: { pendingWorkflowTask: task } }: WorkflowExecutionDescription): void {
    const seen = this.#pending.get(id);
    this.#pending.delete(id);
    if (!task) return;
    const { state, attempt, scheduledTime, startedTime } = task;
    const key = JSON.stringify([state, attempt, scheduledTime, startedTime]);
    const healthy = state === STARTED && (attempt ?? 1) <= 1;
    this.#pending.set(id, seen?.key === key ? seen : { key, healthy, since: Date.now() });
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
  }

  #isStalled(id: PaymentId): boolean {
    const task = this.#pending.get(id);
    return task !== undefined && !task.healthy && Date.now() - task.since >= STALLED_AFTER_MS;
  }
}

/** For our log: what a merchant is told is that payments can't be reached. */
const STALLED = 'no worker takes the payment’s workflow task, or each attempt at it fails';

function isIdle({ raw }: WorkflowExecutionDescription): boolean {
  return !raw.pendingWorkflowTask;
}

/** @throws {ApiError} `temporarily_unavailable` when the deadline (ms since the epoch) passes first. */
async function before(deadline: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(temporarilyUnavailable()), Math.max(0, deadline - Date.now()));
  });
  try {
    await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}
