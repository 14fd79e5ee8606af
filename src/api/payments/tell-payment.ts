import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentResult } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { currentState, type Found, findPayment } from './find-payment.js';
import type { PaymentWorkflow } from './payment-workflow.js';
import { ENDED_MEANWHILE, refusalOf, waitFor, wordsOf } from './temporal-calls.js';

/** What became of telling a payment to do something. */
export type Told =
  | { readonly kind: 'done'; readonly result: PaymentResult }
  /** It had ended before it could be told. */
  | { readonly kind: 'ended'; readonly result: PaymentResult }
  /** It is at it, and has not finished within the time that an answer may take. */
  | { readonly kind: 'underway'; readonly result: PaymentResult }
  | {
      readonly kind: 'refused';
      readonly why: Refusal;
      /** The payment's own words for it. */
      readonly words: string;
      readonly result: PaymentResult;
    };

export type Refusal =
  | 'not_a_link'
  | 'not_expirable'
  | 'not_initiated'
  | 'not_cancelable'
  | 'not_under_review'
  | 'resolution_refused';

const refusals = new Map<string | undefined, Refusal>([
  ['NotALink', 'not_a_link'],
  ['NotExpirable', 'not_expirable'],
  ['NotInitiated', 'not_initiated'],
  ['NotUnderReview', 'not_under_review'],
  ['ResolutionRefused', 'resolution_refused'],
]);

/** ms that a payment gets to say how it stands when the time to answer is over already. */
const GLANCE = 1_000;

/**
 * Sends a payment an update and waits for its answer as long as a merchant's request may take.
 *
 * @param update sends it
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function tellPayment(
  api: Api,
  found: Found,
  update: (handle: WorkflowHandle<PaymentWorkflow>) => Promise<PaymentResult>,
): Promise<Told> {
  // Asked first, because a payment that does what it was told may be deaf until it is done.
  const before = await currentState(api, found);
  // A payment that is final may live on until its merchant has been told, but does nothing else any more.
  if (!found.running || before.payment.final) return { kind: 'ended', result: before };

  const now = async (limitMs?: number) =>
    await currentState(api, (await findPayment(api, found.id)) ?? found, limitMs);
  try {
    const waited = await api.shutdown.commands.within(api.answerWithinMs, (signal) =>
      waitFor(api.client, signal, api.answerWithinMs, () => update(found.handle)),
    );
    if (waited !== undefined) return { kind: 'done', result: waited.value };
    return { kind: 'underway', result: await now(GLANCE).catch(() => before) };
  } catch (error) {
    const type = refusalOf(error);
    const why = refusals.get(type);
    if (why !== undefined) return { kind: 'refused', why, words: wordsOf(error), result: await now() };
    if (error instanceof WorkflowNotFoundError || type === ENDED_MEANWHILE) {
      return { kind: 'ended', result: await now() };
    }
    throw error;
  }
}
