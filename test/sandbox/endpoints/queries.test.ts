import { describe, expect, it } from '@jest/globals';
import { scaledClock } from '../../../sandbox/clock.js';
import { balanceSchema } from '../../../src/provider/schemas.js';
import {
  DAY,
  HOUR,
  MINUTE,
  openLink,
  payDirectly,
  payLink,
  phones,
  type Running,
  SECOND,
  startSandbox,
  textOf,
  transactionsOf,
} from '../../support/running-sandbox.js';

const statusesOf = async (times: number, ask: () => Promise<{ status: number }>) => {
  const statuses = [];
  for (let nth = 0; nth < times; nth++) statuses.push((await ask()).status);
  return statuses;
};
const six = Array(6).fill(200);

describe('GET /payment-status/{transId}', () => {
  it('answers 404 with a message for a transaction that does not exist', async () => {
    const { get } = await startSandbox();
    const reply = await get('/payment-status/none');
    expect(reply.status).toBe(404);
    expect(textOf(reply, 'message')).toContain('transId');
  });

  it('answers six requests a minute for a transaction, then 429 with Retry-After', async () => {
    const running = await startSandbox();
    const path = `/payment-status/${await openLink(running)}`;
    expect(await statusesOf(6, () => running.get(path))).toEqual(six);
    await running.advance(20 * SECOND);
    const reply = await running.get(path);
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('40');
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it('counts each transaction on its own', async () => {
    const running = await startSandbox();
    const [one, other] = [await openLink(running), await openLink(running)];
    await statusesOf(7, () => running.get(`/payment-status/${one}`));
    expect((await running.get(`/payment-status/${other}`)).status).toBe(200);
  });

  it('slides its window: each answer makes room 60 seconds later, and a 429 takes none', async () => {
    const running = await startSandbox();
    const ask = async () => running.get(path);
    const path = `/payment-status/${await openLink(running)}`;
    expect(await statusesOf(3, ask)).toEqual([200, 200, 200]);
    await running.advance(30 * SECOND);
    expect(await statusesOf(6, ask)).toEqual([200, 200, 200, 429, 429, 429]);
    await running.advance(30 * SECOND - 1);
    expect(await statusesOf(1, ask)).toEqual([429]);
    await running.advance(1);
    expect(await statusesOf(4, ask)).toEqual([200, 200, 200, 429]);
    await running.advance(MINUTE);
    expect(await statusesOf(7, ask)).toEqual([...six, 429]);
  });

  it('says in real seconds when to come back, however fast its clock is', async () => {
    const running = await startSandbox({ clock: scaledClock({ scale: 0.01 }) });
    const path = `/payment-status/${await openLink(running)}`;
    await statusesOf(6, () => running.get(path));
    const seconds = Number((await running.get(path)).headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(5000);
    expect(seconds).toBeLessThanOrEqual(6000);
  });
});

/** Six transactions, one of each status and a second CREATED one, on two days; all within 24 hours. */
async function withTransactions() {
  const running = await startSandbox();
  const expired = await openLink(running, { amount: 600 });
  await running.post('/expire-pay', { transId: expired });
  const failed = await openLink(running, { amount: 500 });
  payLink(running, failed, phones.fails);
  await running.advance(HOUR);
  const successful = await payDirectly(running, { amount: 400, phone: phones.orange });
  const pending = await payDirectly(running, { amount: 300, phone: phones.stays });
  await running.advance(DAY - 3 * HOUR);
  const created = await openLink(running, { amount: 200 });
  await running.advance(HOUR);
  const newest = await openLink(running, { amount: 500 });
  return { running, ids: { expired, failed, successful, pending, created, newest } };
}

const found = async (running: Running, query: string) =>
  transactionsOf(await running.get(`/search?${query}`)).map(({ transId }) => transId);

const all = ['newest', 'created', 'pending', 'successful', 'failed', 'expired'] as const;

describe('GET /search', () => {
  it.each([
    ['', all],
    ['status=created', ['newest', 'created']],
    ['status=successful', ['successful']],
    ['status=failed', ['failed']],
    ['status=expired', ['expired']],
    ['medium=mobile+money', ['pending', 'failed']],
    ['medium=orange%20money', ['successful']],
    ['start=2025-03-11', ['newest', 'created', 'pending', 'successful']],
    ['end=2025-03-10', ['failed', 'expired']],
    ['start=2025-03-11&end=2025-03-11', ['newest', 'created', 'pending', 'successful']],
    ['start=2025-03-12', []],
    ['amt=500', ['newest', 'failed']],
    ['amt=1', []],
    ['sort=asc', [...all].reverse()],
    ['sort=desc', all],
    ['limit=2', ['newest', 'created']],
    ['limit=2&sort=asc', ['expired', 'failed']],
    ['amt=500&status=failed&medium=mobile+money&start=2025-03-10&end=2025-03-10', ['failed']],
  ] as const)('finds by %p', async (query, names) => {
    const { running, ids } = await withTransactions();
    expect(await found(running, query)).toEqual(names.map((name) => ids[name]));
  });

  it.each([
    'status=pending',
    'status=SUCCESSFUL',
    'status=',
    'status=failed&status=created',
    'medium=platform',
    'medium=cash',
    'start=2025-13-01',
    'start=2025-02-30',
    'start=yesterday',
    'end=10%2F03%2F2025',
    'amt=many',
    'amt=500.5',
    'amt=5e2',
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=2.5',
    'limit=two',
    'sort=up',
    'sort=ASC',
    'unknown=1',
  ])('ignores %p', async (query) => {
    const { running, ids } = await withTransactions();
    expect(await found(running, query)).toEqual(all.map((name) => ids[name]));
  });

  it('gives 10 results unless told otherwise, 100 at most', async () => {
    const running = await startSandbox();
    for (let nth = 0; nth < 105; nth++) await openLink(running);
    expect(await found(running, '')).toHaveLength(10);
    expect(await found(running, 'limit=101')).toHaveLength(10);
    expect(await found(running, 'limit=100')).toHaveLength(100);
    expect(await found(running, 'limit=1')).toHaveLength(1);
  });

  it('goes by the date of initiation, not of payment', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: '677000602' });
    await running.advance(2 * HOUR);
    expect(await found(running, 'start=2025-03-11')).toEqual([]);
    expect(await found(running, 'end=2025-03-10&status=successful')).toEqual([transId]);
  });
});

