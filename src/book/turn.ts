import { z } from 'zod';
import type { PaymentEvent } from '../payments/machine/events.js';
import { step } from '../payments/machine/machine.js';
import { transactionsIn, withOwners } from '../payments/machine/other-owners.js';
import type { Todo } from '../payments/machine/plan.js';
import { recordStep } from '../payments/views/timeline.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import type { ProviderStatus } from '../payments/words/transaction.js';
import type { Book } from './book.js';
import { isSame, type Message, message as sealedMessage } from './content.js';
import type { Course, Turn } from './course.js';
import type { Query } from './database.js';
import { LEAVES_WITHIN_MS } from './fence.js';
import { gapObjection, mayLackLink, recordGap } from './gaps.js';
import { ownersOf } from './payments.js';
import { keysLinkedTo, wasNamed } from './people.js';
import { lockState, type StateRow } from './rows.js';
import { close, mayHaveLeft, takeOutcomes } from './sends.js';
import { dueAt, isAsking, isTransactionTaken, writeTurn } from './writing.js';

export type { Turn };

/**
 * Whoever was to send is over with it. What became of it stands in the attempt's row alone: anybody who reaches
 * Temporal can complete an activity with anything.
 */
type Sent = { readonly kind: 'sent' };

/** What a hand has done, with the token that asked for it. */
export type Done = { readonly token: number } & (
  | Sent
  | { readonly kind: 'listed'; readonly answer: ListAnswer; readonly at: number }
  | { readonly kind: 'status'; readonly answer: StatusAnswer; readonly at: number }
  | { readonly kind: 'expired'; readonly answer: ExpiryAnswer; readonly at: number }
);

export interface Taking {
  readonly done?: Done | undefined;
  /** A run begins: whatever was under way is nobody's now. */
  readonly begins?: true | undefined;
  /** What this run was told by the turn before: a higher version than the row's shows that the book went back. */
  readonly told?: Told | undefined;
  /**
   * Whoever takes it does nothing at the provider: what is to be done is left to the next turn of a run, which has to
   * be rung.
   */
  readonly asksNothing?: true | undefined;
}

/** The version of a turn, and its time in ms since the epoch. */
export interface Told {
  readonly version: number;
  readonly at: number;
}

/** An event, and when it was, in ms since the epoch. */
interface News {
  readonly event: PaymentEvent;
  readonly at: number;
}

/**
 * Takes a payment's turn: one transaction that locks its state, takes what has come, steps the machine, and writes the
 * state and all that follows from it. Beside the claim, and the erasing of a payer's data, nothing else changes a
 * payment. Whatever is repeated, doubled, late or lost meets the lock or the token: each has one effect.
 *
 * @param now ms since the epoch
 * @returns `undefined` when there is no such payment
 */
export async function takeTurn(book: Book, id: PaymentId, taking: Taking, now: number): Promise<Turn | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await takeOnce(book, id, taking, now);
    } catch (error) {
      if (!isTransactionTaken(error) || tries === MAX_TRIES) throw error;
    }
  }
}

/** Turns of as many payments have come to one transaction at a time: now, one of them goes by it. */
const MAX_TRIES = 3;

async function takeOnce(book: Book, id: PaymentId, taking: Taking, now: number): Promise<Turn | undefined> {
  return await book.transaction(async (query) => {
    const row = await lockState(query, book.seals, id);
    const { told } = taking;
    if (told !== undefined && told.version > (row?.version ?? 0)) {
      await recordGap(query, told.at, `the workflow of ${id} was told version ${told.version}`, now);
    }
    if (row === undefined) return undefined;
    // What is under way comes back by itself, or is overdue.
    if (taking.asksNothing && taking.done === undefined && row.asked !== undefined) return repeated(row, now);
    // Nobody has begun a payment that is as it was claimed: whoever goes on with it does.
    const begins = taking.begins || (row.version === 1 && !taking.asksNothing) || undefined;
    const answered = await answersTo(book, query, row, { ...taking, begins }, now);
    const isAnswered = row.asked === undefined || answered.isAnswered;
    if (!isAnswered && answered.news.length === 0) return repeated(row, now);
    const messages = isAnswered ? await readInbox(book, query, row, now) : [];
    // Before the answers: one of them may end it.
    const { gapAt } = row;
    const isGap = isAnswered && gapAt !== undefined && mayLackLink(row.kept.state, gapAt);
    const gap: readonly News[] = isGap ? [{ event: { kind: 'gap', at: gapAt }, at: now }] : [];
    const news = [
      ...gap,
      ...answered.news,
      ...messages.map(({ news }) => news),
      { event: { kind: 'time' } as const, at: now },
    ];
    const before: Course = { ...row, attempt: row.attempt + answered.attempts, replies: [], notified: [] };
    let after = before;
    for (const one of news) after = await take(query, after, one);
    const { todo } = after.kept;
    const isEmpty = row.asked === undefined && messages.length === 0 && isSame(after.kept, row.kept);
    if (isEmpty && todo !== undefined && !isAsking(todo) && row.wakeAt === dueAt(todo, now)) return repeated(row, now);
    const taken = messages.map(({ number }) => number);
    const asksNothing = taking.asksNothing === true;
    const isMore = messages.length === MESSAGES_AT_ONCE;
    return await writeTurn(book, query, row, after, { taken, isMore, asksNothing, now });
  });
}

