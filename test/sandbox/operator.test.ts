import { describe, expect, it } from '@jest/globals';
import {
  openLink,
  payDirectly,
  payLink,
  payOut,
  phones,
  START,
  services,
  startSandbox,
  statusOf,
  textOf,
  transactionOf,
} from '../support/running-sandbox.js';

describe('GET /_sandbox/ledger', () => {
  it('tells all of a transaction: what it is, its statuses with their times, and who asked how often', async () => {
    const running = await startSandbox();
    const transId = await openLink(running, { externalId: 'order-7', userId: 'ann' });
    for (let nth = 0; nth < 8; nth++) await running.get(`/payment-status/${transId}`);
    await running.advance(1000);
    payLink(running, transId);
    const reply = await running.operator('GET', '/ledger');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      found: 1,
      next: null,
      transactions: [
        {
          transaction: { transId, status: 'SUCCESSFUL', amount: 1000, revenue: 980, externalId: 'order-7' },
          service: 'collection',
          method: 'link',
          createdAt: START,
          history: [
            { status: 'CREATED', at: START },
            { status: 'PENDING', at: START + 1000 },
            { status: 'SUCCESSFUL', at: START + 1000 },
          ],
          statusCalls: { answered: 6, throttled: 2 },
          attempts: [{ at: START + 1000, action: 'pay' }],
          notifications: [],
          faults: {},
        },
      ],
      totals: {
        created: 1,
        held: 1,
        statuses: { SUCCESSFUL: 1 },
        requests: { 'initiate-pay': 1, 'payment-status': 8 },
        throttled: 2,
      },
    });
  });

  it.each([
    ['externalId=order-2', ['order-2']],
    ['userId=ann', ['order-1', 'order-3']],
    ['userId=ann&externalId=order-2', []],
    ['limit=2', ['order-1', 'order-2']],
    ['limit=2&offset=2', ['order-3']],
    ['limit=0&offset=-1', ['order-1', 'order-2', 'order-3']],
  ])('is filtered and paged by %s, oldest first', async (query, orders) => {
    const running = await startSandbox();
    await openLink(running, { externalId: 'order-1', userId: 'ann' });
    await payOut(running, { externalId: 'order-2', userId: 'ben' });
    await payDirectly(running, { externalId: 'order-3', userId: 'ann' });
    const { body } = await running.operator('GET', `/ledger?${query}`);
    expect(body).toMatchObject({
      transactions: orders.map((externalId) => ({ transaction: { externalId } })),
    });
    expect(body).toHaveProperty('transactions.length', orders.length);
  });

  it('counts the POSTs of each externalId, whether they made a transaction or not', async () => {
    const running = await startSandbox();
    const { faults } = running.sandbox;
    const order = { amount: 1000, phone: phones.stays, externalId: 'order-1' };
    const cut = async (fault: 'resetBeforeCommit' | 'resetAfterCommit') => {
      faults.add({ fault });
      await expect(running.post('/direct-pay', order)).rejects.toThrow();
    };
    await cut('resetBeforeCommit');
    await cut('resetAfterCommit');
    faults.add({ fault: 'gatewayThrottleAfterCommit' });
    await running.post('/direct-pay', order);
    faults.add({ fault: 'throttle' });
    await running.post('/direct-pay', order);
    faults.add({ fault: 'wrongCredentials' });
    await running.post('/direct-pay', order);
    await running.post('/direct-pay', { ...order, amount: 1 });
    await running.post('/direct-pay', order);
    await openLink(running, { externalId: 'order-2' });
    await running.post('/payout', { amount: 1, externalId: 'order-3' }, 'payout');

    const { body } = await running.operator('GET', '/ledger');
    expect(body).toMatchObject({
      posts: [
        { externalId: 'order-1', received: 7, committed: 3 },
        { externalId: 'order-2', received: 1, committed: 1 },
        { externalId: 'order-3', received: 1, committed: 0 },
      ],
    });
    expect(running.sandbox.ledger.all().filter(({ externalId }) => externalId === 'order-1')).toHaveLength(3);
  });

  it('counts no questions, no expiry, and no POST without an externalId or with wrong credentials', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    await running.post('/expire-pay', { transId, externalId: 'order-1' });
    await running.get(`/payment-status/${transId}`);
    const order = { amount: 1000, phone: phones.stays, externalId: 'order-1' };
    await running.post('/direct-pay', { ...order, externalId: 'no identifier' });
    expect((await running.post('/direct-pay', order, 'payout')).status).toBe(403);
    expect((await running.operator('GET', '/ledger')).body).toMatchObject({ posts: [] });
  });

  it.each([
    ['externalId=order-1', ['order-1'], null],
    ['externalId=order-9', ['order-9'], null],
    ['userId=ann', ['order-1', 'order-3'], null],
    ['limit=2', ['order-1', 'order-2'], 2],
    ['limit=2&offset=2', ['order-3', 'order-4'], null],
  ])('has the POSTs that belong to %s', async (query, orders, next) => {
    const running = await startSandbox();
    await openLink(running, { externalId: 'order-1', userId: 'ann' });
    await openLink(running, { externalId: 'order-2', userId: 'ben' });
    await openLink(running, { externalId: 'order-3', userId: 'ann' });
    await running.post('/initiate-pay', { amount: 1, externalId: 'order-4', userId: 'ann' });
    const { body } = await running.operator('GET', `/ledger?${query}`);
    expect(body).toMatchObject({ posts: orders.map((externalId) => ({ externalId })), next });
    expect(body).toHaveProperty('posts.length', orders.length);
  });

  it('is filtered by transId', async () => {
    const running = await startSandbox();
    await openLink(running);
    const transId = await openLink(running);
    const { body } = await running.operator('GET', `/ledger?transId=${transId}`);
    expect(body).toMatchObject({
      found: 1,
      transactions: [{ transaction: { transId } }],
      totals: { held: 2 },
    });
  });

  it('says where the next page starts', async () => {
    const running = await startSandbox();
    await openLink(running);
    await openLink(running);
    expect((await running.operator('GET', '/ledger?limit=1')).body).toMatchObject({ found: 2, next: 1 });
  });

  it("tells no phone and no merchant's webhook address", async () => {
    const webhookUrl = 'http://127.0.0.1:1/secret-token';
    const running = await startSandbox({
      services: { ...services, collection: { ...services.collection, webhookUrl } },
    });
    await payDirectly(running, { phone: phones.stays });
    const { text } = await running.operator('GET', '/ledger');
    expect(text).toContain('PENDING');
    expect(text).not.toContain(phones.stays);
    expect(text).not.toContain('secret-token');
  });
});

