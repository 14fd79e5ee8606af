import { isoTime } from '../payments/words/time.js';
import type { RecordCipher } from './cipher.js';
import type { Query } from './database.js';
import { type NewRecord, payersOf } from './payment-record.js';

/**
 * An encryption key is missing, and a payer's data can't be found or read without it. The message names the key, and
 * says what to do.
 */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/**
 * Payers by the keyed hashes of their phone numbers and e-mail addresses. New hashes are made with the current
 * encryption key; stored ones may have been made with any earlier one.
 */
export class Payers {
  constructor(private readonly cipher: RecordCipher) {}

  /** Reads the ids of all keys with which hashes were made, the present one first. */
  async keyIds(query: Query): Promise<string[]> {
    const present = await this.cipher.hashKeyId();
    const known = (await query('SELECT id FROM payer_keys')).map(({ id }) => String(id));
    if (!known.includes(present)) {
      await query('INSERT INTO payer_keys (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [present]);
    }
    return [present, ...known.filter((id) => id !== present)];
  }

  /** Hashes a record's payers by each of the keys, but for those that are gone. */
  async hashesOf({ content }: NewRecord, keyIds: readonly string[]): Promise<Buffer[]> {
    if (content === undefined) return [];
    const hashes = await Promise.all(payersOf(content).map((payer) => this.#hashes(payer, keyIds)));
    return hashes.flat().filter((hash) => hash !== undefined);
  }

  /**
   * Hashes a payer by each of the keys.
   *
   * @throws {MissingKeyError} when one of them is gone.
   */
  async allHashesOf(payer: string, keyIds: readonly string[]): Promise<Buffer[]> {
    const hashes = await this.#hashes(payer, keyIds);
    const missing = keyIds.filter((_, index) => hashes[index] === undefined).map((id) => JSON.stringify(id));
    if (missing.length === 0) return hashes.filter((hash) => hash !== undefined);
    throw new MissingKeyError(
      `Nothing was done: records of this payer that were made with the encryption key ${missing.join(', ')} can't be found without it. Add it to ENCRYPTION_KEYS, after the present one, and try again.`,
    );
  }

  /** Finds the payments that were erased, and those whose payer was, after their creation. Returns their ids. */
  async erasedAmong(
    query: Query,
    records: readonly NewRecord[],
    keyIds: readonly string[],
  ): Promise<ReadonlySet<unknown>> {
    const asked = await Promise.all(
      records.map(async (record) => {
        const createdAt = isoTime(record.indexed.createdAt);
        const { id, merchant } = record;
        return (await this.hashesOf(record, keyIds)).map((hash) => ({ id, merchant, hash, createdAt }));
      }),
    ).then((each) => each.flat());
    const found = await query(
      `SELECT id FROM payments WHERE id = ANY($1::text[]) AND erased_at IS NOT NULL
       UNION ALL SELECT asked.id
          FROM unnest($2::text[], $3::bytea[], $4::timestamptz[], $5::text[]) AS asked (id, payer, created_at, merchant)
         WHERE EXISTS (SELECT 1 FROM erasures WHERE erasures.payer = asked.payer AND erasures.at >= asked.created_at)
            OR EXISTS (SELECT 1 FROM merchant_erasures AS one WHERE one.payer = asked.payer
                          AND one.merchant = asked.merchant AND one.at >= asked.created_at)`,
      [
        records.map(({ id }) => id),
        asked.map(({ id }) => id),
        asked.map(({ hash }) => hash),
        asked.map(({ createdAt }) => createdAt),
        asked.map(({ merchant }) => merchant),
      ],
    );
    return new Set(found.map(({ id }) => id));
  }

  #hashes(payer: string, keyIds: readonly string[]): Promise<(Buffer | undefined)[]> {
    return Promise.all(keyIds.map((keyId) => this.cipher.hash(payer, keyId)));
  }
}
