import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { sentOutcome } from '../../src/book/content.js';
import { BookUnavailable } from '../../src/book/database.js';
import type { LimitsNow } from '../../src/book/fence.js';
import { takeTurn } from '../../src/book/turn.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { newBook, type TestBook } from '../support/books.js';
import { clientOf, closeServers, serveHttp } from '../support/local-servers.js';
import { noCollections } from '../support/no-collections.js';
import { DAY, directOrder, linkOrder, paymentId, payoutOrder, terms } from '../support/orders.js';

/** The activities that send. */
type Sending = Exclude<keyof Activities, 'takeTurn'>;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
const NOTHING: Answer = { status: 200, body: [] };

/** The provider's answers; without one, it is silent. */
let [list, taken]: [Answer | undefined, Answer | undefined] = [NOTHING, undefined];
/** What the provider was asked. */
const asked: { readonly line: string; readonly body: unknown }[] = [];
let onceAsked: ((method: string) => Promise<unknown>) | undefined;
let made: TestBook;
let book: Book;
let url: string;
beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  ({ url } = await serveHttp(async (response, { method, path, body }) => {
    asked.push({ line: `${method} ${path}`, body: body === '' ? undefined : JSON.parse(body) });
    await onceAsked?.(method);
    const answer = method === 'GET' ? list : taken;
    if (answer === undefined) return;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  }));
});
afterAll(async () => {
  await closeServers();
  await made.drop();
});
beforeEach(() => {
  list = NOTHING;
  taken = { status: 200, body: { transId: 'T1', message: 'ok', link: 'http://pay.example/1' } };
  asked.length = 0;
  onceAsked = undefined;
});

const lines = () => asked.map(({ line }) => line.split('/').slice(0, 2).join('/'));
const posts = () => lines().filter((line) => line.startsWith('POST'));

interface Circumstances {
  /** The worker's book. */
  readonly by?: Book;
  readonly limitsOf?: () => LimitsNow | 'gone';
  /** The worker has to stop as soon as the provider is asked like that. */
  readonly stopsOnceAsked?: 'GET' | 'POST';
  readonly startToCloseTimeoutMs?: number;
  /** Age of the payment when it is to be sent, and time that it has to be sent, in ms. */
  readonly age?: number;
  readonly sendByMs?: number;
  readonly providerTimeoutMs?: number;
}

let number = 0;

/** A payment whose first attempt a turn has decided, and the turn's token. */
async function decided(order: PaymentOrder, given: Circumstances = {}) {
  const { age = 0, sendByMs = terms.sendByMs, providerTimeoutMs = terms.providerTimeoutMs } = given;
  const id = paymentId(`${order.id}_${++number}`);
  const request = { merchant: 'shop', fingerprint: 'f', requestId: 'r' };
  await claim(
    book,
    { order: { ...order, id }, terms: { ...terms, sendByMs, providerTimeoutMs }, ...request },
    Date.now() - age,
  );
  const turn = await takeTurn(book, id, { begins: true }, Date.now());
  if (turn?.token === undefined) throw new Error('nothing is to be sent');
  return { id, token: turn.token, attempt: turn.attempt };
}

type Attempt = Awaited<ReturnType<typeof decided>>;

/** Makes an attempt as a worker would. */
function attempt({ id, ...attempted }: Attempt, activity: Sending, given: Circumstances = {}): Promise<void> {
  const { by = book, limitsOf = () => ({}), startToCloseTimeoutMs = 60_000 } = given;
  const activities = createActivities({
    book: by,
    providers: { collection: clientOf(url), payout: clientOf(url, { service: 'payout' }) },
    collections: noCollections,
    limitsOf,
    logger: pino({ level: 'silent' }),
    reports: { report: () => undefined },
  });
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs });
  if (given.stopsOnceAsked !== undefined) {
    onceAsked = async (method) => {
      if (method === given.stopsOnceAsked) environment.cancel();
    };
  }
  return environment.run(() => activities[activity](id, attempted));
}

