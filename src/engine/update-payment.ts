import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type { Actor, Approve } from '../payments/machine/events.js';
import type { Payment } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Shutdown } from '../process/shutdown.js';
import {
  approveUpdate,
  expireUpdate,
  type PaymentResult,
  type PaymentWorkflow,
  type PayoutRejection,
  type RefusalDetails,
  rejectPayoutUpdate,
} from '../workflows/messages.js';
import { TooManyUpdates } from './errors.js';
import type { FoundPayment, ReadContext } from './find-payment.js';
import { LAST_LOOK_MS, readLatest, readPayment } from './read-payment.js';
import { failureDetailsOf, failureMessageOf, failureTypeOf, hasEnded, waitForAnswer } from './temporal-calls.js';

/** Dependencies of updates. */
export interface UpdateContext extends ReadContext {
  readonly taskQueue: string;
  readonly updates: SharedUpdates;
  readonly shutdown: Shutdown;
  /** Time after which a POST is answered 202 while the provider has not answered, in ms. */
  readonly answerWithinMs: number;
}

/** The result of an update. */
export type UpdateResult =
  | { readonly kind: 'done'; readonly result: PaymentResult }
  /** The payment had ended before. */
  | { readonly kind: 'ended'; readonly result: PaymentResult }
  /** It was not finished within the time for the response. */
  | { readonly kind: 'underway'; readonly result: PaymentResult }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      /** The payment's own reason. */
      readonly message: string;
      /** The `force` with which the request would be accepted. */
      readonly insist?: RefusalDetails | undefined;
      readonly result: PaymentResult;
    };

/** Codes of the problems that payments refuse requests with. */
export type RefusalCode =
  | 'not_a_link'
  | 'not_expirable'
  | 'not_initiated'
  | 'not_cancelable'
  | 'not_under_review'
  | 'resolution_refused'
  | 'not_held'
  | 'same_person'
  | 'digest_mismatch';

const REFUSALS = new Map<string | undefined, RefusalCode>([
  ['NotALink', 'not_a_link'],
  ['NotExpirable', 'not_expirable'],
  ['NotInitiated', 'not_initiated'],
  ['NotUnderReview', 'not_under_review'],
  ['ResolutionRefused', 'resolution_refused'],
  ['NotHeld', 'not_held'],
  ['SamePerson', 'same_person'],
  ['OtherDigest', 'digest_mismatch'],
]);

/**
 * Sends a payment an update and waits for its answer as long as the response to a request may take.
 *
 * @throws {Unavailable}
 */
export async function updatePayment(
  context: UpdateContext,
  found: FoundPayment,
  update: (handle: WorkflowHandle<PaymentWorkflow>) => Promise<PaymentResult>,
): Promise<UpdateResult> {
  // Read first, because a payment that carries out an update may not answer until it is done.
  const before = await readPayment(context, found);
  // A final payment may still be notified, or checked for a day, and takes no other request.
  if (found.kind === 'recorded' || !found.running || before.payment.final) {
    return { kind: 'ended', result: before };
  }

  const { client, answerWithinMs, shutdown } = context;
  try {
    const answer = await shutdown.commands.within(answerWithinMs, (signal) =>
      waitForAnswer(client, signal, answerWithinMs, () => update(found.handle)),
    );
    if (answer !== undefined) return { kind: 'done', result: answer.value };
    return { kind: 'underway', result: await readLatest(context, found, LAST_LOOK_MS).catch(() => before) };
  } catch (error) {
    const code = REFUSALS.get(failureTypeOf(error));
    if (code === undefined && !hasEnded(error)) throw error;
    const result = await readLatest(context, found);
    if (code === undefined) return { kind: 'ended', result };
    const insist = failureDetailsOf(error) as RefusalDetails | undefined;
    return { kind: 'refused', code, message: failureMessageOf(error), insist, result };
  }
}

/** Expires a link, and withdraws what was not sent yet. @throws {EngineError} as {@link updatePayment}. */
export function endPayment(context: UpdateContext, found: FoundPayment, by: Actor): Promise<UpdateResult> {
  return updateTogether(context, found, 'expire', expireUpdate, { by });
}

/** Approves a held payout for a person. @throws {EngineError} as {@link updatePayment}. */
export function approvePayout(context: UpdateContext, found: FoundPayment, approval: Approve): Promise<UpdateResult> {
  return updateTogether(context, found, 'approve', approveUpdate, { ...approval, at: Date.now() }, approval);
}

/** Stops a held payout for a person. @throws {EngineError} as {@link updatePayment}. */
export function rejectPayout(
  context: UpdateContext,
  found: FoundPayment,
  rejection: PayoutRejection,
): Promise<UpdateResult> {
  return updateTogether(context, found, 'reject', rejectPayoutUpdate, rejection);
}

/**
 * Sends an update that all share who ask for the same at the same time.
 *
 * @param terms what those who ask for the same have in common
 */
function updateTogether<Argument extends object>(
  context: UpdateContext,
  found: FoundPayment,
  name: string,
  update: UpdateDefinition<PaymentResult, [Argument]>,
  argument: Argument,
  terms: object = argument,
): Promise<UpdateResult> {
  const args: [Argument] = [argument];
  return updatePayment(context, found, (handle) =>
    context.updates.send(found.id, name, (updateId) => handle.executeUpdate(update, { updateId, args }), terms),
  );
}

/** Reports whether the payment ended because its merchant withdrew it before anything was sent. */
export function isWithdrawn({ failureCode }: Payment): boolean {
  return failureCode === 'withdrawn';
}

/**
 * Number of different updates that merchants may have in flight for one payment. Temporal takes ten for a workflow, and
 * an operator's decision must always find room among them.
 */
export const MAX_UPDATES = 4;

interface SharedUpdate {
  readonly updateId: string;
  /** Requests that wait for it. */
  waiting: number;
}

/**
 * The updates that this process has in flight for merchants. Requests for the same thing at the same time
 * share one update of the workflow, each with a wait of its own.
 */
export class SharedUpdates {
  readonly #inFlight = new Map<PaymentId, Map<string, SharedUpdate>>();

  /**
   * Sends an update, or joins one with the same name and terms that is in flight for the payment.
   *
   * @param name what is asked for; requests with one name must mean the same
   * @param send sends an update with this id, which Temporal carries out once, no matter who sends it
   * @param terms who asks, and for what else than the name says
   * @throws {TooManyUpdates} when the payment has {@link MAX_UPDATES} others in flight.
   */
  async send<T>(id: PaymentId, name: string, send: (updateId: string) => Promise<T>, terms?: object): Promise<T> {
    const updates = this.#inFlight.get(id) ?? new Map<string, SharedUpdate>();
    const key = JSON.stringify([name, terms]);
    const joined = updates.get(key);
    if (joined === undefined && updates.size >= MAX_UPDATES) throw new TooManyUpdates();
    // The id isn't encrypted at Temporal, so it has none of the terms.
    const update = joined ?? { updateId: `${name}.${randomUUID()}`, waiting: 0 };
    update.waiting++;
    updates.set(key, update);
    this.#inFlight.set(id, updates);
    const leave = () => {
      if (updates.get(key) === update) updates.delete(key);
      if (updates.size === 0) this.#inFlight.delete(id);
    };
    try {
      const answer = await send(update.updateId);
      // Later requests need a newer answer than this one.
      leave();
      return answer;
    } finally {
      update.waiting--;
      if (update.waiting === 0) leave();
    }
  }
}
