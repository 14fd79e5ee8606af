import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { PaymentNotification } from '../payments/machine/notification.js';
import type { Shutdown } from '../process/shutdown.js';
import type { MakeCall } from '../records/list-runs.js';
import { inReviewUnlessFinal } from '../records/payment-record.js';
import { type RunToRead, readEnd, readInput, readStart, readStopped } from '../records/read-run.js';
import { hasCompletedNoTask } from '../temporal/run-start.js';
import {
  type EndedState,
  outcomeUpdate,
  type PaymentInput,
  type PaymentResult,
  paymentQuery,
} from '../workflows/messages.js';
import { UnreadableState } from '../workflows/schemas.js';
import { RecordUnreadable, Unavailable } from './errors.js';
import {
  type FoundPayment,
  findPayment,
  isDelayedStart,
  type PaymentInTemporal,
  type ReadContext,
} from './find-payment.js';
import { isRecordFinal, recordedContent } from './recorded-payments.js';
import { callTemporal, hasEnded, queryTemporal, waitForAnswer } from './temporal-calls.js';

/** A payment with its state and timeline. */
export interface PaymentContent extends PaymentResult, EndedState {}

/** State of a payment, with its content. */
export type ReadPayment = PaymentContent &
  (
    | { readonly stands: 'running' }
    /** It has ended, and can be reopened. */
    | { readonly stands: 'ended' }
    /**
     * Its workflow was stopped by hand, or was open when last recorded and is lost: nobody follows it any more. It is
     * in REVIEW unless it is final, and due notifications are given up. `at`: the time of the stop, or of the last
     * record, in ms since the epoch.
     */
    | { readonly stands: 'stopped' | 'lost'; readonly at: number }
  );

/**
 * Time limit for a payment's answer about its state. It can't answer while it asks the provider within its workflow
 * task, for up to the 8 s after which the worker extends the task.
 */
const STATE_LIMIT_MS = 9_000;

/** The same, once the time for the response to a request is over. */
export const LAST_LOOK_MS = 1_000;

/** A description is reliable for this long about a pending workflow task. */
const FRESH_MS = 50;

/**
 * Everybody who waits for the outcome shares this update, so all of them cost the workflow's history as much as one.
 */
const OUTCOME_UPDATE_ID = 'outcome';

/** Pause between two waits of which the first ended early: time for a new run to begin. */
const NEXT_RUN_PAUSE_MS = 100;

/** Pause between two looks at a payment that was final and has been reopened in the same run. */
const REOPENED_PAUSE_MS = 1_000;

/**
 * Reads a payment's state: queries a running payment, and finds an ended one's content in its result. One that no
 * worker has taken is in its initial state.
 *
 * @param limitMs how long it may take to answer
 * @throws {Unavailable | RecordUnreadable} `Unavailable` also when no worker answers for one that must be queried.
 */
export async function readPayment(
  context: ReadContext,
  found: FoundPayment,
  limitMs: number = STATE_LIMIT_MS,
): Promise<ReadPayment> {
  if (found.running) return { stands: 'running', ...(await readRunning(context, found, limitMs)) };
  const ended = await readEnded(context, found);
  if (ended !== undefined) return { stands: 'ended', ...ended };
  if (found.kind === 'recorded') {
    const content = recordedContent(found);
    const { closedAt } = found.record;
    return closedAt === undefined
      ? asStopped('lost', content, Date.parse(content.payment.updatedAt))
      : asStopped('stopped', content, closedAt);
  }
  const { client } = context;
  const query = <T>(call: () => Promise<T>) => callTemporal(client, call, limitMs);
  const left = await readFromTemporal(client, found, (call) => readStopped(client, runOf(found), call, query));
  return asStopped('stopped', left, found.description.closeTime?.getTime() ?? found.describedAt);
}

/**
 * Reads a payment for a caller that changes nothing. A payment that waits for its first turn at a worker is shown as it
 * was created, so that its merchant needn't wait for that, too.
 *
 * @throws {Unavailable | RecordUnreadable}
 */
export async function viewPayment(context: ReadContext, found: FoundPayment): Promise<ReadPayment> {
  try {
    return await readPayment(context, found);
  } catch (error) {
    if (!found.running || !(error instanceof Unavailable) || !(await hasRunNoTask(context, found))) throw error;
    return { stands: 'running', ...(await readAtStart(context, found)) };
  }
}

/** Reads the payment's latest run, which may have begun or ended since it was found. */
export async function readLatest(context: ReadContext, found: FoundPayment, limitMs?: number): Promise<ReadPayment> {
  return await readPayment(context, await findLatest(context, found), limitMs);
}

async function findLatest(context: ReadContext, found: FoundPayment): Promise<FoundPayment> {
  return (await findPayment(context, found.id)) ?? found;
}

/**
 * Reads a payment that has ended; `undefined` when its workflow was stopped, and could leave no state.
 *
 * @throws {Unavailable | RecordUnreadable}
 */