/** What became of the attempt, as its row has it, and whether its fence was written. */
async function outcomeOf({ id, attempt }: Attempt) {
  const [row] = await book.query('SELECT hand, sealed FROM sends WHERE payment_id = $1 AND attempt = $2', [
    id,
    attempt,
  ]);
  if (row === undefined) return { isFenced: false };
  const isFenced = row.hand !== undefined;
  if (!(row.sealed instanceof Buffer)) return { isFenced };
  const { outcome } = await book.seals.open({ table: 'sends', id, version: attempt }, row.sealed, sentOutcome);
  return { isFenced, outcome };
}

async function send(order: PaymentOrder, activity: Sending = 'sendPayout', given: Circumstances = {}) {
  const one = await decided(order, given);
  expect(await attempt(one, activity, given)).toBeUndefined();
  return await outcomeOf(one);
}

const FENCED = { isFenced: true };
const ACCEPTED = { ...FENCED, outcome: { kind: 'accepted', transId: 'T1' } };

describe('an attempt to send a payment', () => {
  it('waits, as one whose list can not be read, until it is certain that the book has not gone back', async () => {
    await book.query("UPDATE beats SET at = '-infinity'");
    try {
      expect(await send(payoutOrder)).toEqual({
        isFenced: false,
        outcome: { kind: 'notSent', isUnread: true, reason: expect.stringContaining('has not gone back') },
      });
      expect(posts()).toEqual([]);
    } finally {
      await book.query("UPDATE beats SET at = 'infinity'");
    }
  });

  it.each([
    ['a payout', { ...payoutOrder, phone: undefined }, 'sendPayout'],
    ['a request on a phone', { ...directOrder, phone: '' }, 'requestOnPhone'],
  ] as const)('is not made once the payer’s data was erased (%s)', async (_, order, activity) => {
    expect(await send(order, activity)).toMatchObject({ isFenced: false, outcome: { kind: 'ambiguous' } });
    expect(posts()).toEqual([]);
  });

  it('is made right after a list that shows nothing, and its outcome is kept in its fence', async () => {
    expect(await send(payoutOrder)).toEqual(ACCEPTED);
    expect(lines()).toEqual(['GET /transaction', 'POST /payout']);
    expect(await send(directOrder, 'requestOnPhone')).toMatchObject(ACCEPTED);
    expect(asked.at(-2)?.line).toMatch(/^GET \/transaction\/col_2_\d+_direct$/);
  });

  it('looks for no link: one that nobody was given moves no money', async () => {
    expect(await send(linkOrder, 'createLink')).toMatchObject(ACCEPTED);
    expect(lines()).toEqual(['POST /initiate-pay']);
  });

  it("never sends the merchant's own userId or externalId, which would list other payments, too", async () => {
    await send({ ...directOrder, userId: 'user-7', externalId: 'order-7' }, 'requestOnPhone');
    const { body } = asked.at(-1) ?? {};
    expect(body).toMatchObject({ externalId: expect.stringMatching(/^col_2_\d+$/) });
    expect(JSON.stringify(body)).not.toMatch(/user-7|order-7/);
  });

  it.each([
    ['names the payment', { externalId: 'it' }],
    ['names nobody', {}],
  ])('sends nothing when the list shows a transaction that %s', async (_, named) => {
    const one = await decided(payoutOrder);
    const owner = 'externalId' in named ? { externalId: one.id, userId: one.id } : {};
    list = { status: 200, body: [{ transId: 'T7', status: 'PENDING', ...owner }] };
    await attempt(one, 'sendPayout');
    expect(await outcomeOf(one)).toMatchObject({
      isFenced: false,
      outcome: { kind: 'ambiguous', shown: [{ transId: 'T7', status: 'PENDING' }] },
    });
    expect(posts()).toEqual([]);
  });

  it('sends it when the list shows the payment of somebody else alone', async () => {
    list = { status: 200, body: [{ transId: 'T7', status: 'PENDING', externalId: 'pay_of_others' }] };
    expect(await send(payoutOrder)).toMatchObject(ACCEPTED);
  });

  it.each<[string, Answer]>([
    ['is refused', { status: 404, body: { message: 'no such user' } }],
    ['fails', { status: 500, body: {} }],
    ['asks to wait', { status: 429, body: { message: 'slow down' } }],
    ['is nothing that can be read', { status: 200, body: { transId: 'T7' } }],
  ])('sends nothing, which is certain, when the list %s', async (_, answer) => {
    list = answer;
    expect(await send(payoutOrder)).toMatchObject({ isFenced: false, outcome: { kind: 'notSent', isUnread: true } });
    expect(posts()).toEqual([]);
  });

  it('sends nothing when the provider refuses our credentials for the list', async () => {
    list = { status: 401, body: { message: 'who?' } };
    expect(await send(payoutOrder)).toMatchObject({ isFenced: false, outcome: { kind: 'unauthorized' } });
    expect(posts()).toEqual([]);
  });

  it.each([401, 403, 404, 429, 500])(
    'leaves in doubt what a lost book may have sent, when the list answers %d',
    async (status) => {
      list = { status, body: { message: 'no' } };
      const one = await decided(payoutOrder);
      await book.query("INSERT INTO gaps (at, found) VALUES ($1, 'test')", [new Date()]);
      await attempt(one, 'sendPayout');
      const turn = await takeTurn(book, one.id, { done: { kind: 'sent', token: one.token } }, Date.now());
      await book.query('DELETE FROM gaps');
      expect(turn?.after.phase).toMatchObject({
        kind: 'searching',
        ambiguity: { reason: expect.stringContaining('went back in time') },
      });
      expect(posts()).toEqual([]);
    },
  );

  it('sends nothing once its time is over, and says that it never did if the list shows nothing', async () => {
    const late = () => send(payoutOrder, 'sendPayout', { age: terms.sendByMs + 1_000 });
    expect(await late()).toMatchObject({ outcome: { kind: 'withheld', failureCode: 'not_sent' } });
    list = { status: 200, body: [{ transId: 'T9', status: 'PENDING' }] };
    expect(await late()).toMatchObject({ isFenced: false, outcome: { kind: 'ambiguous' } });
    list = { status: 500, body: {} };
    expect(await late()).toMatchObject({ outcome: { kind: 'notSent', isUnread: true } });
    expect(posts()).toEqual([]);
  });

  it('sends nothing when it must stop while it looks, and is in doubt when it must while it sends', async () => {
    list = undefined;
    expect(await send(payoutOrder, 'sendPayout', { stopsOnceAsked: 'GET' })).toMatchObject({
      isFenced: false,
      outcome: { kind: 'notSent' },
    });
    expect(posts()).toEqual([]);
    [list, taken] = [NOTHING, undefined];
    expect(await send(payoutOrder, 'sendPayout', { stopsOnceAsked: 'POST' })).toMatchObject({
      ...FENCED,
      outcome: { kind: 'ambiguous' },
    });
  });

  it('is in doubt before the time limit of its activity, however long the provider takes', async () => {
    taken = undefined;
    const startToCloseTimeoutMs = 4_000;
    const begun = performance.now();
    expect(await send(payoutOrder, 'sendPayout', { startToCloseTimeoutMs })).toMatchObject({
      ...FENCED,
      outcome: { kind: 'ambiguous' },
    });
    // The client itself would wait for longer.
    expect(performance.now() - begun).toBeLessThan(startToCloseTimeoutMs + 2_000);
  });
});

