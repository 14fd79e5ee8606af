import { IDENTIFIER_PATTERN } from './limits.js';

/**
 * Names one payment everywhere: the API's `id`, the Temporal workflow id, and the provider's `externalId`.
 * Starts with `col_` (collection) or `pay_` (payout) and always matches the provider's identifier pattern.
 */
export type PaymentId = string & { readonly __brand: 'PaymentId' };

/** Names one transaction at the provider. Never interchangeable with a {@link PaymentId}. */
export type TransId = string & { readonly __brand: 'TransId' };

export const PAYMENT_KINDS = ['collection', 'payout'] as const;

/** The two directions money can take. */
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

export const PAYMENT_ID_PREFIX: Readonly<Record<PaymentKind, string>> = {
  collection: 'col_',
  payout: 'pay_',
};

/** Reads a payment id out of text of unknown origin; `undefined` when it can't be one. */
export function parsePaymentId(text: unknown): PaymentId | undefined {
  if (typeof text !== 'string' || !IDENTIFIER_PATTERN.test(text)) return undefined;
  const prefixed = Object.values(PAYMENT_ID_PREFIX).some(
    (prefix) => text.startsWith(prefix) && text.length > prefix.length,
  );
  return prefixed ? (text as PaymentId) : undefined;
}
