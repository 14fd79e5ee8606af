import { createHash } from 'node:crypto';
import { z } from 'zod';
import { forMerchant, toPayment } from '../payments/views/to-payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isoTime } from '../payments/words/time.js';
import type { RecordCipher } from './cipher.js';
import type { Database, Query, Row } from './database.js';
import { MissingKeyError, type Payers } from './payers.js';
import type { PaymentContents } from './payment-content.js';
import { type PaymentRecord, type PaymentRun, withoutPayer } from './payment-record.js';
import { idRow, RUN_COLUMNS, toRun } from './rows.js';
import { UnreadableRecordError } from './versioned-json.js';

/*
 * What the records hold of one payer, for those who have to show it or erase it. An erasure names what a preview has
 * shown. Both are kept, with who asked and why, and with a hash of the payer in place of the number or address.
 */

/** A payer, and the merchant whose payments are meant: all, if none is named. */
export interface PayerAsked {
  /** A phone number as nine digits, or an e-mail address in lower case. */
  readonly payer: string;
  readonly merchant?: string | undefined;
}

/** Who shows or erases a payer's data, and the reason. */
export interface Reason {
  readonly by: string;
  readonly why: string;
}

/** What an erasure would change. */
export interface ErasurePreview {
  /** By their creation. */
  readonly payments: readonly PaymentRun[];
  /** Names these payments as they are now, and begins with their number: an erasure repeats it. */
  readonly confirmation: string;
}

/** A time that a payer's data was shown or erased. */
export interface PayerRequest {
  readonly at: number;
  readonly kind: 'export' | 'erase';
  /** A keyed hash of the payer, in hex. */
  readonly payer: string;
  readonly merchant?: string | undefined;
  readonly payments: number;
  /** `undefined` when it can't be read. */
  readonly reason: Reason | undefined;
}

/** What would be erased isn't what was shown. */
export class OtherErasureError extends Error {
  override readonly name = 'OtherErasureError';
}

/** Payments that are read at once: one payer can have thousands. */
const READ_AT_ONCE = 50;

const reasonSchema = z.looseObject({ by: z.string(), why: z.string() });
const requestRow = z.object({
  at: z.date().transform((date) => date.getTime()),
  kind: z.enum(['export', 'erase']),
  payer: z.instanceof(Buffer).transform((hash) => hash.toString('hex')),
  merchant: z.string().optional(),
  payments: z.number(),
  reason: z.instanceof(Buffer),
});
const eventRow = z.object({ id: z.string(), type: z.string(), paymentId: z.string(), at: z.date() });

/** All methods throw {@link MissingKeyError} when the payer may be found only with a key that is gone. */
export class PayerData {
  constructor(
    private readonly database: Database,
    private readonly cipher: RecordCipher,
    private readonly payers: Payers,
    private readonly contents: PaymentContents,
  ) {}

  /** Lists what {@link erase} would change, and changes nothing. */
  async preview(asked: PayerAsked): Promise<ErasurePreview> {
    return await this.#preview(this.database.query, asked, await this.#hashesOf(this.database.query, asked));
  }

  /**
   * Erases a payer's personal data from all that is recorded, and from what will be recorded later of payments that
   * were created until now.
   *
   * @param confirmation of the preview that was seen
   * @returns the payments from which it was erased
   * @throws {OtherErasureError} when something else would be erased than was seen.
   * @throws {MissingKeyError} also when some of it can't be read. Nothing is erased in either case.
   */
  async erase(asked: PayerAsked, reason: Reason, confirmation: string): Promise<readonly PaymentId[]> {
    // Nothing else is recorded meanwhile.
    return await this.database.write(async (query) => {
      const hashes = await this.#hashesOf(query, asked);
      const preview = await this.#preview(query, asked, hashes);
      if (preview.confirmation !== confirmation) {
        throw new OtherErasureError(
          `Nothing was erased: ${confirmation} names other payments than the ${preview.payments.length} that would be erased now. Look at the preview again.`,
        );
      }
      await (asked.merchant === undefined
        ? query('INSERT INTO erasures (payer, at) SELECT unnest($1::bytea[]), now()', [hashes])
        : query('INSERT INTO merchant_erasures (payer, merchant, at) SELECT unnest($1::bytea[]), $2, now()', [
            hashes,
            asked.merchant,
          ]));
      const ids = preview.payments.map(({ id }) => id);
      await this.#inPages(query, ids, (record) => this.#eraseOne(query, record));
      await this.#keep(query, 'erase', asked, hashes, ids.length, reason);
      return ids;
    });
  }