describe('an attempt that is no longer wanted', () => {
  it('asks nothing when another turn has been taken', async () => {
    const one = await decided(payoutOrder);
    await attempt({ ...one, token: one.token + 1 }, 'sendPayout');
    expect(asked).toEqual([]);
    expect(await outcomeOf(one)).toEqual({ isFenced: false });
  });

  it('sends nothing when another run begins while it looks, which closes it', async () => {
    const one = await decided(payoutOrder);
    onceAsked = async (method) => {
      if (method === 'GET') await takeTurn(book, one.id, { begins: true }, Date.now());
    };
    await attempt(one, 'sendPayout');
    expect(posts()).toEqual([]);
  });

  it('sends nothing for a merchant that is gone, or what its limits do not allow now', async () => {
    const below = payoutOrder.amount - 1;
    const all: (LimitsNow | 'gone')[] = ['gone', { maxPerDay: below }, { approveAbove: below }];
    for (const limits of all) {
      for (const age of [0, DAY]) {
        const sent = await send(payoutOrder, 'sendPayout', { age, sendByMs: 2 * DAY, limitsOf: () => limits });
        expect(sent).toMatchObject({ isFenced: false, outcome: { kind: 'notSent' } });
      }
    }
    expect(posts()).toEqual([]);
  });
});