export async function readEnded(
  { client }: Pick<ReadContext, 'client'>,
  found: FoundPayment,
): Promise<PaymentContent | undefined> {
  if (found.kind === 'recorded') return isRecordFinal(found.record) ? recordedContent(found) : undefined;
  return await readFromTemporal(client, found, (call) => readEnd(found.handle, call));
}

/** Reads the input of a payment's run. @throws {Unavailable | RecordUnreadable} */
export async function inputOf({ client }: ReadContext, found: PaymentInTemporal): Promise<PaymentInput> {
  return await readFromTemporal(client, found, (call) => readInput(client, runOf(found), call));
}

/** Queries a running payment once it has no pending workflow task, in which it couldn't answer. */
async function readRunning(context: ReadContext, found: PaymentInTemporal, limitMs: number): Promise<PaymentContent> {
  if (isDelayedStart(found)) return await readAtStart(context, found);
  const { id, handle, description, describedAt } = found;
  const deadline = Date.now() + limitMs;
  let fresh = Date.now() - describedAt <= FRESH_MS ? description : undefined;
  const untilIdle = async () => {
    await context.descriptions.untilIdle(id, deadline, fresh);
    fresh = undefined;
  };
  return await queryTemporal(context.client, () => handle.query(paymentQuery), deadline, untilIdle);
}

async function readAtStart({ client }: ReadContext, found: PaymentInTemporal): Promise<PaymentContent> {
  return await readFromTemporal(client, found, (call) => readStart(client, runOf(found), call));
}

/** Reads what a payment's workflow has left, by calls to Temporal. @throws {Unavailable | RecordUnreadable} */
async function readFromTemporal<T>(
  client: Client,
  { id }: PaymentInTemporal,
  read: (call: MakeCall) => Promise<T>,
): Promise<T> {
  try {
    return await read((call) => callTemporal(client, call));
  } catch (error) {
    throw error instanceof UnreadableState ? new RecordUnreadable(id, error) : error;
  }
}

/** Reports whether no worker has done anything for the payment's run yet. @throws {Unavailable} */
async function hasRunNoTask({ client }: ReadContext, found: PaymentInTemporal): Promise<boolean> {
  const { id: workflowId, runId } = runOf(found);
  return await callTemporal(client, () => hasCompletedNoTask(client, { workflowId, runId }));
}

/** The latest run, while the payment runs. */
function runOf({ id, running, runId, createdAt, description }: PaymentInTemporal): RunToRead {
  return { id, runId: running ? undefined : runId, createdAt, startedAt: description.startTime.getTime() };
}

function asStopped(stands: 'stopped' | 'lost', content: PaymentContent, at: number): ReadPayment {
  const { payment, state } = content;
  const notifications = state.notifications.map((one) => givenUp(one, at));
  return { ...content, stands, at, payment: inReviewUnlessFinal(payment), state: { ...state, notifications } };
}

/** Marks a due notification as abandoned: a stopped or lost workflow sends nothing. */
function givenUp(notification: PaymentNotification, at: number): PaymentNotification {
  if (notification.delivery.kind !== 'due') return notification;
  const { lastTriedAt, lastError } = notification.delivery;
  return { ...notification, delivery: { kind: 'abandoned', at, lastTriedAt, lastError } };
}

/**
 * Waits until the payment is final. Returns it as it is when `waitMs` have passed, the caller hangs up or the process
 * is to stop.
 *
 * @throws {Unavailable}
 */
export async function waitUntilFinal(
  context: ReadContext & { readonly shutdown: Shutdown },
  found: PaymentInTemporal,
  waitMs: number,
  hangUp: AbortSignal,
): Promise<ReadPayment> {
  const outcome = await context.shutdown.reads.within(
    waitMs,
    (signal) => awaitOutcome(context, found, waitMs, signal),
    hangUp,
  );
  return outcome ?? (await viewPayment(context, await findLatest(context, found)));
}

/** A read that may be repeated: a query that comes just as its workflow ends can be lost. */
async function undefinedWhenUnavailable(look: Promise<ReadPayment>): Promise<ReadPayment | undefined> {
  return await look.catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
}

async function awaitOutcome(
  context: ReadContext,
  found: PaymentInTemporal,
  limitMs: number,
  signal: AbortSignal,
): Promise<ReadPayment | undefined> {
  while (!signal.aborted) {
    try {
      const answer = await waitForAnswer(context.client, signal, limitMs, () =>
        found.handle.executeUpdate(outcomeUpdate, { updateId: OUTCOME_UPDATE_ID }),
      );
      if (answer === undefined) return undefined;
      // The sender of the update gets the answer of its completion, which may be out of date.
      const now = await undefinedWhenUnavailable(readLatest(context, found));
      if (now?.payment.final) return now;
      const pauseMs = answer.value.payment.final ? REOPENED_PAUSE_MS : NEXT_RUN_PAUSE_MS;
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    } catch (error) {
      if (hasEnded(error)) return undefined;
      throw error;
    }
  }
  return undefined;
}
