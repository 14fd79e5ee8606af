import { z } from 'zod';
import { webhookId } from '../payments/words/delivery.js';
import type { PaymentEventType } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import { HOUR_MS } from '../payments/words/time.js';
import type { Book } from './book.js';
import { kept } from './content.js';
import type { SqlValue } from './database.js';
import { ERA, isCompared } from './gaps.js';
import { type Notification, notificationId } from './notifications.js';
import { UnreadableRecordError } from './versioned-json.js';

/** The feeds of merchants: all that they were to be notified of, in the order of its places. */

/** Held while places are given: they become visible in their order, so that a cursor misses none. */
const PLACING_LOCK = 7_311_001;

/** Notifications that get their places at once. */
const PLACED_AT_ONCE = 1_000;

/**
 * What the book has lost had places, too, and merchants hold cursors to them: each era's begin after all of those
 * before. More than are given in a second.
 */
const PLACES_IN_A_SECOND = 1_000_000;

/**
 * Gives committed notifications their places in the feed, unless somebody else is at it. Places that were given by the
 * transactions themselves could become visible in another order, and a merchant would miss what comes late. In a book
 * that has gone back, places that merchants have read past are free again: none is given before that is known.
 *
 * @returns how many got theirs
 */
export async function placeNotifications(book: Book): Promise<number> {
  const unplaced = await book.query('SELECT 1 FROM notifications WHERE position IS NULL LIMIT 1');
  if (unplaced.length === 0) return 0;
  return await book.transaction(async (query) => {
    const [lock] = await query('SELECT pg_try_advisory_xact_lock($1) AS taken', [PLACING_LOCK]);
    if (lock?.taken !== true || !(await isCompared(book, query, book.now()))) return 0;
    const placed = await query(
      `WITH next AS (
         SELECT payment_id, number, row_number() OVER (ORDER BY at, payment_id, number) AS place
           FROM (SELECT payment_id, number, at FROM notifications WHERE position IS NULL
                  ORDER BY at, payment_id, number LIMIT $1) AS unplaced
       ), last AS (
         SELECT greatest((SELECT max(position) FROM notifications), ${ERA} * $2::bigint) AS place
       )
       UPDATE notifications AS one SET position = last.place + next.place FROM next, last
        WHERE one.payment_id = next.payment_id AND one.number = next.number RETURNING 1`,
      [PLACED_AT_ONCE, PLACES_IN_A_SECOND],
    );
    return placed.length;
  });
}

/** Selects events of a feed. */
export interface EventFilter {
  readonly merchant?: string | undefined;
  readonly type?: PaymentEventType | undefined;
  /** ms since the epoch */
  readonly since?: number | undefined;
  /** The place of the last event of the page before; 0 for the first page. */
  readonly after: number;
}

/** An event in a feed, with its payment as it is now; without it where that can't be read. */
export interface FeedEvent extends Omit<Notification, 'delivery'> {
  readonly position: number;
  readonly state?: PaymentState | undefined;
}

const feedRow = notificationId.extend({
  position: z.coerce.number(),
  version: z.int(),
  sealed: z.instanceof(Buffer),
});

/** What happened this long before has an earlier place, whatever the clocks of processes say. */
const PLACED_WITHIN_MS = HOUR_MS;

/** SQL of a place before all that happened since a time. By the time alone, all earlier events would be read, too. */
const placeBefore = (time: string) =>
  `coalesce((SELECT position FROM notifications WHERE position IS NOT NULL AND at < ${time} ORDER BY at DESC LIMIT 1), 0)`;