/** A worker's book, of which a part does otherwise. */
function bookThat(changes: Partial<Pick<Book, 'transaction' | 'query'>>): Book {
  return Object.assign(Object.create(book), {
    transaction: book.transaction.bind(book),
    query: book.query,
    ...changes,
  });
}

/** Stops the whole thread, as SIGSTOP stops a process. */
function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a worker', () => {
  it('that was frozen between the fence and the request sends nothing, and says so for certain', async () => {
    const by = bookThat({
      async transaction(body) {
        const fenced = await book.transaction(body);
        freeze(5_100);
        return fenced;
      },
    });
    expect(await send(payoutOrder, 'sendPayout', { by })).toMatchObject({ ...FENCED, outcome: { kind: 'notSent' } });
    expect(posts()).toEqual([]);
  });

  it('that was frozen between the list and the fence sends nothing: the list may be an old one', async () => {
    onceAsked = async (method) => {
      if (method === 'GET') freeze(5_700);
    };
    expect(await send(payoutOrder, 'sendPayout', { providerTimeoutMs: 500 })).toMatchObject({
      isFenced: false,
      outcome: { kind: 'notSent' },
    });
    expect(posts()).toEqual([]);
  });

  it('whose book is away when it would write the fence sends nothing, and says so once it is back', async () => {
    let isAway = true;
    const by = bookThat({
      transaction(body) {
        if (!isAway) return book.transaction(body);
        isAway = false;
        return Promise.reject(new BookUnavailable('away', true));
      },
    });
    const outcome = { kind: 'notSent', reason: 'the book is away' };
    expect(await send(payoutOrder, 'sendPayout', { by })).toEqual({ isFenced: false, outcome });
    expect(posts()).toEqual([]);
  });

  it('whose fence is committed though its answer is lost sends nothing, and the next turn knows', async () => {
    let isBroken = true;
    const by = bookThat({
      async transaction(body) {
        const fenced = await book.transaction(body);
        if (!isBroken) return fenced;
        isBroken = false;
        throw new BookUnavailable('the connection broke', true);
      },
    });
    const one = await decided(payoutOrder);
    await attempt(one, 'sendPayout', { by });
    expect(posts()).toEqual([]);
    expect(await outcomeOf(one)).toMatchObject({ ...FENCED, outcome: { kind: 'notSent' } });
    const turn = await takeTurn(book, one.id, {}, Date.now());
    expect(turn?.after.phase).toMatchObject({ kind: 'waiting' });
    expect(turn).toMatchObject({ attempt: one.attempt + 1 });
  });

  it('that can not keep an outcome leaves it in doubt, and sends it no more', async () => {
    let isAway = false;
    const by = bookThat({
      transaction: (body) => (isAway ? Promise.reject(new BookUnavailable('away', true)) : book.transaction(body)),
    });
    onceAsked = async (method) => {
      isAway = method === 'POST';
    };
    const one = await decided(payoutOrder);
    await attempt(one, 'sendPayout', { by });
    expect(await outcomeOf(one)).toEqual(FENCED);
    const turn = await takeTurn(book, one.id, { done: { kind: 'sent', token: one.token } }, Date.now());
    expect(turn?.after.phase).toMatchObject({ kind: 'searching' });
  });

  it('that makes the same attempt as another says nothing of it, though the list can not be read for it', async () => {
    const one = await decided(payoutOrder);
    let isOther = true;
    onceAsked = async (method) => {
      if (method !== 'POST' || !isOther) return;
      isOther = false;
      list = { status: 500, body: {} };
      await attempt(one, 'sendPayout');
      expect(await outcomeOf(one)).toEqual(FENCED);
    };
    await attempt(one, 'sendPayout');
    expect(posts()).toEqual(['POST /payout']);
    expect(await outcomeOf(one)).toEqual(ACCEPTED);
  });
});
