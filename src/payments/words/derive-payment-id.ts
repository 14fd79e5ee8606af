import { createHash, randomBytes } from 'node:crypto';
import { PAYMENT_ID_PREFIX, type PaymentId, type PaymentKind } from './payment-id.js';

/** 128 bits: an accidental collision between two keys is not to be expected in the life of the system. */
const ID_BYTES = 16;

/**
 * Derives the payment id from a merchant's Idempotency-Key, so that a repeated request finds the payment that the first
 * one started. Lengths are prefixed, so that no two pairs of merchant and key run together.
 *
 * @param merchant the merchant's name, so that two merchants' equal keys never meet
 */
export function derivePaymentId(kind: PaymentKind, merchant: string, idempotencyKey: string): PaymentId {
  const digest = createHash('sha256').update(`${merchant.length}:${merchant}:${idempotencyKey}`).digest();
  return withPrefix(kind, digest.subarray(0, ID_BYTES));
}

/** Makes a payment id for a request without an Idempotency-Key: repeating the request doesn't find the same payment. */
export function randomPaymentId(kind: PaymentKind): PaymentId {
  return withPrefix(kind, randomBytes(ID_BYTES));
}

function withPrefix(kind: PaymentKind, bytes: Buffer): PaymentId {
  return `${PAYMENT_ID_PREFIX[kind]}${bytes.toString('hex')}` as PaymentId;
}