/** Lists events in the order of their places, each once. */
export async function listEvents(book: Book, filter: EventFilter, limit: number): Promise<readonly FeedEvent[]> {
  const values: SqlValue[] = [filter.after, limit];
  const where = ['one.position > $1'];
  const add = (condition: string, value: SqlValue | undefined) => {
    if (value !== undefined) where.push(condition.replaceAll('?', `$${values.push(value)}`));
  };
  add('one.merchant = ?', filter.merchant);
  add('one.type = ?', filter.type);
  add('one.at >= ?', filter.since === undefined ? undefined : new Date(filter.since));
  add(
    `one.position > ${placeBefore('?')}`,
    filter.since === undefined ? undefined : new Date(filter.since - PLACED_WITHIN_MS),
  );
  const rows = await book.query(
    `SELECT one.payment_id, number, merchant, type, one.at, era, position, version, sealed
       FROM notifications AS one JOIN states ON states.id = one.payment_id
      WHERE ${where.join(' AND ')} ORDER BY one.position LIMIT $2`,
    values,
  );
  return await Promise.all(
    rows.map(async (row) => {
      const { era, version, sealed, ...event } = feedRow.parse(row);
      const { paymentId, type, number } = event;
      const state = await readState(book, paymentId, version, sealed);
      return { ...event, id: webhookId(paymentId, type, number, era), state };
    }),
  );
}

/** One that can't be read keeps none of the others from its merchant. */
async function readState(
  book: Book,
  id: PaymentId,
  version: number,
  sealed: Buffer,
): Promise<PaymentState | undefined> {
  try {
    return (await book.seals.open({ table: 'states', id, version }, sealed, kept)).state;
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return undefined;
  }
}

/** Without encryption, callers can make cursors up: what PostgreSQL doesn't take is refused. */
const place = z.looseObject({
  position: z.int().nonnegative(),
  /** The event that was read there; `at` in ms since the epoch. */
  event: z
    .looseObject({
      paymentId: z.string().regex(/^\w{1,100}$/),
      number: z.int32(),
      at: z.int().nonnegative().max(Date.UTC(9999, 11)),
    })
    .optional(),
});

/** How far somebody has read in a feed. */
export type Place = z.output<typeof place>;

export const BEGINNING: Place = { position: 0 };

export function placeOf({ position, paymentId, number, at }: FeedEvent): Place {
  return { position, event: { paymentId, number, at } };
}

/**
 * Returns the place after which there is what wasn't read yet. Where the event that was read last isn't in its place,
 * the book has gone back, perhaps unnoticed: what wasn't read may have earlier places, and what happened shortly before
 * that event, or since, is read once more.
 */
export async function readOnAfter(book: Book, { position, event }: Place): Promise<number> {
  if (event === undefined) return position;
  const { paymentId, number, at } = event;
  const [row] = await book.query(
    `SELECT CASE WHEN EXISTS (
         SELECT 1 FROM notifications WHERE position = $1 AND payment_id = $2 AND number = $3 AND at = $4)
       THEN $1::bigint ELSE least(${placeBefore('$5')}, $1::bigint) END AS position`,
    [position, paymentId, number, new Date(at), new Date(at - PLACED_WITHIN_MS)],
  );
  return z.object({ position: z.coerce.number() }).parse(row).position;
}

const CURSOR = { table: 'cursors', id: 'events' } as const;

/** Writes a place in a feed as an opaque text: it would tell merchants how many events there are of all of them. */
export async function toEventCursor(book: Book, read: Place): Promise<string> {
  return (await book.seals.seal(CURSOR, read)).toString('base64url');
}

/** The place that a cursor stands for; `undefined` when it isn't one that {@link toEventCursor} has made. */
export async function readEventCursor(book: Book, cursor: string): Promise<Place | undefined> {
  try {
    return await book.seals.open(CURSOR, Buffer.from(cursor, 'base64url'), place);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

/** A transaction is over within this time: what happened longer ago is committed, or never will be. */
const LONGEST_TRANSACTION_MS = 10_000;

/** Returns the time up to which the feed has all that has happened, in ms since the epoch. */
export async function placedUntil(book: Book, now: number): Promise<number> {
  const [row] = await book.query('SELECT min(at) AS at FROM notifications WHERE position IS NULL');
  const oldest = z.object({ at: z.date().optional() }).parse(row).at;
  return Math.min(oldest?.getTime() ?? now, now - LONGEST_TRANSACTION_MS);
}
