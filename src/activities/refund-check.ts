import { setTimeout as pause } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { contradictionOf, type Standing } from '../payments/machine/refunds.js';
import { COLLECTION_LOOK_MS } from '../payments/machine/sending.js';
import type { PayoutOrder } from '../payments/words/order.js';
import type { InitiationOutcome, StatusAnswer } from '../payments/words/outcome.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';

/** A payout that refunds a collection. */
export type RefundOrder = PayoutOrder & { readonly refundOf: PaymentId };

/** The collections of refunds, as they are now. */
export interface RefundedCollections {
  /** @throws when the collection, or one of its refunds, can't be read */
  standingOf(refund: RefundOrder): Promise<Standing>;
  /** Has a collection ask the provider about its transaction: the provider contradicts its outcome. */
  doubt(collection: PaymentId, transId: TransId): Promise<void>;
}

/**
 * Tells why a refund isn't sent, right before it would be: what its order was checked against may be long ago. The
 * provider is asked, too, whether it still shows as paid what was collected. `undefined` when it may be sent.
 *
 * A refund is `withheld` for good when its collection certainly doesn't stand. In doubt it is `notSent`: it is tried
 * again.
 *
 * @param signal ends the look: the worker has to stop, and may be the one that would answer
 */
export async function whyNotRefunded(
  refund: RefundOrder,
  collections: RefundedCollections,
  askStatus: (transId: TransId) => Promise<StatusAnswer>,
  signal: AbortSignal,
): Promise<InitiationOutcome | undefined> {
  const isOver = new AbortController();
  const ends = AbortSignal.any([signal, isOver.signal]);
  const tooLate = pause(COLLECTION_LOOK_MS, SILENT, { signal: ends }).catch(() => SILENT);
  try {
    const standing = await Promise.race([look(refund, collections, askStatus), tooLate]);
    if (standing.kind === 'stands') return undefined;
    return standing.kind === 'gone'
      ? { kind: 'withheld', failureCode: 'not_refundable', reason: `nothing was sent: ${standing.why}` }
      : { kind: 'notSent', reason: standing.why };
  } finally {
    isOver.abort();
  }
}

/** Nothing is known, and merchants read why. */
const SILENT: Standing = { kind: 'doubtful', why: "the collection that it refunds can't be read at the moment" };

async function look(
  refund: RefundOrder,
  collections: RefundedCollections,
  askStatus: (transId: TransId) => Promise<StatusAnswer>,
): Promise<Standing> {
  const { log } = Context.current();
  try {
    const standing = await collections.standingOf(refund);
    if (standing.kind !== 'stands') return standing;
    for (const paid of standing.paid) {
      const answer = await askStatus(paid.transId);
      if (answer.kind !== 'found') {
        const why = `the provider doesn't confirm the transaction ${paid.transId}, which was collected`;
        return { kind: 'doubtful', why };
      }
      const contradiction = contradictionOf(paid, answer.transaction, standing.toSpare);
      if (contradiction === undefined) continue;
      // The refund isn't sent in any case, and tells why.
      await collections.doubt(refund.refundOf, paid.transId).catch((error: unknown) => {
        log.warn('a collection that the provider contradicts could not be told so', { error });
      });
      return contradiction;
    }
    return standing;
  } catch (error) {
    log.warn("a refund was not sent: its collection can't be read", { error });
    return SILENT;
  }
}
