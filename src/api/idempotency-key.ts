import { derivePaymentId, randomPaymentId } from '../payments/derive-payment-id.js';
import type { PaymentId, PaymentKind } from '../payments/payment-id.js';
import { ApiError } from './problem.js';

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** The id that a new payment gets, and whether a repetition of the request would lead to the same one. */
export interface ChosenId {
  readonly id: PaymentId;
  readonly repeatable: boolean;
}

/**
 * With an Idempotency-Key, the id that this owner's key always leads to; without one, a new id. A key holds for one
 * kind of payment: the same one may be used for a collection and for a payout.
 *
 * @param keys the values of every Idempotency-Key header sent. Two are refused: joined with a comma, as HTTP would have
 * it, they are a key that nobody chose, and the payment could be made a second time under either of them
 * @throws {ApiError} `invalid_idempotency_key`.
 */
export function choosePaymentId(kind: PaymentKind, owner: string, keys: readonly string[]): ChosenId {
  const [key, ...more] = keys;
  if (key === undefined) return { id: randomPaymentId(kind), repeatable: false };
  if (more.length > 0) {
    throw new ApiError('invalid_idempotency_key', 'Send one Idempotency-Key header, not several.');
  }
  if (!PRINTABLE.test(key)) {
    throw new ApiError(
      'invalid_idempotency_key',
      'An Idempotency-Key has 1 to 255 printable ASCII characters.',
    );
  }
  return { id: derivePaymentId(kind, owner, key), repeatable: true };
}
