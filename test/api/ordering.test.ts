import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

describe('an order', () => {
  it('for a link is answered with the link, and its payment ends when it is paid', async () => {
    const { status, body } = await stack.post('/v1/collections', link, randomUUID());
    expect([status, body.status, body.link]).toEqual([201, 'CREATED', expect.stringContaining('http')]);
    await stack.visit(body, 'pay');
    expect((await stack.hint(body)).status).toBe(200);
    const paid = await stack.read(body.id, '?wait=60');
    expect(paid.body).toMatchObject({ status: 'SUCCESSFUL', final: true, refundable: 500 });
  });

  it('for a payout is answered once the provider has taken it', async () => {
    const key = randomUUID();
    const { status, body } = await stack.post('/v1/payouts', payout, key);
    expect([status, body.transId]).toEqual([201, expect.any(String)]);
    const again = await stack.post('/v1/payouts', payout, key);
    expect([again.status, again.body.id]).toEqual([200, body.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await stack.post('/v1/payouts', { ...payout, amount: 800 }, key);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(stack.transactionsOf(body.id)).toHaveLength(1);
  });

  it('is carried out once, however often it is repeated at the same time', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => stack.post('/v1/collections', link, key)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.link)).size).toBe(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
    expect(stack.transactionsOf(answers[0]?.body.id)).toHaveLength(1);
  });

  it('exists from its claim on, though no worker runs, and can be withdrawn', async () => {
    await stack.withoutWorker(async () => {
      const { status, body } = await stack.hasty.post('/v1/payouts', payout, randomUUID());
      expect([status, body.status]).toEqual([202, 'CREATED']);
      expect((await stack.read(body.id)).body.status).toBe('CREATED');
    });
  });
});

describe('a link', () => {
  it('is expired on request', async () => {
    const { body } = await stack.post('/v1/collections', link, randomUUID());
    const expired = await stack.post(`/v1/collections/${body.id}/expire`);
    expect([expired.status, expired.body.status]).toEqual([200, 'EXPIRED']);
    const again = await stack.post(`/v1/collections/${body.id}/expire`);
    expect(again.status).toBe(200);
  });
});

describe('lists', () => {
  it('select by method, amount, day and reference, and say what they come to', async () => {
    const externalId = `order-${randomUUID().slice(0, 8)}`;
    const { body } = await stack.post('/v1/collections', { ...link, amount: 12_345, externalId }, randomUUID());
    const list = async (query: string) =>
      (await stack.api.ask('GET', `/v1/payments?${query}`, { key: KEYS.shop })).body;
    for (const query of [
      'amount[gte]=12345&amount[lte]=12345',
      `reference=${externalId.slice(0, 9)}`,
      `reference=${body.transId}`,
      `reference=${body.id}`,
      `externalId=${externalId}&method=link`,
    ]) {
      expect((await list(query)).data.map(({ id }: { id: string }) => id)).toEqual([body.id]);
    }
    expect((await list(`externalId=${externalId}&method=direct`)).data).toEqual([]);
    expect((await list(`externalId=${externalId}&totals=true`)).totals).toEqual({
      count: 1,
      amount: 12_345,
      amountPaid: 0,
    });
  });
});

describe('a refund', () => {
  it('takes its room with its claim: at the same time, all together never exceed what was collected', async () => {
    const paid = await stack.begun('/v1/collections', { ...link, refundTo: '677000000' });
    await stack.visit(paid, 'pay');
    await stack.hint(paid);
    await stack.read(paid.id, '?wait=60');
    const path = `/v1/collections/${paid.id}/refunds`;
    const body = { amount: 300, reason: 'Twice' };
    const answers = await Promise.all(Array.from({ length: 3 }, () => stack.post(path, body, randomUUID())));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422]);
    const { body: sums } = await stack.api.ask('GET', path, { key: KEYS.shop });
    expect(sums).toMatchObject({ collected: 500, refunding: 300, refundable: 200 });
  });
});

describe('a notification of the provider that names nobody known', () => {
  it('is kept, and shown to operators once', async () => {
    for (const _ of [1, 2]) {
      expect((await stack.notify({ transId: 'Tunknown', status: 'SUCCESSFUL', externalId: 'their-own' })).status).toBe(
        200,
      );
    }
    const { body } = await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator });
    expect(body.data.filter(({ transId }: { transId: string }) => transId === 'Tunknown')).toHaveLength(1);
  });
});

describe('the feed', () => {
  it('has what happened, each once', async () => {
    const paid = await stack.paid(randomUUID());
    const read = () => stack.api.ask('GET', '/v1/events', { key: KEYS.shop });
    const { body } = await eventually(read, (answer) =>
      answer.body.data.some(({ paymentId }: { paymentId: string }) => paymentId === paid.id),
    );
    const next = await stack.api.ask('GET', `/v1/events?cursor=${body.nextCursor}`, { key: KEYS.shop });
    expect(next.body.data).toEqual([]);
  });
});
