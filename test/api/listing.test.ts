import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { workflowOptions } from '../../src/api/payments/start-payment.js';
import { paymentId, payoutOrder } from '../payments/orders.js';
import { type Answered, KEYS, terms } from '../support/api-under-test.js';
import { eventually, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

const list = (query = '', key: string = KEYS.shop) => stack.api.ask('GET', `/v1/payments${query}`, { key });
const ids = ({ body }: Answered): string[] => body.data.map((payment: { id: string }) => payment.id);
/** A list once visibility knows what it should have. */
const listed = (query: string, length: number, key?: string) =>
  eventually(
    () => list(query, key),
    (answer) => answer.status === 200 && answer.body.data.length === length,
  );

describe('a list of payments', () => {
  it("has the caller's own alone, newest first, as they stand now", async () => {
    const user = 'own-and-newest';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    const sent = await stack.begun('/v1/payouts', { ...payout, userId: user });
    const { body: others } = await stack.post(
      '/v1/payouts',
      { ...payout, userId: user },
      undefined,
      KEYS.rival,
    );
    await stack.visit(link, 'pay');
    await stack.post(`/v1/payments/${link.id}/refresh`);

    const answer = await listed(`?userId=${user}`, 2);
    expect(ids(answer)).toEqual([sent.id, link.id]);
    expect(answer.body).not.toHaveProperty('nextCursor');
    expect(answer.body.data[1]).toEqual((await stack.read(link.id)).body);
    expect(answer.body.data[1]).toMatchObject({ status: 'SUCCESSFUL' });
    expect(ids(await listed(`?userId=${user}`, 1, KEYS.rival))).toEqual([others.id]);
    expect(ids(await list(`?userId=${user}`, KEYS.reader))).toEqual([]);
  });

  it("has everybody's for an operator", async () => {
    const user = 'everybodys';
    const mine = await stack.begun('/v1/payouts', { ...payout, userId: user });
    const { body: others } = await stack.post(
      '/v1/payouts',
      { ...payout, userId: user },
      undefined,
      KEYS.rival,
    );
    const all = await listed(`?userId=${user}`, 2, KEYS.operator);
    expect(all.body.data).toMatchObject([
      { id: others.id, merchant: 'rival', temporalUrl: expect.stringContaining(others.id) },
      { id: mine.id, merchant: 'shop', temporalUrl: expect.stringContaining(mine.id) },
    ]);
    expect(ids(await list(`?userId=${user}&merchant=rival`, KEYS.operator))).toEqual([others.id]);
  });

  it("names neither the merchant nor an internal address to a merchant, and takes no other merchant's name", async () => {
    const user = 'plain';
    await stack.begun('/v1/payouts', { ...payout, userId: user });
    const own = await listed(`?userId=${user}&merchant=shop`, 1);
    expect(own.body.data[0]).not.toHaveProperty('merchant');
    expect(own.body.data[0]).not.toHaveProperty('temporalUrl');
    const { status, body } = await list('?merchant=rival');
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('has what is asked for alone', async () => {
    const user = 'filtered';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    const expired = await stack.begun('/v1/collections', {
      method: 'link',
      amount: 500,
      userId: user,
      externalId: 'order-1',
    });
    await stack.post(`/v1/collections/${expired.id}/expire`);
    const sent = await stack.begun('/v1/payouts', { ...payout, userId: user, externalId: 'order-1' });
    await listed(`?userId=${user}`, 3);

    expect(ids(await list(`?userId=${user}&kind=collection`))).toEqual([expired.id, link.id]);
    expect(ids(await list(`?userId=${user}&externalId=order-1`))).toEqual([sent.id, expired.id]);
    expect(ids(await listed(`?userId=${user}&status=EXPIRED`, 1))).toEqual([expired.id]);
    expect(ids(await list(`?userId=${user}&kind=payout&status=EXPIRED`))).toEqual([]);

    const between = Date.parse(expired.createdAt);
    const since = new Date(between - 1_000).toISOString();
    expect(ids(await list(`?userId=${user}&created[gte]=${since}`))).toContain(sent.id);
    expect(ids(await list(`?userId=${user}&created[lt]=2020-01-01`))).toEqual([]);
    expect(ids(await list(`?userId=${user}&created[gte]=2999-01-01`))).toEqual([]);
    expect(ids(await list(`?userId=${user}&created%5Blt%5D=2999-01-01T00:00:00%2B01:00`))).toHaveLength(3);
  });

  it('comes in pages, which what happens meanwhile does not shift', async () => {
    const user = 'paged';
    const begun: string[] = [];
    for (let count = 0; count < 5; count++) {
      begun.unshift((await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user })).id);
    }
    await listed(`?userId=${user}`, 5);
    const first = await list(`?userId=${user}&limit=2`);
    // One that was on the first page ends, and a new one begins.
    await stack.post(`/v1/collections/${begun[0]}/expire`);
    await stack.begun('/v1/payouts', { ...payout, userId: user });
    await listed(`?userId=${user}`, 6);

    const second = await list(`?userId=${user}&limit=2&cursor=${first.body.nextCursor}`);
    const third = await list(`?userId=${user}&limit=2&cursor=${second.body.nextCursor}`);
    expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(begun);
    expect(third.body).not.toHaveProperty('nextCursor');
  });

  it('goes by how a payment stands now, and not by how visibility has it', async () => {
    const user = 'as-it-stands';
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await listed(`?userId=${user}&status=CREATED`, 1);
    await stack.post(`/v1/collections/${id}/expire`);
    // Visibility may not know yet; the payment does.
    expect(ids(await list(`?userId=${user}&status=CREATED`))).toEqual([]);
  });

  it('has a payment whose workflow was stopped among those to review', async () => {
    const user = 'stopped';
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await stack.api.client.workflow.getHandle(id).terminate('by mistake');
    const { body } = await listed(`?userId=${user}&status=REVIEW`, 1, KEYS.operator);
    expect(body.data[0]).toMatchObject({ id, status: 'REVIEW', final: false });
    expect(ids(await list(`?userId=${user}&status=CREATED`))).toEqual([]);
  });

  it("is refused when a payment can't be asked, and says which", async () => {
    const user = 'deaf';
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await listed(`?userId=${user}`, 1);
    const { status, headers, body } = await stack.withoutWorker(() => list(`?userId=${user}`));
    expect([status, body.code, body.paymentId]).toEqual([503, 'temporarily_unavailable', id]);
    expect(headers.get('retry-after')).toMatch(/\d/);
  });

  describe("with one that can't be asked", () => {
    const user = 'one-deaf';
    const unreadable = paymentId('pay_that_nobody_follows');
    let id: string;
    let handle: WorkflowHandle;
    beforeAll(async () => {
      ({ id } = await stack.begun('/v1/payouts', { ...payout, userId: user }));
      const order = { ...payoutOrder, id: unreadable, userId: user };
      const input = { order, terms, fingerprint: '', requestId: '' };
      const start = { input, owner: 'shop', taskQueue: 'nobody', createdAt: Date.now() };
      handle = await stack.api.client.workflow.start('payOut', workflowOptions(start));
      await eventually(
        () => list(`?userId=${user}`, KEYS.operator),
        ({ status, body }) => status === 200 && body.unreadable.length > 0 && body.data.length > 0,
      );
    });
    afterAll(() => handle.terminate());

    it.each(['shop', 'operator'] as const)('names it beside the others to the key %s', async (name) => {
      const answer = await list(`?userId=${user}`, KEYS[name]);
      expect([answer.status, ids(answer)]).toEqual([200, [id]]);
      const internal = { merchant: 'shop', temporalUrl: expect.stringContaining(unreadable) };
      expect(answer.body.unreadable).toEqual([{ id: unreadable, ...(name === 'operator' && internal) }]);
    });

    it('names it to its own merchant alone', async () => {
      expect((await list(`?userId=${user}`, KEYS.rival)).body).toEqual({ data: [], unreadable: [] });
    });

    it('goes on after it, on the page after the one that has it alone', async () => {
      const first = await list(`?userId=${user}&limit=1`);
      expect([first.status, ids(first), first.body.unreadable.length]).toEqual([200, [], 1]);
      const second = await list(`?userId=${user}&limit=1&cursor=${first.body.nextCursor}`);
      expect([ids(second), second.body.unreadable, second.body.nextCursor]).toEqual([[id], [], undefined]);
    });
  });

  it('shows a payment once that was opened again, as it is now', async () => {
    const user = 'reopened';
    const payment = await stack.begun('/v1/payouts', { ...payout, userId: user });
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    await stack.api.client.workflow.getHandle(payment.id).result();
    const entry = stack.sandbox.ledger.find(payment.transId);
    if (entry !== undefined) entry.status = 'FAILED';
    await stack.hint(payment, 'FAILED');

    const { body } = await listed(`?userId=${user}&status=REVIEW`, 1, KEYS.operator);
    expect(body.data[0].id).toBe(payment.id);
    expect(ids(await list(`?userId=${user}&status=SUCCESSFUL`))).toEqual([]);
    expect(ids(await list(`?userId=${user}`))).toEqual([payment.id]);
    expect(ids(await list(`?userId=${user}&limit=1`))).toEqual([payment.id]);
  });
});

describe('a query for payments', () => {
  it.each([
    ['status', 'PAID'],
    ['status', 'review'],
    ['kind', 'refund'],
    ['externalId', 'order 1'],
    ['externalId', '%22+OR+Merchant+!=+%22'],
    ['userId', ''],
    ['created[gte]', 'yesterday'],
    ['created[lt]', '1795249234'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', 'all'],
    ['cursor', 'nonsense'],
    ['cursor', ''],
    ['owner', 'rival'],
    ['created', '2026-11-21'],
  ])("can't have the %s %p", async (name, value) => {
    const { status, body } = await list(`?${name}=${value}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toMatchObject([{ field: name }]);
  });

  it("can't name a thing twice", async () => {
    const { status, body } = await list('?status=FAILED&status=EXPIRED');
    expect([status, body.errors.length]).toEqual([400, 1]);
  });
});

describe('payments under review', () => {
  it('are listed for an operator as soon as visibility has them', async () => {
    const hasty = await stack.startMore({ terms: { ...terms, ambiguousGraceMs: 1_000 } });
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const body = { ...payout, userId: 'reviewed' };
    const { body: payment } = await hasty.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
    await hasty.stop();
    const answer = await listed('?status=REVIEW&userId=reviewed', 1, KEYS.operator);
    expect(answer.body.data[0]).toMatchObject({
      id: payment.id,
      status: 'REVIEW',
      reason: expect.any(String),
    });
  });
});
