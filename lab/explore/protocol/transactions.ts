import type { Book, Fence, Message, Token, Waker } from './book.js';
import type { MessageKind, Outcome } from './payment.js';
import type { Protocol } from './protocol.js';

/*
 * What is written for a payment beside its turns: messages, gaps, fences and outcomes. Each function is one
 * transaction, which holds the lock of the payment's row.
 */

/** Whatever is written for a payment makes its row due in the same transaction, since nobody may live to ring. */
function wake(book: Book, what: Waker, now: number, { wakesFor }: Protocol): Book {
  if (!wakesFor(what)) return book;
  const wakeAt = Math.min(now, book.row.wakeAt ?? now);
  return { ...book, row: { ...book.row, wakeAt } };
}

/** Writes a message, for whom nobody has rung yet. */
export function writeMessage(book: Book, kind: MessageKind, now: number, protocol: Protocol): Book {
  const message: Message = { kind, review: book.row.reviews };
  return wake({ ...book, inbox: [...book.inbox, message] }, 'message', now, protocol);
}

/** Writes that the book has gone back. */
export function writeGap(book: Book, now: number, protocol: Protocol): Book {
  return protocol.recordsGap ? wake({ ...book, gap: 'recorded' }, 'gap', now, protocol) : book;
}

/** What came of writing a fence. `mine`: it was written before, and the answer lost. */
export type Fenced = 'written' | 'mine' | 'movedOn' | 'taken';

/** Writes the fence of an attempt, if the row's state is still the one that decided it. */
export function writeFence(
  book: Book,
  { attempt, token, by, isAfterList }: Pick<Fence, 'attempt' | 'by' | 'isAfterList'> & { readonly token: Token },
  now: number,
  protocol: Protocol,
): { readonly book: Book; readonly fenced: Fenced } {
  const fence = book.fences.find((one) => one.attempt === attempt);
  if (fence !== undefined) return { book, fenced: fence.by === by ? 'mine' : 'taken' };
  if (!protocol.maySend(book, token)) return { book, fenced: 'movedOn' };
  const written: Fence = { attempt, by, leavesBy: now, isTaken: false, isAfterList };
  return { book: { ...book, fences: [...book.fences, written] }, fenced: 'written' };
}

/**
 * Writes what came of an attempt into its fence, which only its own hand does. If that has gone, so has the book: back.
 */
export function writeOutcome(
  book: Book,
  { attempt, outcome, by }: { readonly attempt: number; readonly outcome: Outcome; readonly by: number },
  now: number,
  protocol: Protocol,
): Book {
  const isOwn = (fence: Fence) => fence.attempt === attempt && fence.by === by;
  if (!book.fences.some(isOwn)) return protocol.missesOutcome ? writeGap(book, now, protocol) : book;
  const fences = book.fences.map((fence) => (isOwn(fence) ? { ...fence, outcome } : fence));
  return wake({ ...book, fences }, 'outcome', now, protocol);
}
