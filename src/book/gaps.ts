import { z } from 'zod';
import type { PaymentState } from '../payments/words/payment-state.js';
import { DAY_MS, isoTime, MINUTE_MS } from '../payments/words/time.js';
import type { Book } from './book.js';
import type { Query } from './database.js';

/*
 * A book that was restored from a backup, or whose standby took over without the last commits, has gone back: it knows
 * nothing of what was sent, stopped and told since. So the book counts its beats, and Temporal is told each number: a
 * number that the book doesn't have shows the gap. It is written down in the same transaction as the beat that finds
 * it: afterwards, nothing would show it any more. Between two beats, each process knows the number that it has read: a
 * standby may take over that lacks the last minute, and say that it was compared just now.
 */

/** A beat of the book, as Temporal was told of it. */
export interface Beat {
  readonly number: number;
  /** ms since the epoch */
  readonly at: number;
}

/** Time of the last beat for which money may leave, in ms: a book that was restored has to be looked at first. */
const COMPARED_WITHIN_MS = 90_000;

/** By how much the clocks of processes that are in order may differ, in ms. */
const SKEW_MS = MINUTE_MS;

const beatRow = z.object({ number: z.coerce.number() });

/**
 * Remembers the highest number that this process has read. Whoever reads one takes `book.seen` before: it is lower than
 * that only when the book has gone back, whatever others read meanwhile.
 */
function remember(book: Book, number: number, now: number): void {
  if (number >= book.seen.number) book.seen = { number, at: now };
}

/**
 * Counts a beat, and records a gap when the book lacks the one that Temporal was told of, or one that this process has
 * read. That no process ran for a time is no gap: nobody was told of a beat then. It counts once {@link keepBeat} was
 * called.
 *
 * @param told `undefined` when Temporal knows of none: it may have been restored itself
 * @param now ms since the epoch
 */
export async function beat(
  book: Book,
  told: Beat | undefined,
  now: number,
): Promise<Beat & { readonly hasGoneBack: boolean }> {
  const { seen } = book;
  const counted = await book.transaction(async (query) => {
    const [row] = await query('SELECT number FROM beats FOR UPDATE');
    const { number } = beatRow.parse(row);
    const isKnown = told !== undefined && told.number > number;
    if (isKnown) {
      await recordGap(query, told.at, `the book has ${number} beats, and Temporal knows of ${told.number}`, now);
    }
    remember(book, number, now);
    const isLacking = number < seen.number;
    if (isLacking) await recordLacking(query, seen, number, now);
    const next = Math.max(number, told?.number ?? 0, seen.number) + 1;
    await query('UPDATE beats SET number = $1', [next]);
    return { number: next, at: now, hasGoneBack: isKnown || isLacking };
  });
  remember(book, counted.number, now);
  return counted;
}

/** Records a gap: the book lacks beats that this process has read in it. */
async function recordLacking(query: Query, seen: Beat, number: number, now: number): Promise<void> {
  await recordGap(query, seen.at, `the book has ${number} beats, and a process has read ${seen.number}`, now);
}

/**
 * Keeps that Temporal was told of a beat: until then, nothing would show that the book has lost it. One that has gone
 * back meanwhile doesn't have it any more.
 */
export async function keepBeat(book: Book, { number, at }: Beat): Promise<void> {
  // A clock that is late takes nothing back; a beat by one that was wrong must not count for days.
  await book.query('UPDATE beats SET at = CASE WHEN at BETWEEN $2 AND $3 THEN at ELSE $2 END WHERE number >= $1', [
    ...[number, new Date(at), new Date(at + SKEW_MS)],
  ]);
}

/** Reports whether anybody has counted a beat since a time, in ms since the epoch, and the book still has it. */
export async function hasBeaten(book: Book, since: number): Promise<boolean> {
  const [now, { seen }] = [book.now(), book];
  const [row] = await book.query('SELECT number, at BETWEEN $1 AND $2 AS is_recent FROM beats', [
    ...[new Date(since), new Date(now + SKEW_MS)],
  ]);
  const { number } = beatRow.parse(row);
  remember(book, number, now);
  return number >= seen.number && row?.isRecent === true;
}

