import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type DeliveryOutcome, triedAgainAt, webhookId } from '../payments/words/delivery.js';
import { PAYMENT_EVENT_TYPES } from '../payments/words/payment.js';
import type { Book } from './book.js';
import { time } from './columns.js';
import { type Notification, notificationId } from './notifications.js';

/*
 * The outbox: notifications that are due, for whoever delivers them. Each is taken by one, who is believed to be lost
 * when the lease is over; whatever he says after that is dropped. So a notification is told at least once.
 */

/** For how long a notification is left to whoever has taken it, in ms: longer than any try. */
const LEASE_MS = 30_000;

/** A notification that is to be tried now. */
export interface Due extends Omit<Notification, 'delivery'> {
  /** Names the try. */
  readonly attempt: string;
  /** Tries that have failed. */
  readonly tries: number;
  /** Time of the first of them, in ms since the epoch. */
  readonly firstTriedAt?: number | undefined;
  readonly takenBy: readonly string[];
}

/** Tries under way in a process. */
export interface Busy {
  /** Those that it can begin. */
  readonly free: number;
  /** Of each merchant. */
  readonly byMerchant: ReadonlyMap<string, number>;
}

const dueRow = notificationId.extend({
  tries: z.int(),
  firstTriedAt: time.optional(),
  takenBy: z.array(z.string()),
});

/**
 * Takes notifications that are due, at most as many as can be tried: of each payment the earliest, and of each merchant
 * no more than leaves as many free for others. One whose server is slow or dead keeps no other's waiting: it gets half,
 * a second one half of the rest. Types that only a later release knows are left to that.
 *
 * @param now ms since the epoch
 */
export async function takeDue(book: Book, { free, byMerchant }: Busy, now: number): Promise<readonly Due[]> {
  const attempt = randomUUID();
  // With limits that are known before it runs, PostgreSQL reads no more than these, however many are due.
  const rows = await book.query(
    `WITH RECURSIVE merchants (merchant) AS (
       (SELECT merchant FROM notifications WHERE due_at IS NOT NULL ORDER BY merchant LIMIT 1)
       UNION ALL
       SELECT (SELECT next.merchant FROM notifications AS next
                WHERE next.due_at IS NOT NULL AND next.merchant > merchants.merchant ORDER BY next.merchant LIMIT 1)
         FROM merchants WHERE merchants.merchant IS NOT NULL
     ), ranked AS (
       SELECT own.payment_id, own.number, own.due_at, coalesce(busy.tries, 0) AS busy,
              row_number() OVER (PARTITION BY merchants.merchant ORDER BY own.due_at) AS rank
         FROM merchants LEFT JOIN unnest($1::text[], $2::integer[]) AS busy (merchant, tries) USING (merchant)
        CROSS JOIN LATERAL (
          SELECT payment_id, number, due_at FROM notifications AS one
           WHERE one.merchant = merchants.merchant AND due_at <= $3 AND one.type = ANY ($7) AND NOT EXISTS (
             SELECT 1 FROM notifications AS earlier
              WHERE earlier.payment_id = one.payment_id AND earlier.number < one.number AND earlier.due_at IS NOT NULL)
           ORDER BY due_at LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
        ) AS own
     ), placed AS (
       SELECT *, row_number() OVER (ORDER BY rank, due_at) AS place FROM ranked
        WHERE rank <= ($4::integer - busy + 1) / 2
     ), chosen AS (
       SELECT payment_id, number FROM placed WHERE busy + rank <= $4 - place + 1 ORDER BY place LIMIT $4
     )
     UPDATE notifications AS one SET attempt = $5, due_at = $6 FROM chosen
      WHERE one.payment_id = chosen.payment_id AND one.number = chosen.number
     RETURNING one.payment_id, one.number, merchant, type, at, era, tries, first_tried_at, taken_by`,
    [
      ...[[...byMerchant.keys()], [...byMerchant.values()].map(String)],
      ...[new Date(now), free, attempt, new Date(now + LEASE_MS), PAYMENT_EVENT_TYPES],
    ],
  );
  return rows.map((row) => {
    const { era, ...due } = dueRow.parse(row);
    return { ...due, id: webhookId(due.paymentId, due.type, due.number, era), attempt };
  });
}

/**
 * Writes how a try has ended. What was sent again by hand meanwhile, or was taken by another, stays as it is.
 *
 * @param now ms since the epoch
 * @returns `true` when it was the last try: nobody has taken the notification for three days
 */
export async function recordTry(
  book: Book,
  due: Due,
  outcome: DeliveryOutcome,
  now: number,
  random = Math.random(),
): Promise<boolean> {
  if (outcome.kind !== 'failed') {
    await end(book, due, outcome.kind, now);
    return false;
  }
  const { reason, retryAfterMs = 0, takenBy = due.takenBy } = outcome;
  const tried = { tries: due.tries + 1, firstTriedAt: due.firstTriedAt ?? now };
  const again = triedAgainAt(tried, retryAfterMs, now, random);
  if (again === undefined) return await end(book, due, 'abandoned', now, reason);
  await book.query(
    `WITH own AS (
       UPDATE notifications SET due_at = $4, attempt = NULL, tries = $5, first_tried_at = $6, last_tried_at = $7,
         last_error = $8, taken_by = $9 WHERE payment_id = $1 AND number = $2 AND attempt = $3 RETURNING number
     )
     UPDATE notifications SET due_at = greatest(due_at, $4) FROM own
      WHERE payment_id = $1 AND notifications.number > own.number AND due_at IS NOT NULL AND attempt IS NULL`,
    [
      ...[due.paymentId, due.number, due.attempt, new Date(again), tried.tries, new Date(tried.firstTriedAt)],
      ...[new Date(now), reason, takenBy],
    ],
  );
  return false;
}

/** Has those that wait for it follow. @returns whether this try's end counts */
async function end(
  book: Book,
  { paymentId, number, attempt }: Due,
  delivery: 'delivered' | 'noAddress' | 'abandoned',
  now: number,
  error?: string,
): Promise<boolean> {
  const rows = await book.query(
    `WITH own AS (
       UPDATE notifications SET delivery = $4, due_at = NULL, attempt = NULL, ended_at = $5,
         last_tried_at = CASE WHEN $6::text IS NULL THEN last_tried_at ELSE $5 END, last_error = coalesce($6, last_error)
        WHERE payment_id = $1 AND number = $2 AND attempt = $3 RETURNING number
     ), later AS (
       UPDATE notifications SET due_at = least(due_at, $5) FROM own
        WHERE payment_id = $1 AND notifications.number > own.number AND due_at IS NOT NULL AND attempt IS NULL
          AND tries = 0
     )
     SELECT number FROM own`,
    [paymentId, number, attempt, delivery, new Date(now), error ?? null],
  );
  return rows.length > 0;
}
