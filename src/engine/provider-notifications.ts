import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { PAYMENT_ID_PREFIX, type PaymentId } from '../payments/words/payment-id.js';
import { type PaymentState, statusOf, transIdOf } from '../payments/words/payment-state.js';
import {
  type Hint,
  hintSignal,
  type MatchedNotification,
  matchedSignal,
  type PaymentWorkflow,
  UNMATCHED_WORKFLOW,
  type UnmatchedNotification,
  unmatchedQuery,
  unmatchedSignal,
} from '../workflows/messages.js';
import { Unavailable } from './errors.js';
import { findInTemporal, findPayment, isDelayedStart, type ReadContext } from './find-payment.js';
import type { Links } from './links.js';
import type { NotificationLimits } from './notification-limits.js';
import { inputOf, readEnded } from './read-payment.js';
import { isLatest, reopenWithHint } from './reopen-payment.js';
import type { MadeLink } from './start-payment.js';
import { callTemporal, queryTemporal, sendWithStart } from './temporal-calls.js';
import { type WorkflowStart, workflowOptions, workflowTypeOf } from './workflow-start.js';

/** Dependencies of passing on the provider's notifications. */
export interface HintContext extends ReadContext {
  readonly taskQueue: string;
  readonly logger: Logger;
  readonly limits: Pick<NotificationLimits, 'reopenings'>;
  readonly madeLinks: Links<MadeLink>;
}

/**
 * The result of a hint. `taken`: a running payment has it. For an ended payment, `agrees`: it agrees with the known
 * outcome; `late`: the payment asks the provider again. `unknown`: there is no such payment, or somebody has stopped
 * its workflow; an operator has to see the hint.
 */
export type HintDelivery = 'taken' | 'agrees' | 'late' | 'unknown';

/** Tries to deliver a hint whose payment begins or ends at each of them. */
const MAX_OVERTAKEN_TRIES = 4;
const OVERTAKEN_PAUSE_MS = 20;

/** Time limit for reading the notifications that match no payment. */
const UNMATCHED_LIMIT_MS = 9_000;

/**
 * Delivers the provider's hint to a payment. Resolves only once Temporal has stored it.
 *
 * @throws {Unavailable}
 * @throws {TooManyNotifications} when an ended payment is reopened too often.
 */
export async function deliverHint(context: HintContext, id: PaymentId, hint: Hint): Promise<HintDelivery> {
  for (let tries = 0; tries < MAX_OVERTAKEN_TRIES; tries++) {
    const delivery = (await signalRunning(context, id, hint)) ?? (await deliverToEnded(context, id, hint));
    if (delivery !== undefined) return delivery;
    await pause(OVERTAKEN_PAUSE_MS);
  }
  throw new Unavailable(undefined, new Error('the payment began or ended at each try'));
}

/** Delivers a hint to a running payment; `undefined` when it doesn't run. */
async function signalRunning(context: HintContext, id: PaymentId, hint: Hint): Promise<'taken' | undefined> {
  const { client } = context;
  try {
    const route = await routeTo(context, id);
    if (route === undefined) return undefined;
    await callTemporal(client, () =>
      route === 'signal' ? client.workflow.getHandle(id).signal(hintSignal, hint) : startWithHint(context, route, hint),
    );
    return 'taken';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError)
      return undefined;
    throw error;
  }
}

/**
 * Returns the way of a hint to a running payment: a signal, or a signal with its start, while the payment waits for
 * that; `undefined` when there is none. A payment that isn't there yet is never signalled: if the signal came right
 * behind the start, the payment would wait with it for its first poll.
 */
async function routeTo(context: HintContext, id: PaymentId): Promise<WorkflowStart | 'signal' | undefined> {
  if (!id.startsWith(PAYMENT_ID_PREFIX.collection)) return 'signal';
  // The provider may send a notification about a link before its payment has started.
  await context.madeLinks.untilOpened(id);
  const made = context.madeLinks.takeForFirstHint(id);
  if (made !== undefined) return made.start;
  const found = await findInTemporal(context, id);
  if (found === undefined || !isDelayedStart(found)) return found && 'signal';
  const { merchant, createdAt } = found;
  return { input: await inputOf(context, found), merchant, createdAt, taskQueue: context.taskQueue };
}

