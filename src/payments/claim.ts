import { disagreement } from './disagreement.js';
import { isFinal } from './final.js';
import type { TransId } from './payment-id.js';
import { accepted, type Change, observed, type PaymentState, underReview } from './payment-state.js';
import type { ProviderStatus, Transaction } from './transaction.js';

/** Transactions that may wait to be asked about; a flood of forged notifications names no more than that. */
const MOST_CLAIMS = 5;

/** Least time between two questions about transactions that notifications name, in ms. */
export const CLAIM_PAUSE_MS = 60_000;

/**
 * The payment with a notification's claim taken down, if it says something that isn't known. A notification about
 * the payment's own transaction brings the next look forward, unless the payment is final: then only one that
 * contradicts the outcome is worth a question.
 */
export function withClaim(state: PaymentState, transId: TransId, status: ProviderStatus): PaymentState {
  const own = transId === state.transId;
  if (own && (!state.final || status === state.status)) return state;
  if (state.claims.includes(transId) || state.claims.length >= MOST_CLAIMS) return state;
  return { ...state, claims: [...state.claims, transId] };
}

/** What the provider's word on a claimed transaction makes of the payment. */
export function claimed(state: PaymentState, transaction: Transaction, now: number): Change {
  const { transId, externalId, status } = transaction;
  if (externalId !== undefined && externalId !== state.order.id) return { state };
  if (transId === state.transId) {
    return state.final ? contradicted(state, transaction, now) : observed(state, transaction, now);
  }
  // Nobody can tell for which payment it was made, and nothing but a notification says it was this one.
  if (externalId === undefined || !matters(state, status)) return { state };
  if (state.transId === undefined && state.ambiguity !== undefined && !state.final) {
    return adopted(state, transaction, now);
  }
  return reopened(state, `the provider has another transaction for it: ${transId} (${status})`, now);
}

/** A payment whose outcome turns out to be in doubt: it is not final any more, until a person has decided. */
export function reopened(
  { rejection: _untrue, ...state }: PaymentState,
  reason: string,
  now: number,
): Change {
  return underReview({ ...state, final: false }, reason, now, true);
}

function contradicted(state: PaymentState, transaction: Transaction, now: number): Change {
  const wrong = disagreement(state.order, transaction);
  if (wrong !== undefined) return reopened(state, wrong, now);
  const { status } = transaction;
  if (status === state.status || !isFinal(state.order, status)) return { state };
  return reopened(state, `it was ${state.status}, and the provider now says ${status}`, now);
}

function adopted(state: PaymentState, transaction: Transaction, now: number): Change {
  const wrong = disagreement(state.order, transaction);
  if (wrong !== undefined) return underReview(state, wrong, now);
  return observed(accepted(state, transaction, now).state, transaction, now);
}

/** Whether money moves or has moved: not with what has failed, nor with a link that nobody was given. */
function matters({ order, ambiguity, transId }: PaymentState, status: ProviderStatus): boolean {
  if (order.method === 'link') return status === 'SUCCESSFUL' || status === 'PENDING';
  return status !== 'FAILED' || (ambiguity !== undefined && transId === undefined);
}