describe('GET /transaction/{userId}', () => {
  it("lists all of a user's transactions, most recent first, and nobody else's", async () => {
    const running = await startSandbox();
    const first = await openLink(running, { userId: 'ann' });
    await openLink(running, { userId: 'ben' });
    await openLink(running);
    const second = await payDirectly(running, { userId: 'ann' });
    const listed = transactionsOf(await running.get('/transaction/ann'));
    expect(listed.map(({ transId }) => transId)).toEqual([second, first]);
  });

  it('has no paging', async () => {
    const running = await startSandbox();
    for (let nth = 0; nth < 120; nth++) await openLink(running, { userId: 'ann' });
    expect(transactionsOf(await running.get('/transaction/ann'))).toHaveLength(120);
  });

  it('is empty for a user without any', async () => {
    const { get } = await startSandbox();
    expect(await get('/transaction/nobody')).toMatchObject({ status: 200, body: [] });
  });

  it.each(['a%20b', 'a.b', '%C3%A9', 'x'.repeat(101), 'a%2Fb'])('refuses the userId %s with 400', async (userId) => {
    const { get } = await startSandbox();
    const reply = await get(`/transaction/${userId}`);
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain('userId');
  });
});

describe('GET /balance', () => {
  it('names the service that asks, and XAF', async () => {
    const { get } = await startSandbox();
    const [collection, payout] = [await get('/balance'), await get('/balance', 'payout')];
    expect(balanceSchema.parse(collection.body)).toMatchObject({
      service: 'Shop collections',
      currency: 'XAF',
    });
    expect(balanceSchema.parse(payout.body)).toMatchObject({ service: 'Shop payouts', currency: 'XAF' });
  });

  it('makes up another balance at each request', async () => {
    const { get } = await startSandbox();
    const balances = [];
    for (let nth = 0; nth < 5; nth++) balances.push(balanceSchema.parse((await get('/balance')).body).balance);
    expect(new Set(balances).size).toBe(5);
    expect(balances.every((balance) => balance >= 0)).toBe(true);
  });

  it('is what payouts have left of the funds, of which a failed one takes nothing', async () => {
    const running = await startSandbox({ payoutFunds: 1_000 });
    const left = async () => balanceSchema.parse((await running.get('/balance', 'payout')).body).balance;
    const pay = (amount: number, phone: string) => running.post('/payout', { amount, phone }, 'payout');
    expect((await pay(600, phones.fails)).status).toBe(200);
    expect(await left()).toBe(400);
    const refused = await pay(401, phones.succeeds);
    expect([refused.status, textOf(refused, 'message')]).toEqual([
      400,
      'The balance of the service is too low for this payout',
    ]);
    await running.advance(SECOND);
    expect(await left()).toBe(1_000);
    expect((await pay(1_000, phones.succeeds)).status).toBe(200);
    await running.advance(SECOND);
    expect(await left()).toBe(0);
    expect(running.sandbox.ledger.all()).toHaveLength(2);
  });
});
