import sha256 from 'fast-sha256';
import type { PayoutOrder } from './order.js';

/**
 * Returns the digest that an approval has to repeat, in hexadecimal digits: SHA-256 of the payout's id, amount, medium,
 * phone number, e-mail address and name, as a JSON array in this order, with `null` for what the order leaves out; at
 * the end the collection that it refunds, if it does. So nobody approves something else than what is sent.
 */
export function digestOf({ id, amount, medium, phone, email, name, refundOf }: PayoutOrder): string {
  const text = JSON.stringify([
    id,
    amount,
    medium ?? null,
    phone ?? null,
    email ?? null,
    name ?? null,
    ...(refundOf ? [refundOf] : []),
  ]);
  const bytes = sha256.hash(new TextEncoder().encode(text));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
