import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { PaymentId } from '../payments/words/payment-id.js';
import { type Kept, kept } from './content.js';
import type { Query } from './database.js';
import type { Seals } from './seals.js';

/** The state of a payment, as its row has it. */
export interface StateRow {
  readonly id: PaymentId;
  readonly version: number;
  /** The token of what is under way. */
  readonly asked?: number | undefined;
  /** The number of the attempt to send that is under way, or comes next. */
  readonly attempt: number;
  /** Time of the latest change, in ms since the epoch. */
  readonly changedAt: number;
  /** When something is due, in ms since the epoch. */
  readonly wakeAt?: number | undefined;
  /** When the book was found to have gone back, the last time; in ms since the epoch. */
  readonly gapAt?: number | undefined;
  readonly kept: Kept;
}

/**
 * A number that was never given before, whatever the book has forgotten: an answer to a question of a book that went
 * back must not pass for one of now, nor another hand's fence for one's own.
 */
export function newNumber(): number {
  return randomInt(2 ** 48 - 1);
}

const time = z.date().transform((date) => date.getTime());

const stateRow = z.object({
  version: z.int(),
  asked: z.coerce.number().optional(),
  attempt: z.int(),
  changedAt: time,
  wakeAt: time.optional(),
  gapAt: time.optional(),
  sealed: z.instanceof(Buffer),
});

/**
 * Locks a payment's state until the transaction ends, and reads it. Rows that name the payment can be written
 * meanwhile.
 */
export async function lockState(query: Query, seals: Seals, id: PaymentId): Promise<StateRow | undefined> {
  const [row] = await query(
    `SELECT version, asked, attempt, changed_at, wake_at, sealed, (SELECT max(at) FROM gaps) AS gap_at
     FROM states WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  if (row === undefined) return undefined;
  const { version, sealed, ...rest } = stateRow.parse(row);
  const opened = await seals.open({ table: 'states', id, version }, sealed, kept);
  return { id, version, ...rest, kept: opened };
}

const sumRow = z.object({ sum: z.coerce.number() });

/** What the other refunds of a collection take of it, in XAF. The collection's state has to be locked before. */
export async function refundedByOthers(query: Query, collection: PaymentId, refund: PaymentId): Promise<number> {
  const [row] = await query(
    'SELECT coalesce(sum(refund_counts), 0) AS sum FROM payments WHERE refund_of = $1 AND id <> $2',
    [collection, refund],
  );
  return sumRow.parse(row).sum;
}

const totalRow = z.object({ total: z.coerce.number() });

/**
 * Adds to what a merchant's payouts take of its limit for a day, and locks the day. Whoever finds the limit exceeded
 * undoes the transaction.
 *
 * @param amount XAF; less than 0 to give room back
 * @returns the day's total with it, in XAF
 */
export async function addToDay(query: Query, merchant: string, day: string, amount: number): Promise<number> {
  const [row] = await query(
    `INSERT INTO days AS day (merchant, day, total) VALUES ($1, $2, $3)
     ON CONFLICT (merchant, day) DO UPDATE SET total = day.total + $3 RETURNING total`,
    [merchant, day, amount],
  );
  return totalRow.parse(row).total;
}
