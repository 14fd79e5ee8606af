import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import type { Query } from '../../src/book/database.js';
import { post } from '../../src/book/inbox.js';
import { takeTurn } from '../../src/book/turn.js';
import type { PaymentOrder, PayoutOrder } from '../../src/payments/words/order.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { newBook, type TestBook } from '../support/books.js';
import { directOrder, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';
import { Hand, World } from './hand.js';

/*
 * Two transactions at a time on a real PostgreSQL, in every order of their statements that its locks allow: what holds
 * for each order holds for any two processes.
 */

let made: TestBook;
let book: Book;
/** The two, whose connections serve all runs. */
let both: readonly [Stepped, Stepped];
beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  both = [new Stepped(made.url, testEncryption), new Stepped(made.url, testEncryption)];
});
afterAll(async () => {
  for (const one of both) await one.close();
  await made.drop();
});

function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A transaction that waits before each of its statements until it may go on. */
class Stepped extends Book {
  #go: (() => void) | undefined;
  #ready = deferred();
  #isOver = false;
  pid: number | undefined;

  override transaction<T>(body: (query: Query) => Promise<T>): Promise<T> {
    return super.transaction(async (query) => {
      this.pid ??= Number((await query('SELECT pg_backend_pid() AS pid'))[0]?.pid);
      const result = await body(async (text, values) => {
        await this.#turn();
        return await query(text, values);
      });
      // The COMMIT.
      await this.#turn();
      return result;
    });
  }

  #turn(): Promise<void> {
    const { promise, resolve } = deferred();
    this.#go = resolve;
    this.#ready.resolve();
    return promise;
  }

  /** Begins the work. @returns what becomes of it */
  begin<T>(work: (book: Book) => Promise<T>): Promise<T> {
    this.#ready = deferred();
    this.#isOver = false;
    this.pid = undefined;
    const ended = work(this).finally(() => {
      this.#isOver = true;
      this.#ready.resolve();
    });
    ended.catch(() => undefined);
    return ended;
  }

  /** Until it may go on, or is over. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  step(): void {
    this.#ready = deferred();
    this.#go?.();
  }
}

/** Most statements take less, in ms: what takes longer may wait for a lock. */
const QUICK_MS = 5;

/** Waits until a transaction may go on, or waits for the other's lock. */
async function settle(one: Stepped): Promise<'ready' | 'blocked'> {
  const quick = new AbortController();
  const isQuick = one.ready.then(() => true);
  const isSlow = pause(QUICK_MS, false, { signal: quick.signal }).catch(() => false);
  if (await Promise.race([isQuick, isSlow])) {
    quick.abort();
    return 'ready';
  }
  for (;;) {
    const isReady = await Promise.race([
      one.ready.then(() => true),
      book
        .query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", [one.pid ?? 0])
        .then(async (rows) => (rows.length > 0 ? false : undefined)),
    ]);
    if (isReady !== undefined) return isReady ? 'ready' : 'blocked';
  }
}

/** Whose turn it was: 0 is the first's. */
type Who = 0 | 1;

interface Step {
  readonly who: Who;
  /** The other could have gone on as well. */
  readonly isFree: boolean;
}

/** Runs two works in the order that the choices name; then, whichever can go on. */
async function inOrder<A, B>(
  choices: readonly Who[],
  first: (book: Book) => Promise<A>,
  second: (book: Book) => Promise<B>,
): Promise<{ readonly results: readonly [A, B]; readonly taken: readonly Step[] }> {
  const ends = [both[0].begin(first), both[1].begin(second)] as const;
  const taken: Step[] = [];
  await Promise.all(both.map(({ ready }) => ready));
  for (;;) {
    const states = await Promise.all(both.map((one) => (one.isOver ? 'over' : settle(one))));
    if (both.every(({ isOver }) => isOver)) return { results: [await ends[0], await ends[1]], taken };
    const able = ([0, 1] as const).filter((who) => states[who] === 'ready' && !both[who].isOver);
    const wanted = choices[taken.length] ?? 0;
    const who = able.includes(wanted) ? wanted : able[0];
    if (who === undefined) continue;
    taken.push({ who, isFree: able.length > 1 });
    both[who].step();
  }
}

/** Every order of two works, found by going back to each choice that could have been another. */
async function everyOrder(run: (choices: readonly Who[]) => Promise<readonly Step[]>): Promise<number> {
  const seen = new Set<string>();
  const open: (readonly Who[])[] = [[]];
  for (let choices = open.pop(); choices !== undefined; choices = open.pop()) {
    const steps = await run(choices);
    const taken = steps.map(({ who }) => who);
    seen.add(taken.join(''));
    for (const [index, { who, isFree }] of steps.entries()) {
      if (index >= choices.length && isFree) open.push([...taken.slice(0, index), who === 0 ? 1 : 0]);
    }
  }
  return seen.size;
}

let number = 0;
const world = new World();
const claimed =
  (order: PaymentOrder, maxPerDay?: number, merchant = 'shop') =>
  (on: Book) =>
    claim(on, { order, terms, merchant, fingerprint: `${order.amount}`, requestId: 'r', maxPerDay }, world.now);
