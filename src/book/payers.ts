import { z } from 'zod';
import type { PaymentOrder } from '../payments/words/order.js';
import type { Query } from './database.js';
import type { Seals } from './seals.js';

/*
 * Payers, by keyed digests of their phone numbers and e-mail addresses. New ones are made with the current encryption
 * key; those of a payment may have been made with any earlier one.
 */

/**
 * An encryption key is missing, and a payer's data can't be found or read without it. The message names the key, and
 * says what to do.
 */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/** What payments keep to be found by their payer. */
export interface PayerDigests {
  readonly payers: readonly Buffer[];
  readonly key: string;
}

/** Digests of an order's payer, by the current key; `undefined` when it names none. */
export async function digestsOf(seals: Seals, order: PaymentOrder): Promise<PayerDigests | undefined> {
  const key = await seals.digestKeyId();
  const payers = await Promise.all(payersOf(order).map((payer) => seals.digest(payer, key)));
  const known = payers.filter((digest) => digest !== undefined);
  return known.length === 0 ? undefined : { payers: known, key };
}

/** A payer's identifiers: a phone number as nine digits, an e-mail address in lower case. None is left once erased. */
function payersOf(order: PaymentOrder): readonly string[] {
  const phone = order.kind === 'link' ? order.refundTo : order.phone;
  return [phone, order.email?.toLowerCase()].flatMap((one) => (one ? [one] : []));
}

/**
 * Digests of a payer by each key that digests were made with, the current one first.
 *
 * @param payer a phone number as nine digits, or an e-mail address in lower case
 * @throws {MissingKeyError} when one of the keys is gone
 */
export async function allDigestsOf(query: Query, seals: Seals, payer: string): Promise<readonly Buffer[]> {
  const current = await seals.digestKeyId();
  const keys = [current, ...(await usedKeys(query)).filter((key) => key !== current)];
  const digests = await Promise.all(keys.map((key) => seals.digest(payer, key)));
  const missing = keys.filter((_, index) => digests[index] === undefined).map((key) => JSON.stringify(key));
  if (missing.length === 0) return digests.filter((digest) => digest !== undefined);
  throw new MissingKeyError(
    `Nothing was done: payments of this payer that were made with the encryption key ${missing.join(', ')} can't be found without it. Add it to ENCRYPTION_KEYS, after the present one, and try again.`,
  );
}

const keyRow = z.object({ key: z.string() });

/** Reads the ids of the keys that payments' digests were made with, by a few looks into an index. */
async function usedKeys(query: Query): Promise<readonly string[]> {
  const rows = await query(
    `WITH RECURSIVE used (key) AS (
       (SELECT payers_key FROM payments WHERE payers_key IS NOT NULL ORDER BY payers_key LIMIT 1)
       UNION ALL
       SELECT (SELECT payers_key FROM payments WHERE payers_key > used.key ORDER BY payers_key LIMIT 1)
         FROM used WHERE used.key IS NOT NULL
     ) SELECT key FROM used WHERE key IS NOT NULL`,
  );
  return rows.map((row) => keyRow.parse(row).key);
}