/**
 * Delivers a hint to a payment that waits for its start. A signal alone would wait with it; a signal with a start
 * begins it. If Temporal has lost the payment, this starts it again, with the link that its payer holds.
 */
async function startWithHint({ client }: HintContext, start: WorkflowStart, hint: Hint): Promise<void> {
  await client.workflow.signalWithStart<PaymentWorkflow, [Hint]>(workflowTypeOf(start.input.order), {
    ...workflowOptions(start),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    signal: hintSignal,
    signalArgs: [hint],
  });
}

/**
 * Delivers a hint to a payment that has ended. It proves nothing either: it can only make the payment ask the provider
 * again. `undefined` when the payment has been reopened meanwhile.
 */
async function deliverToEnded(context: HintContext, id: PaymentId, hint: Hint): Promise<HintDelivery | undefined> {
  const found = await findPayment(context, id);
  if (found === undefined) return await restartLost(context, id, hint);
  if (found.running) return undefined;

  const ended = await readEnded(context, found);
  if (ended === undefined) {
    context.logger.warn({ paymentId: id, transId: hint.transId }, 'late hint for a payment that was stopped');
    return 'unknown';
  }
  if (agrees(ended.state, hint)) return 'agrees';
  if (!(await isLatest(context, found))) return undefined;
  await context.limits.reopenings.pass(id);
  return (await reopenWithHint(context, found, ended, hint)) ? 'late' : undefined;
}

/**
 * Delivers a hint to a payment that isn't found: one that Temporal has lost is started again, if this process has made
 * its link.
 */
async function restartLost(context: HintContext, id: PaymentId, hint: Hint): Promise<HintDelivery | undefined> {
  const made = context.madeLinks.find(id);
  if (made === undefined) return 'unknown';
  try {
    await callTemporal(context.client, () => startWithHint(context, made.start, hint));
    return 'taken';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

function agrees(state: PaymentState, { transId = transIdOf(state), status }: Hint): boolean {
  return transId === transIdOf(state) && status === statusOf(state);
}

/**
 * Keeps a notification that matches no payment. Resolves only once Temporal has stored it.
 *
 * @throws {Unavailable}
 */
export async function keepUnmatched(
  { client, taskQueue }: Pick<HintContext, 'client' | 'taskQueue'>,
  notification: UnmatchedNotification,
): Promise<void> {
  const { id: workflowId, type } = UNMATCHED_WORKFLOW;
  await sendWithStart(client, () =>
    client.workflow.signalWithStart(type, {
      workflowId,
      taskQueue,
      args: [],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      signal: unmatchedSignal,
      signalArgs: [notification],
      staticSummary: "The provider's notifications that match no payment",
    }),
  );
}

/** Drops a kept notification, because its payment has it now. @throws {Unavailable} */
export async function dropMatched(
  { client }: Pick<HintContext, 'client'>,
  { at, transId, externalId }: MatchedNotification,
): Promise<void> {
  const kept = client.workflow.getHandle(UNMATCHED_WORKFLOW.id);
  await callTemporal(client, () => kept.signal(matchedSignal, { at, transId, externalId }));
}

/**
 * The latest notifications that match no payment, newest first.
 *
 * @throws {Unavailable}
 */
export async function readUnmatched({ client }: Pick<ReadContext, 'client'>): Promise<UnmatchedNotification[]> {
  const handle = client.workflow.getHandle(UNMATCHED_WORKFLOW.id);
  try {
    const kept = await queryTemporal(client, () => handle.query(unmatchedQuery), Date.now() + UNMATCHED_LIMIT_MS);
    return [...kept].reverse();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
