import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { runKeeper } from '../../src/worker/keeper.js';
import { newBook, type TestBook } from '../support/books.js';
import { eventually } from '../support/eventually.js';
import { HOUR, paymentId, payoutOrder, terms } from '../support/orders.js';

const logger = pino({ level: 'silent' });
const PACE = { lookMs: 20, lateMs: 60_000 };

let made: TestBook;
let book: Book;
let stopping: AbortController;
let running: Promise<unknown>;
let number = 0;

beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await running;
  await made.drop();
});

/** Payouts that were claimed an hour ago, and that nobody has begun with. */
async function claimed(count: number): Promise<readonly PaymentId[]> {
  const ids = Array.from({ length: count }, () => paymentId(`pay_${++number}`));
  for (const id of ids) {
    const order = { ...payoutOrder, id };
    await claim(book, { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'r' }, Date.now() - HOUR);
  }
  return ids;
}

function keep(ring: (id: PaymentId) => Promise<void>, keepers = 1): void {
  const options = { book, ring, logger, pace: PACE };
  running = Promise.all(Array.from({ length: keepers }, () => runKeeper(options, stopping.signal)));
}

describe('a keeper', () => {
  it('rings each payment that is overdue, once, together with others', async () => {
    const ids = await claimed(30);
    const rung: PaymentId[] = [];
    keep(async (id) => {
      rung.push(id);
    }, 3);
    await eventually(
      async () => rung.length,
      (count) => count >= ids.length,
    );
    // Looks on, and finds nothing more.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(rung.toSorted()).toEqual([...ids].toSorted());
  });

  it('lets one that can not be rung hold up no other', async () => {
    const [bad, ...others] = await claimed(5);
    const rung: PaymentId[] = [];
    keep(async (id) => {
      if (id === bad) throw new Error('too many signals');
      rung.push(id);
    });
    await eventually(
      async () => rung.length,
      (count) => count === others.length,
    );
    expect(new Set(rung)).toEqual(new Set(others));
  });

  it.each([3, 7])('lets %d that can never be rung, and are the longest overdue, hold up no other', async (count) => {
    const bad = new Set(await claimed(count));
    const others = await claimed(4);
    const rung = new Set<PaymentId>();
    keep(async (id) => {
      if (bad.has(id)) throw new Error('too many signals');
      rung.add(id);
    });
    expect(
      await eventually(
        async () => [...rung].toSorted(),
        ({ length }) => length === others.length,
      ),
    ).toEqual([...others].toSorted());
  });

  it('begins again as soon as Temporal is back', async () => {
    const ids = await claimed(6);
    let isAway = true;
    let tries = 0;
    const rung = new Set<PaymentId>();
    keep(async (id) => {
      tries++;
      if (isAway) throw new Error('Temporal is away');
      rung.add(id);
    });
    await eventually(
      async () => tries,
      (count) => count > 6,
    );
    isAway = false;
    await eventually(
      async () => rung.size,
      (size) => size === ids.length,
    );
  });
});
