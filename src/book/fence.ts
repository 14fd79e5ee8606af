import { z } from 'zod';
import { standingOf } from '../payments/machine/refunds.js';
import { isErased, needsApproval, refundOf } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import { isOnePerson } from '../payments/words/person.js';
import { dayOf } from '../payments/words/time.js';
import type { Book } from './book.js';
import type { Query } from './database.js';
import { gapObjection } from './gaps.js';
import { keysLinkedTo } from './people.js';
import { addToDay, lockState, refundedByOthers } from './rows.js';
import { type Attempt, lockDecided, WITHOUT_MONEY } from './sends.js';

/** Longest time from a fence to its request, in ms, by the clocks of the hand that wrote it. */
export const LEAVES_WITHIN_MS = 5_000;

/** A merchant's limits, as they are when a payout leaves; XAF. */
export interface LimitsNow {
  /** For the payouts of a day. */
  readonly maxPerDay?: number | undefined;
  /** A payout of more takes another person's approval, also one that was ordered before. */
  readonly approveAbove?: number | undefined;
}

export type Fenced =
  /** The request may leave now, within seconds. */
  | { readonly kind: 'fenced' }
  /** Another version, or somebody who doubted the attempt, was first: nothing may be sent. */
  | { readonly kind: 'stale' }
  /** It isn't sent: by what other payments and settings say now. */
  | { readonly kind: 'withheld' | 'doubtful'; readonly why: string }
  /** It isn't sent yet: nobody knows at the moment whether it may have been before. */
  | { readonly kind: 'uncertain'; readonly why: string }
  /** It isn't sent: it may have been before, in a time that the book has lost. A person has to decide. */
  | { readonly kind: 'perhapsSent'; readonly why: string };

/**
 * Writes the fence of an attempt, if it may be sent by all that is known now. Nothing leaves before this has returned
 * `fenced`, and the list has to be read before it: a crash in between then leaves nothing that could be doubted.
 *
 * @param limits the merchant's, as they are now
 * @param now ms since the epoch
 */
export async function fence(book: Book, attempt: Attempt, limits: LimitsNow, now: number): Promise<Fenced> {
  try {
    return await book.transaction((query) => writeFence(book, query, attempt, limits, now));
  } catch (error) {
    if (error instanceof Undone) return error.fenced;
    throw error;
  }
}

async function writeFence(book: Book, query: Query, attempt: Attempt, limits: LimitsNow, now: number): Promise<Fenced> {
  const state = await lockDecided(book, query, attempt);
  if (state === undefined) return { kind: 'stale' };
  const why = (await objectionToSending(query, state, limits)) ?? (await objectionByOthers(book, query, state, now));
  if (why !== undefined) return why;
  const inserted = await query(
    `INSERT INTO sends (payment_id, attempt, hand, at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (payment_id, attempt) DO NOTHING RETURNING attempt`,
    [attempt.id, attempt.attempt, attempt.hand, new Date(now)],
  );
  if (inserted.length === 0) return { kind: 'stale' };
  await takeDay(query, state, dayOf(now), limits.maxPerDay);
  return { kind: 'fenced' };
}

/** Undoes the transaction of a fence that is refused once its row is written. */
class Undone extends Error {
  constructor(readonly fenced: Fenced) {
    super(fenced.kind);
  }
}

/**
 * A payout that has to be approved, by its order or by what its merchant says now, isn't sent without an approval by
 * another person than who ordered it.
 */
async function objectionToSending(
  query: Query,
  { order, terms, phase, release }: PaymentState,
  { approveAbove }: LimitsNow,
): Promise<Fenced | undefined> {
  if (phase.kind !== 'sending') return { kind: 'stale' };
  // It had ended.
  if (isErased(order)) return { kind: 'perhapsSent', why: "its payer's data was erased" };
  const isNeeded = needsApproval(order, terms) || needsApproval(order, { ...terms, approveAbove });
  if (!isNeeded || order.kind !== 'payout') return undefined;
  const { orderedBy, orderedByKeys } = order;
  for (const { by: name } of orderedBy === undefined ? [] : (release?.approvals ?? [])) {
    const approver = { name, keys: await keysLinkedTo(query, { name }) };
    if (!isOnePerson({ name: orderedBy ?? '', keys: orderedByKeys }, approver)) return undefined;
  }
  return { kind: 'doubtful', why: 'nobody but who ordered the payout has approved it' };
}

