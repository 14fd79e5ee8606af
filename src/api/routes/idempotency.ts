import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import { z } from 'zod';
import { derivePaymentId, randomPaymentId } from '../../payments/words/derive-payment-id.js';
import type { PaymentId, PaymentKind } from '../../payments/words/payment-id.js';
import { ApiError } from '../api-error.js';
import type { ApiRequest } from '../route.js';

/**
 * A key as a string of structured fields (RFC 9651), which the draft of the header asks for: in quotes, with escapes.
 */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/** HTTP strips spaces at either end. A key means the same with and without quotes. */
export const idempotencyKey = z
  .string()
  .max(512, { abort: true })
  .transform((given) => QUOTED.exec(given)?.[1]?.replace(/\\(.)/g, '$1') ?? given)
  .pipe(z.string().regex(/^[!-~](?:[ -~]{0,253}[!-~])?$/))
  .meta({
    description:
      'A different key for each payment that you want to make: 1 to 255 printable ASCII characters, with or without quotes around them. Repeating a request with the same key never pays twice: it returns the payment that the first request created, as it is now',
    pattern: '^[!#-~](?:[ -~]{0,253}[!-~])?$',
    examples: ['order-1001'],
  });

/**
 * The id of a new payment: derived from the merchant and the Idempotency-Key; random for a collection without a key. A
 * payout needs one. A key can be used once for each kind of payment.
 *
 * @param headersOf the values of a header. Two keys are refused: joined with a comma, as HTTP allows, they would be a
 * third key, and the payment could be created again with either of them
 * @returns the id, and whether repeating the request leads to the same id
 * @throws {ApiError} `idempotency_key_required`, `invalid_idempotency_key`.
 */
export function choosePaymentId(
  kind: PaymentKind,
  merchant: string,
  headersOf: ApiRequest['headers'],
): { readonly id: PaymentId; readonly repeatable: boolean } {
  const [key, ...more] = headersOf('idempotency-key');
  if (key === undefined) {
    const misspelt = MISSPELT.find((name) => headersOf(name).length > 0);
    if (misspelt !== undefined) throw keyMisspelt(misspelt);
    if (kind === 'payout') throw keyRequired();
    return { id: randomPaymentId(kind), repeatable: false };
  }
  if (more.length > 0) {
    throw new ApiError('invalid_idempotency_key', 'Send only one Idempotency-Key header.');
  }
  const parsed = idempotencyKey.safeParse(key);
  if (!parsed.success) {
    throw new ApiError(
      'invalid_idempotency_key',
      `An Idempotency-Key must have 1 to 255 printable ASCII characters, and no space at its ends. This one has ${key.length} characters.`,
    );
  }
  return { id: derivePaymentId(kind, merchant, parsed.data), repeatable: true };
}

/** Whoever sends one of these counts on it, and the request would pay again each time that it is repeated. */
const MISSPELT = ['idempotency_key', 'idempotencykey', 'idempotent-key', 'x-idempotency-key', 'x-idempotent-key'];

const keyMisspelt = (name: string): ApiError =>
  new ApiError('invalid_idempotency_key', `The header's name is Idempotency-Key: ${name} would be ignored.`);

const keyRequired = (): ApiError =>
  new ApiError(
    'idempotency_key_required',
    "Send an Idempotency-Key that is new for each payout, such as your order's id. Without one, a payout whose answer " +
      'is lost could only be repeated at the risk of paying twice.',
  );

/**
 * SHA-256 (hex) of a parsed body. Bodies with the same meaning have the same fingerprint, whatever the order of their
 * fields or the spaces in a phone number.
 */
export function fingerprint(body: unknown): string {
  return createHash('sha256')
    .update(stringify(body) ?? '')
    .digest('hex');
}