const payout = (changes: Partial<PayoutOrder> = {}): PayoutOrder => ({
  ...payoutOrder,
  id: paymentId(`pay_${++number}`),
  ...changes,
});

/** A collection of 5,000 XAF that is SUCCESSFUL. */
async function collected(): Promise<PaymentId> {
  const order = { ...directOrder, id: paymentId(`col_${++number}`) };
  const shop = new World();
  await claimed(order)(book);
  const hand = new Hand(book, shop, order.id);
  await hand.run();
  shop.status = 'SUCCESSFUL';
  shop.now += 5 * MINUTE;
  await hand.run();
  return order.id;
}

describe('in every order of their statements', () => {
  it('of two claims of one id, one makes the payment', async () => {
    const orders = await everyOrder(async (choices) => {
      const order = payout();
      const { results, taken } = await inOrder(choices, claimed(order), claimed(order));
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['claimed', 'repeated']);
      return taken;
    });
    expect(orders).toBeGreaterThan(1);
  });

  it('two payouts take no more than the day has', async () => {
    const orders = await everyOrder(async (choices) => {
      const merchant = `merchant-${++number}`;
      const { results, taken } = await inOrder(
        choices,
        claimed(payout({ amount: 600 }), 1_000, merchant),
        claimed(payout({ amount: 600 }), 1_000, merchant),
      );
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['claimed', 'overDay']);
      return taken;
    });
    expect(orders).toBeGreaterThan(1);
  });

  it('two refunds take no more than was collected', async () => {
    const orders = await everyOrder(async (choices) => {
      const refundOf = await collected();
      const { results, taken } = await inOrder(
        choices,
        claimed(payout({ amount: 3_000, refundOf })),
        claimed(payout({ amount: 3_000, refundOf })),
      );
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['claimed', 'noRoom']);
      return taken;
    });
    expect(orders).toBeGreaterThan(1);
  });

  it('an attempt is either fenced, or called off: never both', async () => {
    const orders = await everyOrder(async (choices) => {
      const { id } = payout();
      await claimed({ ...payoutOrder, id })(book);
      const hand = new Hand(book, world, id);
      await hand.takeTurn();
      const { results, taken } = await inOrder(
        choices,
        async (on) => {
          const other = new Hand(on, world, id);
          other.turn = hand.turn;
          return (await other.fence()).kind;
        },
        async (on) => (await takeTurn(on, id, { begins: true }, world.now))?.todo.kind,
      );
      const [fenced, todo] = results;
      // Fenced first: nobody knows what becomes of it, and it is looked for. Closed first: it is tried again later.
      const [row] = await book.query('SELECT outcome FROM sends WHERE payment_id = $1', [id]);
      expect([fenced, row?.outcome]).toEqual(fenced === 'fenced' ? ['fenced', undefined] : ['stale', 'closed']);
      expect(todo).not.toBe('send');
      return taken;
    });
    expect(orders).toBeGreaterThan(1);
  });

  it('one transaction pays one payment, and the other goes to a person', async () => {
    /** A payout in doubt, for which the list shows the transaction. */
    const inDoubt = async (transId: TransId) => {
      const { id } = payout();
      await claimed({ ...payoutOrder, id })(book);
      const lost = new Hand(book, world, id);
      await lost.takeTurn();
      await lost.fence();
      await new Hand(book, world, id).takeTurn();
      const at = world.now + MINUTE;
      const { token = 0 } = (await takeTurn(book, id, {}, at)) ?? {};
      const transactions = [{ transId, status: 'PENDING', amount: payoutOrder.amount }] as const;
      const done = { token, kind: 'listed', answer: { kind: 'listed', transactions }, at } as const;
      return async (on: Book) => (await takeTurn(on, id, { done }, at))?.after.phase.kind;
    };
    // They share nothing but the transaction: what matters is how far one is when the other comes to its end.
    for (let steps = 0; ; steps++) {
      const transId = `T-of-${payout().id}` as TransId;
      const choices: readonly Who[] = [...Array<Who>(steps).fill(0), ...Array<Who>(99).fill(1)];
      const { results, taken } = await inOrder(choices, await inDoubt(transId), await inDoubt(transId));
      expect(results.toSorted()).toEqual(['following', 'review']);
      if (taken[steps]?.who !== 1) break;
    }
  });

  it('a refund is fenced, or its collection is contradicted first', async () => {
    const orders = await everyOrder(async (choices) => {
      const refundOf = await collected();
      const refund = payout({ amount: 3_000, refundOf });
      await claimed(refund)(book);
      const hand = new Hand(book, world, refund.id);
      await hand.takeTurn();
      const shop = new World();
      shop.now += 60 * MINUTE;
      await post(book, refundOf, { kind: 'hint', transId: 'another' }, shop.now);
      const { results, taken } = await inOrder(
        choices,
        async (on) => {
          const other = new Hand(on, world, refund.id);
          other.turn = hand.turn;
          return (await other.fence()).kind;
        },
        async (on) => (await takeTurn(on, refundOf, {}, shop.now))?.todo.kind,
      );
      expect(['fenced', 'doubtful', 'withheld']).toContain(results[0]);
      return taken;
    });
    expect(orders).toBeGreaterThan(1);
  });
});
