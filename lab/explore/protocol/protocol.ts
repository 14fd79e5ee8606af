import type { Book, Fence, Row, Token, Waker } from './book.js';
import type { Answer } from './payment.js';

/** The rules that the book and its hands keep. A mutant is the protocol with one of them broken. */
export interface Protocol {
  /** A transaction locks the payment's row before it reads. */
  readonly locksRow: boolean;
  /** Names what is to be done with a number that was never given before, even if the book goes back. */
  readonly tokenFor: (version: number, stamp: number) => Token;
  /** An answer counts only while its token is the row's. */
  readonly isAwaited: (row: Row, token: Token) => boolean;
  /** An answer counts as of when it was got. */
  readonly timeOf: (answer: Answer, now: number) => number;
  /** An attempt's outcome counts whenever it comes, from whomever. */
  readonly takesOutcome: (isOwn: boolean) => boolean;
  /** What became of an attempt stands in its fence alone: anybody can complete its activity, with anything. */
  readonly trusts: 'fence' | 'activity';
  /** A turn that changes anything reads the messages, though what was asked is not answered: nothing else will. */
  readonly readsInbox: (isAnswered: boolean) => boolean;
  /** An attempt that has ended, however it ended, leaves its number behind. */
  readonly numberAfter: (attempt: number) => number;
  /** Whoever doubts an attempt looks whether its fence was written: only if not, it was surely not sent. */
  readonly looksAtFence: boolean;
  /** Silence of the list about an attempt in doubt counts only once it can't leave any more. */
  readonly isOpenUntil: (fence: Fence, now: number) => number;
  /** A run that was told a later version than the row's knows that the book has gone back. */
  readonly isOlder: (row: Row, told: number) => boolean;
  /** A hand whose fence, or whose outcome in it, has gone knows so, too. */
  readonly missesOutcome: boolean;
  /** What is written for a payment makes its row due. */
  readonly wakesFor: (what: Waker) => boolean;
  /** A fence is written only in the state that decided its attempt, and never while a gap is open. */
  readonly maySend: (book: Book, token: Token) => boolean;
  /** Right before a request leaves, its hand looks at its clocks. */
  readonly mayLeave: (fence: Pick<Fence, 'leavesBy'>, now: number) => boolean;
  /** Before it writes a fence, a hand reads the provider's list: in the same seconds. */
  readonly reads: 'beforeFence' | 'afterFence' | 'never';
  readonly isFresh: (listedAt: number, now: number) => boolean;
  /** A hand's timer is set before it looks whether the bell was rung. */
  readonly setsTimerFirst: boolean;
  /** Nothing is told before it is committed. */
  readonly tellsAfterCommit: boolean;
  /** Nobody writes a fence, or stops a payment, who hasn't beaten in both stores within the last seconds. */
  readonly beatsFirst: boolean;
  /** Who beats, and finds the book's last beat older than Temporal's, records a gap in the same transaction. */
  readonly recordsGap: boolean;
}

/** The rules as they have to be. */
export const PROTOCOL: Protocol = {
  locksRow: true,
  tokenFor: (_version, stamp) => stamp,
  isAwaited: (row, token) => row.asked === token,
  timeOf: ({ at }) => at,
  takesOutcome: () => true,
  trusts: 'fence',
  readsInbox: () => true,
  numberAfter: (attempt) => attempt + 1,
  looksAtFence: true,
  isOpenUntil: ({ leavesBy }) => leavesBy,
  isOlder: (row, told) => told > row.version,
  missesOutcome: true,
  wakesFor: () => true,
  maySend: ({ row, gap }, token) => row.asked === token && (gap === 'none' || gap === 'looked'),
  mayLeave: ({ leavesBy }, now) => now <= leavesBy,
  reads: 'beforeFence',
  isFresh: (listedAt, now) => listedAt === now,
  setsTimerFirst: true,
  tellsAfterCommit: true,
  beatsFirst: true,
  recordsGap: true,
};
