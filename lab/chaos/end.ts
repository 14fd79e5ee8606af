import { Database, type Query } from '../../src/book/database.js';
import type { Loss } from '../audit/audit-all.js';
import { type BookAtEnd, countUndone, readBook } from '../audit/booked.js';
import type { ObservedPayment } from '../people/observed-payment.js';
import { type ChaosContext, wait } from './context.js';

/** Time limit for what the book still has to do once all payments have ended, in ms: the keeper looks each minute. */
const UNDONE_MS = 180_000;
const LOOK_MS = 500;

/** Waits until nothing is left to do, or until the time for that is over: operators still decide meanwhile. */
export async function untilDone(context: ChaosContext): Promise<void> {
  context.report('waiting until the book has nothing left to do');
  await withBook(context, async (query) => {
    const deadline = performance.now() + UNDONE_MS;
    const isDone = async () => (await countUndone(query, new Date())) === 0;
    while (!(await isDone()) && performance.now() < deadline) await wait(LOOK_MS, context);
  });
}

export async function bookOf(context: ChaosContext): Promise<BookAtEnd> {
  return await withBook(context, readBook);
}

async function withBook<T>({ book }: ChaosContext, read: (query: Query) => Promise<T>): Promise<T> {
  const database = new Database(book.url('postgres'));
  try {
    return await read(database.query);
  } finally {
    await database.close();
  }
}

/** From the book's copy to its return, in ms since the epoch. */
export interface LostTime {
  readonly from: number;
  readonly to: number;
}

/**
 * Says what the book has lost of a payment when it went back. An order may be committed as soon as it is asked for, and
 * answered a while after that.
 */
export function lossIn(record: ObservedPayment, lost: LostTime | undefined): Loss {
  const { firstAskedAt, takenAt, refused, notifications } = record;
  if (lost === undefined || refused || firstAskedAt === undefined || takenAt === undefined) return {};
  if (firstAskedAt > lost.to) return {};
  const last = notifications.findLast(({ acknowledged, at }) => acknowledged && at < lost.from);
  const isLost = last?.content.data.final !== true;
  return { isLost, isForgotten: isLost && takenAt > lost.from };
}
