import { setTimeout as pause } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { PaymentId } from '../payments/words/payment-id.js';
import { Unavailable } from './errors.js';
import { callTemporal } from './temporal-calls.js';

const { PENDING_WORKFLOW_TASK_STATE_STARTED: STARTED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;

/** Pauses between two checks that a payment is idle: the first, doubled each time, and the longest. */
const POLL_MS = { first: 25, max: 500 } as const;

/**
 * Time without progress after which a workflow task counts as stalled: long enough for a busy worker or one
 * that is restarted, and far shorter than callers would wait otherwise.
 */
const STALLED_AFTER_MS = 2_000;

/** Payments whose pending task is remembered. Beyond that, the one seen longest ago is forgotten. */
const MAX_PENDING = 5_000;

/** A workflow task as it was first seen here. */
interface PendingTask {
  /** Changes when the task is started, retried or replaced. */
  readonly key: string;
  /** A worker is making the first attempt, which may take as long as a slow provider does. */
  readonly healthy: boolean;
  /** Time of that, in ms since the epoch, by our own clock: the server's may differ. */
  readonly since: number;
}

interface SharedCall {
  readonly running: Promise<WorkflowExecutionDescription>;
  /** The call after it, once somebody waits for that. */
  next?: Promise<WorkflowExecutionDescription>;
}

interface Poll {
  readonly done: Promise<void>;
  /** Time when the last waiting request gives up, in ms since the epoch. */
  deadline: number;
}

/**
 * Descriptions of payments' workflows, which Temporal gives without a worker. All requests of this process
 * share them: there is one call at a time for each payment, however many ask. So when workers are away and
 * every request waits, they don't flood Temporal with calls.
 */
export class Descriptions {
  readonly #calls = new Map<PaymentId, SharedCall>();
  readonly #polls = new Map<PaymentId, Poll>();
  readonly #pending = new Map<PaymentId, PendingTask>();

  constructor(private readonly client: Client) {}

  /**
   * Describes the payment's latest run, by a call to Temporal that begins after this one. Requests that come
   * while a call is under way share the next: the first may have been answered before something they did.
   *
   * @throws {WorkflowNotFoundError} when there is none.
   * @throws {Unavailable}
   */
  async describe(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const call = this.#calls.get(id);
    if (call === undefined) return await this.#start(id);
    call.next ??= call.running.then(
      () => this.#start(id),
      () => this.#start(id),
    );
    return await call.next;
  }

  /**
   * Waits until the payment has no pending workflow task. All who wait for one payment share the polling.
   *
   * @param deadline ms since the epoch
   * @param last a description of this moment, if there is one
   * @throws {Unavailable} at the deadline, and earlier when no worker makes progress.
   */
  async untilIdle(id: PaymentId, deadline: number, last?: WorkflowExecutionDescription): Promise<void> {
    if (isIdle(last ?? (await this.describe(id)))) return;
    const poll = this.#polls.get(id) ?? this.#startPoll(id);
    poll.deadline = Math.max(poll.deadline, deadline);
    await before(deadline, poll.done);
  }

  #start(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const running = this.#call(id).finally(() => {
      if (call.next === undefined) this.#calls.delete(id);
    });
    const call: SharedCall = { running };
    this.#calls.set(id, call);
    return running;
  }

  async #call(id: PaymentId): Promise<WorkflowExecutionDescription> {
    const description = await callTemporal(this.client, () => this.client.workflow.getHandle(id).describe());
    this.#remember(id, description);
    return description;
  }

  #startPoll(id: PaymentId): Poll {
    const poll: Poll = {
      deadline: 0,
      // Begins with a pause, during which the deadline is set.
      done: this.#poll(id, () => poll.deadline).finally(() => this.#polls.delete(id)),
    };
    // It may fail when nobody waits any longer.
    poll.done.catch(() => undefined);
    this.#polls.set(id, poll);
    return poll;
  }

  async #poll(id: PaymentId, deadline: () => number): Promise<void> {
    for (let pauseMs: number = POLL_MS.first; ; pauseMs = Math.min(2 * pauseMs, POLL_MS.max)) {
      // Checked before each pause, so that later requests for a stalled payment fail at once.
      if (this.#isStalled(id)) throw new Unavailable(undefined, new Error(STALLED));
      await pause(pauseMs * (0.5 + Math.random() / 2));
      if (isIdle(await this.describe(id))) return;
      if (Date.now() >= deadline()) throw new Unavailable();
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

/** For our log alone. */
const STALLED = "no worker takes the payment's workflow task, or each attempt at it fails";

function isIdle({ raw }: WorkflowExecutionDescription): boolean {
  return !raw.pendingWorkflowTask;
}

/** @throws {Unavailable} when the deadline (ms since the epoch) passes first. */
async function before(deadline: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable()), Math.max(0, deadline - Date.now()));
  });
  try {
    await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}