describe('POST /_sandbox/transactions/{transId}/settle', () => {
  it.each(['SUCCESSFUL', 'FAILED'])('brings a pending transaction to %s', async (status) => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: phones.stays });
    const reply = await running.operator('POST', `/transactions/${transId}/settle`, { status });
    expect(reply.status).toBe(200);
    expect(transactionOf(reply)).toMatchObject({ transId, status });
    expect(await statusOf(running, transId)).toBe(status);
  });

  it('settles an attempt at a link too', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    payLink(running, transId, phones.stays);
    await running.operator('POST', `/transactions/${transId}/settle`, {
      status: 'FAILED',
      reason: 'No funds',
    });
    expect(transactionOf(await running.get(`/payment-status/${transId}`))).toMatchObject({
      status: 'FAILED',
      reason: 'No funds',
    });
  });

  it.each(['EXPIRED', 'PENDING', undefined])('refuses the status %p with 400', async (status) => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: phones.stays });
    const reply = await running.operator('POST', `/transactions/${transId}/settle`, { status });
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain('status');
  });

  it('refuses what is not pending with 409, and what does not exist with 404', async () => {
    const running = await startSandbox();
    const settle = (transId: string) =>
      running.operator('POST', `/transactions/${transId}/settle`, { status: 'SUCCESSFUL' });
    expect((await settle(await openLink(running))).status).toBe(409);
    expect((await settle('none')).status).toBe(404);
  });
});