/** Nothing is written: the turn was taken before and its answer lost, or nothing has come. */
function repeated({ asked, attempt, version, kept }: StateRow, at: number): Turn {
  const { state, todo = { kind: 'wait', summary: 'Until something happens' } as const } = kept;
  return { todo, token: asked, attempt, version, at, before: state, after: state };
}

async function take(query: Query, course: Course, { event: come, at }: News): Promise<Course> {
  const { state: before, timeline } = course.kept;
  const owners = await ownersOf(query, transactionsIn(before, come), before.order.id);
  const event = withOwners(before, come, owners);
  const now = Math.max(at, course.changedAt);
  const { payment: after, todo, replies, notified } = step(before, event, now);
  return {
    kept: { state: after, timeline: recordStep(timeline, { before, event, after, replies }, now), todo },
    attempt: course.attempt,
    changedAt: now,
    replies: [...course.replies, ...replies],
    notified: notified === undefined ? course.notified : [...course.notified, { type: notified, at: now }],
  };
}

/** What a turn takes before the inbox. */
interface Answers {
  readonly news: readonly News[];
  /** What was asked for is answered, or nobody's any more. */
  readonly isAnswered: boolean;
  /** Attempts to send that have ended: each leaves its number behind. */
  readonly attempts: number;
}

/** Takes the answer that was asked for, and the outcomes of attempts: those of the one under way, and late ones. */
async function answersTo(
  book: Book,
  query: Query,
  row: StateRow,
  { done, begins }: Taking,
  now: number,
): Promise<Answers> {
  const isOurs = done !== undefined && done.token === row.asked;
  const isSending = row.asked !== undefined && row.kept.todo?.kind === 'send';
  const isDoubted = begins === true || isOurs;
  // While a request may be on its way, nothing but its own outcome changes the payment.
  const outcomes = await takeOutcomes(book, query, row.id, isSending && !isDoubted ? row.attempt : undefined);
  const late = outcomes
    .filter(({ attempt }) => attempt !== row.attempt)
    .flatMap(({ outcome }) => lateNews(outcome, now));
  if (!isSending) {
    const news = isOurs ? [answerNews(done, row.kept.todo)] : [];
    const begun: readonly News[] = begins ? [{ event: { kind: 'begin' }, at: now }] : [];
    return { news: [...news, ...late, ...begun], isAnswered: isOurs || begins === true, attempts: 0 };
  }
  const kept = outcomes.find(({ attempt }) => attempt === row.attempt)?.outcome;
  const known = kept ?? (isDoubted ? await doubt(book, query, row, now) : undefined);
  if (known === undefined) return { news: [], isAnswered: false, attempts: 0 };
  const outcome = await unlessLost(book, query, row, known, now);
  return { news: [{ event: { kind: 'sent', outcome }, at: now }, ...late], isAnswered: true, attempts: 1 };
}

/**
 * Ends the attempt under way for good, whatever has become of whoever made it. One whose fence was written may still
 * leave, since it was written before this: within seconds, and then until its call is given up.
 */
async function doubt(
  book: Book,
  query: Query,
  { id, attempt, kept: { state } }: StateRow,
  now: number,
): Promise<InitiationOutcome> {
  const known = await close(book, query, id, attempt, now);
  if (known.kind === 'ended') return known.outcome;
  if (known.kind === 'closed') return { kind: 'notSent', reason: 'no worker sent the request' };
  const leavesBy = now + LEAVES_WITHIN_MS + state.terms.providerTimeoutMs;
  return { kind: 'ambiguous', reason: 'the worker was lost before it could report', leavesBy };
}

/**
 * Returns what became of an attempt. What wasn't sent may have been before, in a time that the book has lost: then
 * nobody knows, whatever one look at the list has shown. Until it is certain that nothing is lost, a payment doesn't
 * end as never sent for having been tried for long enough.
 */
