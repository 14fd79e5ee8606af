import type { Book, Done, Fence, Input, Token } from './book.js';
import { type FinalWord, type Payment, type PaymentEvent, step, type Todo, todoOf } from './payment.js';
import type { Protocol } from './protocol.js';

/** Who takes a turn, and when. */
export interface Turning {
  readonly now: number;
  /** A number that was never given before. */
  readonly stamp: number;
  /** The latest version that the run was told. */
  readonly told: number;
  /** Somebody has beaten since the book may have gone back. */
  readonly isCompared: boolean;
  readonly protocol: Protocol;
}

export interface Turned {
  readonly book: Book;
  readonly todo: Todo;
  readonly token: Token | undefined;
  /** The decisions that were made, by persons. */
  readonly decided: readonly ('resend' | 'fail')[];
  /** The payment has ended in this turn. */
  readonly ended?: FinalWord | undefined;
}

/** A turn: takes what has come, steps the payment, and writes what is to be done next. */
export function turn(before: Book, input: Input, turning: Turning): Turned {
  const { now, protocol } = turning;
  const { row } = before;
  const isCut = before.gap === 'recorded' || (before.gap === 'none' && hasGoneBack(before, input, turning));
  const book: Book = isCut ? { ...before, gap: 'open' } : before;
  // A gap drops what was asked.
  const isAwaited = input.kind === 'done' && protocol.isAwaited(row, input.token) && !isCut;
  const done = isAwaited ? input.done : undefined;
  const known = before.fences.filter((fence) => isNews(fence) && protocol.takesOutcome(isAwaited));
  const nothingNew = done === undefined && input.kind !== 'begin' && known.length === 0 && !isCut;
  if (row.asked !== undefined && nothingNew) {
    return { book: before, todo: todoOf(row, now), token: row.asked, decided: [] };
  }
  const isUntrusted = done?.kind === 'told' && protocol.trusts === 'fence';
  const isDoubted = input.kind === 'begin' || done?.kind === 'doubted' || isUntrusted;
  const closed = isDoubted && row.phase.kind === 'sending' ? close(book, turning) : [];
  const fences = book.fences.map((fence) => (known.includes(fence) ? { ...fence, isTaken: true } : fence));
  const isAnswered = row.asked === undefined || done !== undefined || input.kind === 'begin';
  const events: PaymentEvent[] = [
    ...(isCut ? [{ kind: 'gap' } as const] : []),
    ...(done === undefined ? [] : answered(done, row, protocol, now)),
    ...known.flatMap(({ attempt, outcome, leavesBy }) =>
      outcome === undefined ? [] : [{ kind: 'sent', attempt, outcome, leavesBy } as const],
    ),
    ...closed,
  ];
  const stepped = stepAll(row, events, turning);
  const heard = protocol.readsInbox(isAnswered)
    ? readInbox(stepped, { ...book, fences }, turning)
    : { payment: stepped, ...unread(book) };
  return write({ ...book, ...heard.book, fences }, heard.payment, heard.decided, turning);
}

/** Reports whether the book has forgotten what it has told the run, or what the hand has written. */
function hasGoneBack({ row, fences }: Book, input: Input, { told, protocol }: Turning): boolean {
  if (protocol.isOlder(row, told)) return true;
  if (input.kind !== 'done' || input.done.kind !== 'sent' || !protocol.missesOutcome) return false;
  return row.asked === input.token && !fences.some(({ attempt, outcome }) => attempt === row.attempt && outcome);
}

function isNews({ outcome, isTaken }: Fence): boolean {
  return outcome !== undefined && !isTaken;
}

function answered(done: Done, { attempt }: Payment, protocol: Protocol, now: number): PaymentEvent[] {
  switch (done.kind) {
    case 'list':
    case 'status':
      return [{ ...done, at: protocol.timeOf(done, now) }];
    case 'shown':
      return [done];
    case 'told':
      return protocol.trusts === 'activity' ? [{ kind: 'sent', attempt, outcome: 'notSent', leavesBy: now }] : [];
    case 'sent':
    case 'doubted':
      return [];
  }
}

/**
 * Closes the attempt that may be under way. If nobody has written its fence, nobody will: the turn gives the row
 * another token. It was surely not sent then; otherwise its outcome counts, or it is ambiguous.
 */
function close({ row, fences }: Book, { now, protocol }: Turning): PaymentEvent[] {
  const { attempt } = row;
  const fence = protocol.looksAtFence ? fences.find((one) => one.attempt === attempt) : undefined;
  if (fence?.outcome !== undefined) return [];
  if (fence === undefined) return [{ kind: 'sent', attempt, outcome: 'closed', leavesBy: now }];
  return [{ kind: 'sent', attempt, outcome: 'ambiguous', leavesBy: protocol.isOpenUntil(fence, now) }];
}

function stepAll(payment: Payment, events: readonly PaymentEvent[], { now, protocol }: Turning): Payment {
  const moment = { now, numberAfter: protocol.numberAfter };
  return events.reduce((before, event) => step(before, event, moment).payment, payment);
}

interface Heard {
  readonly payment: Payment;
  readonly book: Pick<Book, 'inbox' | 'gap'>;
  readonly decided: readonly ('resend' | 'fail')[];
}

function unread({ inbox, gap }: Book): Omit<Heard, 'payment'> {
  return { book: { inbox, gap }, decided: [] };
}

/** Applies the messages that wait, each once. */
function readInbox(payment: Payment, book: Book, { now, protocol, isCompared }: Turning): Heard {
  const moment = { now, numberAfter: protocol.numberAfter };
  return book.inbox.reduce<Heard>(
    (heard, message, index) => {
      const { kind, review } = message;
      if (message.reply !== undefined) return heard;
      // What is stopped may have been sent in a time that the book has lost.
      const isStop = kind === 'cancel' || kind === 'reject';
      const { payment: after, reply } =
        isStop && !isCompared
          ? { payment: heard.payment, reply: 'refused' as const }
          : step(heard.payment, { kind: 'message', message: kind, review }, moment);
      const isMade = (kind === 'resend' || kind === 'fail') && reply === 'done';
      return {
        payment: after,
        book: {
          inbox: heard.book.inbox.map((one, at) => (at === index ? { ...one, reply } : one)),
          gap: isMade && heard.book.gap === 'open' ? 'looked' : heard.book.gap,
        },
        decided: isMade ? [...heard.decided, kind] : heard.decided,
      };
    },
    { payment, ...unread(book) },
  );
}

/** Time counts last; then all is written at once. */
function write(book: Book, payment: Payment, decided: Heard['decided'], turning: Turning): Turned {
  const { now, stamp, protocol } = turning;
  const { payment: after } = step(payment, { kind: 'time' }, { now, numberAfter: protocol.numberAfter });
  const todo = todoOf(after, now);
  const version = book.row.version + 1;
  const token = todo.kind === 'ask' || todo.kind === 'send' ? protocol.tokenFor(version, stamp) : undefined;
  const wakeAt = todo.kind === 'wait' ? todo.until : todo.kind === 'end' ? undefined : now;
  const isEnded = book.row.phase.kind !== 'ended' && after.phase.kind === 'ended';
  return {
    book: { ...book, row: { ...after, version, asked: token, wakeAt } },
    todo,
    token,
    decided,
    ended: isEnded && after.phase.kind === 'ended' ? after.phase.as : undefined,
  };
}
