import pg from 'pg';
import { heldUntil } from '../payments/machine/held.js';
import type { Todo } from '../payments/machine/plan.js';
import { sentBy } from '../payments/machine/refunds.js';
import { amountPaidOf } from '../payments/views/to-payment.js';
import { refundOf, sendAtOf } from '../payments/words/order.js';
import { isFinalPayment, type PaymentState, reviewOf, statusOf, transIdOf } from '../payments/words/payment-state.js';
import type { Book } from './book.js';
import type { Course, Turn } from './course.js';
import type { Query } from './database.js';
import { addNotifications } from './notifications.js';
import { addToDay, lockState, newNumber, type StateRow } from './rows.js';
import { mayHaveLeft } from './sends.js';
import { takeMatched } from './unmatched.js';

interface Written {
  /** Numbers of the messages that were taken. */
  readonly taken: readonly number[];
  /** There may be others. */
  readonly isMore: boolean;
  readonly asksNothing: boolean;
  readonly now: number;
}

/** Writes what has come of a turn, all under the lock of the payment's state. */
export async function writeTurn(
  book: Book,
  query: Query,
  before: StateRow,
  course: Course,
  { taken, isMore, asksNothing, now }: Written,
): Promise<Turn> {
  const { id } = before;
  const version = before.version + 1;
  const todo = course.kept.todo ?? { kind: 'end' };
  const token = isAsking(todo) && !asksNothing ? newNumber() : undefined;
  const isTold = (await takeEarlierHints(book, query, before.kept.state, course.kept.state, now)) || isMore;
  const wakeAt = isTold ? now : dueAt(todo, now);
  await query(
    `UPDATE states SET version = $2, asked = $3, attempt = $4, changed_at = $5, wake_at = $6, sealed = $7
     WHERE id = $1`,
    [
      ...[id, version, token ?? null, course.attempt, new Date(course.changedAt)],
      ...[
        wakeAt === undefined ? null : new Date(wakeAt),
        await book.seals.seal({ table: 'states', id, version }, course.kept),
      ],
    ],
  );
  await writeColumns(book, query, before.kept.state, course.kept.state);
  await writeReplies(book, query, id, version, taken, course);
  await addNotifications(query, id, course.notified);
  return {
    todo: isTold && token === undefined ? { kind: 'wait', until: now, summary: 'Take what else has come' } : todo,
    token,
    attempt: course.attempt,
    version,
    at: now,
    before: before.kept.state,
    after: course.kept.state,
  };
}

/** @returns whether the payment was notified of its transaction before it had that */
async function takeEarlierHints(
  book: Book,
  query: Query,
  before: PaymentState,
  after: PaymentState,
  now: number,
): Promise<boolean> {
  const transId = transIdOf(after);
  if (transId === undefined || transId === transIdOf(before)) return false;
  return await takeMatched(book, query, after.order.id, transId, now);
}

/** Reports whether something goes to the provider, whose answer has to name what has asked for it. */
export function isAsking({ kind }: Todo): boolean {
  return kind !== 'wait' && kind !== 'end';
}

/** Returns when something is due, in ms since the epoch; `undefined`: nothing is, ever. */
export function dueAt(todo: Todo, now: number): number | undefined {
  if (todo.kind === 'end') return undefined;
  return todo.kind === 'wait' ? todo.until : now;
}

/** Changes the columns that differ, and the room that the payment takes of others. */
async function writeColumns(book: Book, query: Query, before: PaymentState, after: PaymentState): Promise<void> {
  const mayLeave = after.phase.kind !== 'ended' || (await mayHaveLeft(query, after.order.id));
  const wanted = columnsOf(after, mayLeave);
  const names = Object.keys(wanted);
  const of = refundOf(after.order);
  // What a refund takes of its collection is read by others under this lock.
  if (of !== undefined && sentBy(before) !== sentBy(after)) await lockState(query, book.seals, of);
  const [was] = await query(
    `WITH was AS (SELECT merchant, counts_on, day_counts FROM payments WHERE id = $1)
     UPDATE payments SET ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')} FROM was
     WHERE id = $1 AND (${names.map((name, index) => `payments.${name} IS DISTINCT FROM $${index + 2}`).join(' OR ')})
     RETURNING was.merchant, was.counts_on, was.day_counts`,
    [after.order.id, ...Object.values(wanted)],
  );
  if (was === undefined || typeof was.countsOn !== 'string') return;
  const more = wanted.day_counts - Number(was.dayCounts);
  if (more !== 0) await addToDay(query, String(was.merchant), was.countsOn, more);
}

/** Reports whether a turn has failed because another payment, in the same moment, has come to go by its transaction. */
export function isTransactionTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'payments_by_trans_id';
}

/** @param mayLeave whether a request of it has left, may have, or may still leave */
function columnsOf(payment: PaymentState, mayLeave: boolean) {
  const { order, phase, facts, sends, release } = payment;
  const { amount } = order;
  const isUnsent = phase.kind === 'ended' && sends.count === 0 && !mayLeave;
  const refundCounts = refundOf(order) === undefined || isUnsent ? 0 : sentBy(payment);
  const sendAt = sendAtOf(order);
  const { since, until } = waitOf(payment);
  return {
    status: statusOf(payment),
    final: isFinalPayment(payment),
    held_for: phase.kind === 'held' ? [...phase.for] : [],
    waits_since: since === undefined ? null : new Date(since),
    waits_until: until === undefined ? null : new Date(until),
    send_at: sendAt === undefined ? null : new Date(sendAt),
    released_at: release?.at === undefined ? null : new Date(release.at),
    amount_paid: amountPaidOf(payment) ?? null,
    trans_id: transIdOf(payment) ?? null,
    financial_trans_id: facts.financialTransId ?? null,
    refund_counts: refundCounts,
    // A resend is money once more.
    day_counts: order.kind !== 'payout' || isUnsent ? 0 : amount * Math.max(1, sends.count),
  };
}

/** Since when a payment has waited for a person or its date, and until when it does; in ms since the epoch. */
export function waitOf(payment: PaymentState): { readonly since?: number; readonly until?: number } {
  const { phase } = payment;
  if (phase.kind === 'held') return { since: phase.since, until: heldUntil(payment, phase, phase.for[0]) };
  const review = reviewOf(payment);
  return review === undefined ? {} : { since: review.since };
}

async function writeReplies(
  book: Book,
  query: Query,
  id: string,
  version: number,
  taken: readonly number[],
  { replies }: Course,
): Promise<void> {
  if (taken.length > 0) {
    await query('UPDATE inbox SET taken_in = $2 WHERE id = ANY ($1::bigint[])', [taken.map(String), version]);
  }
  // Some are of messages that an earlier turn took.
  for (const reply of replies) {
    const sealed = await book.seals.seal({ table: 'replies', id, version: reply.request }, { reply });
    await query('UPDATE inbox SET reply = $2 WHERE id = $1', [reply.request, sealed]);
  }
}