/** Objects by what else the book says: that it has gone back, and how the collection stands that is refunded. */
async function objectionByOthers(
  book: Book,
  query: Query,
  state: PaymentState,
  now: number,
): Promise<Fenced | undefined> {
  const { id, amount } = state.order;
  const of = refundOf(state.order);
  const collection = of === undefined ? undefined : (await lockState(query, book.seals, of))?.kept.state;
  const gap = await gapObjection(book, query, state, collection, now);
  if (gap !== undefined) return { kind: gap.kind === 'lost' ? 'perhapsSent' : gap.kind, why: gap.why };
  if (of === undefined) return undefined;
  if (collection === undefined) return { kind: 'doubtful', why: `the collection ${of} isn't known` };
  const standing = standingOf(collection, amount, await refundedByOthers(query, of, id));
  if (standing.kind === 'stands') return undefined;
  return { kind: standing.kind === 'gone' ? 'withheld' : 'doubtful', why: standing.why };
}

const sumRow = z.object({ sum: z.coerce.number() });

const countedRow = z.object({
  merchant: z.string(),
  dayCounts: z.coerce.number(),
  countsOn: z.string().optional(),
});

/** Has a payout count on the day of its sending. @throws {Undone} when that day has no room for it */
async function takeDay(
  query: Query,
  { order: { id, kind, amount }, sends }: PaymentState,
  day: string,
  maxPerDay: number | undefined,
): Promise<void> {
  if (kind !== 'payout') return;
  const [row] = await query('SELECT merchant, day_counts, counts_on FROM payments WHERE id = $1', [id]);
  const { merchant, dayCounts, countsOn } = countedRow.parse(row);
  if (countsOn === day) {
    const others = (await addToDay(query, merchant, day, 0)) - dayCounts;
    // A resend is money once more. The limit may have been lowered: then what has left counts, not what waits.
    const own = amount * (sends.count + 1);
    if (maxPerDay === undefined || others + own <= maxPerDay) return;
    if ((await leftOn(query, merchant, day, id)) + own <= maxPerDay) return;
    throw new Undone(overDay(day));
  }
  // One order of days for all, so that two payouts that cross midnight don't wait for each other.
  const moves = [
    { day: countsOn ?? day, amount: countsOn === undefined ? 0 : -dayCounts },
    { day, amount: dayCounts },
  ].toSorted((one, other) => (one.day < other.day ? -1 : 1));
  for (const move of moves) {
    const total = await addToDay(query, merchant, move.day, move.amount);
    if (move.day === day && maxPerDay !== undefined && total > maxPerDay) throw new Undone(overDay(day));
  }
  await query('UPDATE payments SET counts_on = $2 WHERE id = $1', [id, day]);
}

const overDay = (day: string): Fenced => ({
  kind: 'doubtful',
  why: `the payouts of ${day} have reached the merchant's limit`,
});

/** What has left of a merchant's other payouts of a day, or may have; XAF. The day has to be locked before. */
async function leftOn(query: Query, merchant: string, day: string, but: PaymentId): Promise<number> {
  const [row] = await query(
    `SELECT coalesce(sum(day_counts), 0) AS sum FROM payments
     WHERE merchant = $1 AND counts_on = $2 AND day_counts > 0 AND id <> $3 AND EXISTS (
       SELECT 1 FROM sends WHERE payment_id = payments.id AND coalesce(outcome, 'open') <> ALL ($4))`,
    [merchant, day, but, WITHOUT_MONEY],
  );
  return sumRow.parse(row).sum;
}