/** Returns when the last beat was counted, in ms since the epoch. */
export async function lastBeat(book: Book): Promise<number> {
  const [row] = await book.query('SELECT extract(epoch FROM at) * 1000 AS at FROM beats');
  return Number(row?.at);
}

/**
 * Records that the book has gone back, unless that is known.
 *
 * @param knownAt when the book still had what it lacks now, in ms since the epoch
 * @param found what has shown it
 */
export async function recordGap(query: Query, knownAt: number, found: string, now: number): Promise<void> {
  await query('INSERT INTO gaps (at, found) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM gaps WHERE at >= $3)', [
    new Date(now),
    found,
    new Date(knownAt),
  ]);
}

/**
 * SQL of the era of what is told now: the time of the latest gap, in seconds since the epoch; 0 before the first one.
 * Their number would come again when the book goes back behind a gap that was found.
 */
export const ERA = '(SELECT coalesce(floor(extract(epoch FROM max(at))), 0)::bigint FROM gaps)';

/** Counts how often the book was found to have gone back. */
export async function countGaps(book: Book): Promise<number> {
  return (await book.query('SELECT 1 FROM gaps')).length;
}

/**
 * Reports whether the book was compared with what Temporal knows of it: otherwise, nobody knows what it lacks. Records
 * a gap when it lacks what this process knows.
 */
export async function isCompared(book: Book, query: Query, now: number): Promise<boolean> {
  const { seen } = book;
  const [row] = await query('SELECT number, at >= $1 AS is_recent FROM beats', [new Date(now - COMPARED_WITHIN_MS)]);
  const { number } = beatRow.parse(row);
  remember(book, number, now);
  if (number < seen.number) await recordLacking(query, seen, number, now);
  return row?.isRecent === true;
}

/** A reason not to send: `uncertain` may be over in a moment; with `lost`, a person has to decide. */
export type GapObjection = { readonly kind: 'uncertain' | 'lost'; readonly why: string };

const gapRow = z.object({ latest: z.date().optional() });

/**
 * Objects to sending what may have been sent, or stopped, in a time that the book has lost: what was ordered before,
 * and refunds of what was ordered before, since other refunds of it may be lost. An operator who decides later that it
 * is sent has looked; so has whoever approves a refund later.
 *
 * @param collection of a refund
 * @param now ms since the epoch
 */
export async function gapObjection(
  book: Book,
  query: Query,
  { order, phase, resolved, release, createdAt }: PaymentState,
  collection: PaymentState | undefined,
  now: number,
): Promise<GapObjection | undefined> {
  // A link moves no money by itself.
  if (order.kind === 'link') return undefined;
  if (!(await isCompared(book, query, now))) {
    return { kind: 'uncertain', why: 'it is not certain at the moment that the book has not gone back' };
  }
  const [row] = await query('SELECT max(at) AS latest FROM gaps');
  const { latest } = gapRow.parse(row);
  if (latest === undefined) return undefined;
  // Who has found it, who takes orders and who has a decision taken read different clocks.
  const gap = latest.getTime() + SKEW_MS;
  const decidedAt = phase.kind === 'sending' && phase.cause === 'operator' ? resolved?.at : undefined;
  if (decidedAt !== undefined && decidedAt > gap) return undefined;
  const lost = `the book of payments went back in time, which was found at ${isoTime(latest.getTime())}`;
  if (createdAt <= gap) return { kind: 'lost', why: `${lost}: the payment may have been sent or stopped before` };
  if (collection === undefined || collection.createdAt > gap || release?.approvals.length) return undefined;
  const why = `${lost}: other refunds of the collection ${collection.order.id} may be lost, and nobody has approved this one`;
  return { kind: 'lost', why };
}

/** How long after a gap an order may be one of before, made again with its Idempotency-Key, in ms. */
const REPEATED_WITHIN_MS = DAY_MS;

/** Reports whether a link may have been made, given and paid before, in a time that the book has lost. */
export function mayLackLink({ order, createdAt }: PaymentState, gapAt: number | undefined): boolean {
  return order.kind === 'link' && gapAt !== undefined && createdAt <= gapAt + REPEATED_WITHIN_MS;
}