  /** Returns all that is recorded of a payer, for JSON. */
  async export(asked: PayerAsked, reason: Reason): Promise<object> {
    return await this.database.write(async (query) => {
      const hashes = await this.#hashesOf(query, asked);
      const ids = (await this.#runs(query, asked, hashes)).map(({ id }) => id);
      const payments = await this.#inPages(query, ids, (record) => this.#show(query, record));
      const requests = await this.#requests(query, hashes);
      await this.#keep(query, 'export', asked, hashes, ids.length, reason);
      return {
        ...asked,
        payments,
        requests: requests.map(({ at, kind, payments }) => ({ at: isoTime(at), kind, payments })),
      };
    });
  }

  /** Lists when data was shown and erased, oldest first: of one payer, or of all. */
  async requests(payer?: string): Promise<readonly PayerRequest[]> {
    const { query } = this.database;
    return await this.#requests(query, payer === undefined ? undefined : await this.#hashesOf(query, { payer }));
  }

  async #hashesOf(query: Query, { payer }: PayerAsked): Promise<readonly Buffer[]> {
    return await this.payers.allHashesOf(payer, await this.payers.keyIds(query));
  }

  async #preview(query: Query, asked: PayerAsked, hashes: readonly Buffer[]): Promise<ErasurePreview> {
    const payments = await this.#runs(query, asked, hashes);
    const seen = payments.map(({ id, runId, closedAt }) => [id, runId, closedAt ?? null]);
    const digest = createHash('sha256')
      .update(JSON.stringify([asked.payer, asked.merchant ?? null, seen]))
      .digest('hex');
    return { payments, confirmation: `${payments.length}-${digest.slice(0, 16)}` };
  }

  /** Erased payments have no payers any more. */
  async #runs(query: Query, { merchant }: PayerAsked, hashes: readonly Buffer[]): Promise<PaymentRun[]> {
    const rows = await query(
      `SELECT ${RUN_COLUMNS.join(', ')} FROM payments
        WHERE payers && $1::bytea[] AND ($2::text IS NULL OR merchant = $2) ORDER BY created_at, id`,
      [hashes, merchant ?? null],
    );
    return rows.map(toRun);
  }

  async #inPages<T>(
    query: Query,
    ids: readonly PaymentId[],
    handle: (record: PaymentRecord) => Promise<T>,
  ): Promise<T[]> {
    const done: T[] = [];
    for (let first = 0; first < ids.length; first += READ_AT_ONCE) {
      const rows = await query('SELECT * FROM payments WHERE id = ANY($1::text[]) ORDER BY created_at, id', [
        ids.slice(first, first + READ_AT_ONCE),
      ]);
      for (const row of rows) done.push(await handle(await this.#readable(row)));
    }
    return done;
  }

  /** @throws {MissingKeyError} Without the key, nobody knows what else would be lost with the personal data. */
  async #readable(row: Row): Promise<PaymentRecord> {
    const record = await this.contents.recordOf(row);
    if (record.content !== undefined) return record;
    throw new MissingKeyError(
      `Nothing was done: ${idRow.parse(row).id} can't be read, and the log says why. If the encryption key that it was written with is missing, add that to ENCRYPTION_KEYS, after the present one, and try again.`,
    );
  }

  async #eraseOne(query: Query, record: PaymentRecord): Promise<void> {
    const { id, content } = withoutPayer(record);
    await query("UPDATE payments SET content = $2, user_id = NULL, payers = '{}', erased_at = now() WHERE id = $1", [
      id,
      content === undefined ? null : await this.contents.seal(content),
    ]);
  }

  async #show(query: Query, { id, merchant, content }: PaymentRecord): Promise<object> {
    const events = await query('SELECT id, type, payment_id, at FROM events WHERE payment_id = $1 ORDER BY position', [
      id,
    ]);
    return {
      merchant,
      payment: content && forMerchant(toPayment(content.state)),
      // Whoever ordered a payout isn't the payer.
      order: content && { ...content.state.order, orderedByKeys: undefined },
      timeline: content?.timeline,
      notifications: events.map((row) => eventRow.parse(row)),
    };
  }

  async #keep(
    query: Query,
    kind: PayerRequest['kind'],
    { merchant }: PayerAsked,
    [payer]: readonly Buffer[],
    payments: number,
    { by, why }: Reason,
  ): Promise<void> {
    if (payer === undefined) throw new Error('a payer has no hash');
    await query(
      'INSERT INTO payer_requests (at, kind, payer, merchant, payments, reason) VALUES (now(), $1, $2, $3, $4, $5)',
      [kind, payer, merchant ?? null, payments, await this.cipher.seal({ by, why })],
    );
  }

  async #requests(query: Query, hashes: readonly Buffer[] | undefined): Promise<PayerRequest[]> {
    const rows = await query(
      `SELECT at, kind, payer, merchant, payments, reason FROM payer_requests
        WHERE $1::bytea[] IS NULL OR payer = ANY($1) ORDER BY id`,
      [hashes ?? null],
    );
    return await Promise.all(
      rows.map(async (row) => {
        const { reason, ...request } = requestRow.parse(row);
        const opened = await this.cipher.open(reason, reasonSchema).catch((error: unknown) => {
          if (error instanceof UnreadableRecordError) return undefined;
          throw error;
        });
        return { ...request, reason: opened && { by: opened.by, why: opened.why } };
      }),
    );
  }
}
