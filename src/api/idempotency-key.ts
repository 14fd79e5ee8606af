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
 * @throws {ApiError} `invalid_idempotency_key`.
 */
export function choosePaymentId(kind: PaymentKind, owner: string, key: string | undefined): ChosenId {
  if (key === undefined) return { id: randomPaymentId(kind), repeatable: false };
  if (!PRINTABLE.test(key)) {
    throw new ApiError(
      'invalid_idempotency_key',
      'An Idempotency-Key has 1 to 255 printable ASCII characters.',
    );
  }
  return { id: derivePaymentId(kind, owner, key), repeatable: true };
}
