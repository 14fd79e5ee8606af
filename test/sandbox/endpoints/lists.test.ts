import { describe, expect, it } from '@jest/globals';
import {
  DAY,
  HOUR,
  openLink,
  payDirectly,
  payLink,
  phones,
  type Running,
  startSandbox,
  textOf,
  transactionsOf,
} from '../running-sandbox.js';

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

  it.each(['a%20b', 'a.b', '%C3%A9', 'x'.repeat(101), 'a%2Fb'])(
    'refuses the userId %s with 400',
    async (userId) => {
      const { get } = await startSandbox();
      const reply = await get(`/transaction/${userId}`);
      expect(reply.status).toBe(400);
      expect(textOf(reply, 'message')).toContain('userId');
    },
  );
});