async function unlessLost(
  book: Book,
  query: Query,
  { kept: { state } }: StateRow,
  outcome: InitiationOutcome,
  now: number,
): Promise<InitiationOutcome> {
  if (outcome.kind !== 'notSent' && outcome.kind !== 'withheld' && outcome.kind !== 'unauthorized') return outcome;
  const objection = await gapObjection(book, query, state, undefined, now);
  if (objection?.kind === 'lost') {
    // A hand that the book has forgotten may be about to send it.
    const leavesBy = now + LEAVES_WITHIN_MS + state.terms.providerTimeoutMs;
    return { kind: 'ambiguous', reason: `nobody knows whether it was sent: ${objection.why}`, leavesBy };
  }
  if (objection === undefined || outcome.kind === 'unauthorized') return outcome;
  const { reason } = outcome;
  return outcome.kind === 'notSent' ? { ...outcome, isUnread: true } : { kind: 'notSent', isUnread: true, reason };
}

/** @throws Error for an answer to another question than the one asked: its token would have to be another, too. */
function answerNews(done: Done, todo: Todo | undefined): News {
  if (done.kind === 'listed' && todo?.kind === 'lookUp') return { event: done, at: done.at };
  if (done.kind === 'status' && todo?.kind === 'askStatus') {
    const { transId, isClaim } = todo;
    return { event: { kind: 'status', transId, isClaim, answer: done.answer }, at: done.at };
  }
  if (done.kind === 'expired' && todo?.kind === 'expire') {
    return { event: { kind: 'expired', transId: todo.transId, answer: done.answer }, at: done.at };
  }
  throw new Error(`${done.kind} is no answer to ${todo?.kind ?? 'nothing'}`);
}

/**
 * An attempt that was doubted has reported after all. If the provider took it, that is a reason to ask about its
 * transaction, as a notification is; anything else was found by the provider's list, or will be.
 */
function lateNews(outcome: InitiationOutcome, now: number): readonly News[] {
  return outcome.kind === 'accepted' ? [{ event: { kind: 'hint', transId: outcome.transId }, at: now }] : [];
}

/** Messages that one turn takes: with more it would take longer than its time limit, and never come to an end. */
const MESSAGES_AT_ONCE = 500;

const inboxRow = z.object({ id: z.coerce.number(), at: z.date(), sealed: z.instanceof(Buffer) });

/** Reads what has come and wasn't taken yet, the oldest first. */
async function readInbox(book: Book, query: Query, { id, kept, gapAt }: StateRow, now: number) {
  const rows = await query(
    'SELECT id, at, sealed FROM inbox WHERE payment_id = $1 AND taken_in IS NULL ORDER BY id LIMIT $2',
    [id, MESSAGES_AT_ONCE],
  );
  const messages: { readonly number: number; readonly at: number; readonly message: Message }[] = [];
  for (const row of rows) {
    const { id: number, at, sealed } = inboxRow.parse(row);
    const opened = await book.seals.open({ table: 'inbox', id }, sealed, sealedMessage);
    const message = await withPeople(query, opened.message, kept.state);
    messages.push({ number, at: Math.min(at.getTime(), now), message });
  }
  // A book that has gone back doesn't know all that has left.
  const left =
    messages.some(({ message: { kind } }) => kind === 'expire' || kind === 'rejectPayout') &&
    (mayLackLink(kept.state, gapAt) ||
      (await mayHaveLeft(query, id)) ||
      (await gapObjection(book, query, kept.state, undefined, now)) !== undefined);
  return messages.map(({ number, at, message }) => ({ number, news: { event: toEvent(message, number, left), at } }));
}

/** Says of whoever does a part of what takes two people which keys may be theirs, and whether they are new. */
async function withPeople(query: Query, message: Message, { createdAt }: PaymentState): Promise<Message> {
  switch (message.kind) {
    case 'approve': {
      const keys = await keysLinkedTo(query, { name: message.by, keys: message.keys });
      return { ...message, keys, ...(!(await wasNamed(query, message.by, createdAt)) && { isNew: true }) };
    }
    case 'decide': {
      const { by: name, keys } = message.resolution;
      return { ...message, resolution: { ...message.resolution, keys: await keysLinkedTo(query, { name, keys }) } };
    }
    default:
      return message;
  }
}

/** @param mayHaveBeenSent whether anything of the payment has left, or may have: of interest to what ends it unsent */
function toEvent(message: Message, request: number, mayHaveBeenSent: boolean): PaymentEvent {
  switch (message.kind) {
    case 'hint': {
      const status = message.status as ProviderStatus | undefined;
      return message.transId === undefined
        ? { kind: 'hintWithoutTransaction', status }
        : { kind: 'hint', transId: message.transId as TransId, status };
    }
    case 'looked':
      return message;
    case 'expire':
      return { ...message, request, mayHaveBeenSent };
    case 'rejectPayout':
      return { ...message, request, mayHaveBeenSent };
    default:
      return { ...message, request };
  }
}
