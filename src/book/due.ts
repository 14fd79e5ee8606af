import { z } from 'zod';
import type { PaymentId } from '../payments/words/payment-id.js';
import { HOUR_MS, MINUTE_MS } from '../payments/words/time.js';
import type { Book } from './book.js';
import { paymentId } from './columns.js';

const idRow = z.object({ id: paymentId });

/** A payment that nothing helps is rung at least so often, in ms. */
const RUNG_EVERY_MS = HOUR_MS;

/** By how much the clocks of two processes may differ, in ms. */
const CLOCKS_DIFFER_MS = MINUTE_MS;

/**
 * Takes payments that something was due of before a time, or that were told something or have an outcome which no turn
 * has taken: whatever was to bring them on has been lost, and whoever takes them rings them. The longest overdue come
 * first. One that was rung in vain is taken again once it is twice as late: its workflow can't take just any number of
 * signals. A time to come was written by a clock that was wrong.
 *
 * @param lateMs how late the payments are at least, in ms
 * @param now ms since the epoch
 */
export async function takeOverdue(
  book: Book,
  lateMs: number,
  limit: number,
  now: number,
): Promise<readonly PaymentId[]> {
  // Each part has its limit: after an outage, all that is open is overdue.
  const rows = await book.query(
    `WITH due AS (
       SELECT id, min(at) AS at FROM (
         (SELECT id, wake_at AS at FROM states WHERE wake_at < $1 AND ${isToBeRung('wake_at')}
           ORDER BY wake_at LIMIT $4)
         UNION ALL
         (SELECT payment_id, at FROM (
            SELECT payment_id, min(at) AS at FROM (
              SELECT payment_id, at FROM inbox WHERE taken_in IS NULL AND at < $1
              UNION ALL SELECT payment_id, at FROM sends WHERE outcome IS NOT NULL AND NOT taken AND at < $1
            ) AS untaken GROUP BY payment_id
          ) AS told CROSS JOIN LATERAL (SELECT rung_at FROM states WHERE id = payment_id OFFSET 0) AS states
          WHERE ${isToBeRung('at')} ORDER BY at LIMIT $4)
       ) AS each GROUP BY id
     ), chosen AS (
       SELECT states.id FROM due JOIN states ON states.id = due.id WHERE ${isToBeRung('due.at')}
        ORDER BY due.at LIMIT $4 FOR NO KEY UPDATE OF states SKIP LOCKED
     )
     UPDATE states SET rung_at = $2 FROM chosen WHERE states.id = chosen.id RETURNING states.id`,
    [
      ...[new Date(now - lateMs), new Date(now), new Date(now - RUNG_EVERY_MS), limit],
      new Date(now + CLOCKS_DIFFER_MS),
    ],
  );
  return rows.map((row) => idRow.parse(row).id);
}

/** Selects payments that nobody has rung for what was due at this time, or in vain: see {@link takeOverdue}. */
const isToBeRung = (at: string) =>
  `(rung_at IS NULL OR rung_at NOT BETWEEN $3 AND $5 OR rung_at < ${at} OR $2 - ${at} > 2 * (rung_at - ${at}))`;

/** Gives payments back that couldn't be rung, so that they are taken again at once. */
export async function giveBack(book: Book, ids: readonly PaymentId[]): Promise<void> {
  await book.query('UPDATE states SET rung_at = NULL WHERE id = ANY($1)', [ids]);
}

/** Returns when the longest overdue thing was due, in ms since the epoch; `undefined` while nothing was. */
export async function oldestDue(book: Book, now: number): Promise<number | undefined> {
  const [row] = await book.query('SELECT min(wake_at) AS at FROM states WHERE wake_at < $1', [new Date(now)]);
  return z.object({ at: z.date().optional() }).parse(row).at?.getTime();
}
