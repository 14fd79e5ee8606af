import { describe, expect, it } from '@jest/globals';
import { dayOf, HOUR_MS } from '../../src/payments/words/time.js';
import { type Answered, KEYS, merchantsWith } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

/** An API whose merchant `name` has these limits, with a key of the same name. */
async function apiFor(name: string, limits: Parameters<typeof merchantsWith>[1]) {
  const secret = `secret-of-${name}`;
  const merchants = merchantsWith([{ name, secret, scopes: ['collections', 'payouts', 'read'] }], limits);
  const api = await stack.startMore({ merchants, answerWithinMs: 10_000 });
  const post = (path: string, body: unknown, idempotencyKey?: string): Promise<Answered> =>
    api.ask('POST', path, {
      key: secret,
      body,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });
  return {
    api,
    post,
    payOut: (amount: number, idempotencyKey?: string, sendAt?: Date) =>
      post('/v1/payouts', { ...payout, amount, ...(sendAt && { sendAt: sendAt.toISOString() }) }, idempotencyKey),
    list: () => api.ask('GET', '/v1/payments', { key: secret }),
    change: (changed: Parameters<typeof merchantsWith>[1]) =>
      api.replaceMerchants(merchantsWith([{ name, secret, scopes: ['payouts'] }], changed)),
  };
}

/** Reports whether a payment was made; on a busy machine the answer may come before the provider's. */
const isMade = ({ status }: Answered) => status === 200 || status === 201 || status === 202;

describe("a merchant's limit of an amount", () => {
  it.each([
    ['collection', '/v1/collections', { ...link }, { maxCollection: 1_000 }],
    ['payout', '/v1/payouts', { ...payout }, { maxPayout: 1_000 }],
  ])('holds for a %s', async (kind, path, body, limits) => {
    const { post } = await apiFor(`one-${kind}`, limits);
    const refused = await post(path, { ...body, amount: 1_001 });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.errors).toEqual([{ field: 'amount', message: 'must be at most 1,000 XAF' }]);
    expect(isMade(await post(path, { ...body, amount: 1_000 }))).toBe(true);
  });

  it('leaves a repeated request alone when it was lowered in between', async () => {
    const { payOut, change } = await apiFor('lowered', { maxPayout: 1_000 });
    const first = await payOut(900, 'order-1');
    change({ maxPayout: 500 });
    const again = await payOut(900, 'order-1');
    expect([isMade(first), again.status]).toEqual([true, 200]);
    expect(again.body.id).toBe(first.body.id);
    expect((await payOut(900, 'order-2')).status).toBe(400);
  });
});

describe("a merchant's limit of the payouts of a day", () => {
  it('refuses what would exceed it, and leaves nothing of that behind', async () => {
    const { payOut, list } = await apiFor('daily', { maxPayoutsPerDay: 1_000 });
    expect(isMade(await payOut(600))).toBe(true);
    const refused = await payOut(500, 'too-much');
    expect([refused.status, refused.body.code]).toEqual([422, 'daily_limit_reached']);
    expect(refused.body.detail).toMatch(
      /^Payouts of a day may amount to 1,000 XAF at most\. Payouts of 600 XAF have been ordered today\. The next day begins at 20.*Z\.$/,
    );
    expect((await payOut(1_001)).body.detail).not.toContain('ordered today');
    // The room that is left is still there, and so is the Idempotency-Key.
    expect(isMade(await payOut(400, 'too-much'))).toBe(true);
    expect((await list()).body.data.length).toBeLessThanOrEqual(2);
    expect(stack.sandbox.ledger.all().filter(({ amount }) => amount === 500)).toEqual([]);
  });

  it('counts a repeated request once, and does not refuse it when the day is full', async () => {
    const { payOut } = await apiFor('repeating', { maxPayoutsPerDay: 1_000 });
    const first = await payOut(1_000, 'order-1');
    const again = await payOut(1_000, 'order-1');
    expect([isMade(first), again.status]).toEqual([true, 200]);
    const other = await payOut(900, 'order-1');
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect((await payOut(100)).status).toBe(422);
  });

  it('holds for fifty payouts at once, through two API processes', async () => {
    const limits = { maxPayoutsPerDay: 1_000 };
    const [one, other] = [await apiFor('crowded', limits), await apiFor('crowded', limits)];
    /** As a merchant does it: what can't be counted in time is sent again with the same key. */
    const untilCounted = async (index: number): Promise<Answered> => {
      const answer = await (index % 2 === 0 ? one : other).payOut(110, `order-${index}`);
      return answer.status === 503 ? await untilCounted(index) : answer;
    };
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => untilCounted(index)));
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused).toHaveLength(41);
    expect(answers.filter(isMade)).toHaveLength(9);
    const paid = stack.sandbox.ledger.all().filter(({ amount }) => amount === 110);
    expect(paid.length).toBeLessThanOrEqual(9);
  });

  it('holds for two amounts under one Idempotency-Key at once, in either order', async () => {
    const { payOut } = await apiFor('paired', { maxPayoutsPerDay: 1_000 });
    const pairs = Array.from({ length: 40 }, (_, index) => {
      const amounts = index % 2 === 0 ? [100, 901] : [901, 100];
      return amounts.map((amount) => payOut(amount, `order-${index}`));
    });
    const answers = await Promise.all(pairs.flat());
    expect(answers.filter(isMade).length).toBeGreaterThan(0);
    const sent = () => stack.sandbox.ledger.all().filter(({ amount }) => amount === 901 || amount === 100);
    const payments = answers.filter(isMade).map(({ body }) => body.id);
    await eventually(
      async () => new Set(sent().map(({ externalId }) => externalId)),
      (ids) => payments.every((id) => ids.has(id)),
    );
    const own = sent().filter(({ externalId }) => payments.includes(externalId));
    expect(own.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(1_000);
  });

  it('counts what no worker has sent yet', async () => {
    const { payOut } = await apiFor('unsent', { maxPayoutsPerDay: 1_000 });
    await stack.withoutWorker(async () => {
      expect(isMade(await payOut(777, 'order-1'))).toBe(true);
      expect((await payOut(224)).status).toBe(422);
    });
    expect(isMade(await payOut(223))).toBe(true);
  });

  it('has room again for what was withdrawn unsent', async () => {
    const { api, payOut } = await apiFor('withdrawn', { maxPayoutsPerDay: 1_000 });
    const date = new Date(Date.now() + 48 * HOUR_MS);
    const { body } = await payOut(1_000, 'order-1', date);
    expect((await payOut(100, 'order-2', date)).status).toBe(422);
    const { status } = await api.ask('POST', `/v1/payouts/${body.id}/cancel`, { key: 'secret-of-withdrawn' });
    expect(status).toBe(200);
    expect(isMade(await payOut(100, 'order-2', date))).toBe(true);
  });

  it('is that of the day that a payout is dated to', async () => {
    const { payOut } = await apiFor('dated', { maxPayoutsPerDay: 1_000 });
    const date = new Date(Date.now() + 48 * HOUR_MS);
    const made = await payOut(600, 'order-1', date);
    expect([made.status, made.body.held?.for]).toEqual([201, ['date']]);
    const refused = await payOut(500, 'order-2', date);
    expect([refused.status, refused.body.code]).toEqual([422, 'daily_limit_reached']);
    expect(refused.body.detail).toContain(`Payouts of 600 XAF have been ordered for ${dayOf(date.getTime())}.`);
    expect(isMade(await payOut(1_000))).toBe(true);
    expect((await payOut(500, 'order-3', date)).status).toBe(422);
    expect(isMade(await payOut(400, 'order-4', date))).toBe(true);
  });
});

describe("another merchant's payment", () => {
  it('is answered as one that never was, in body and in time', async () => {
    const { id } = await stack.begun('/v1/payouts', payout);
    const none = 'pay_00000000000000000000000000000000';
    const read = (of: string) => stack.api.ask('GET', `/v1/payments/${of}`, { key: KEYS.rival });
    const [theirs, nobodys] = [await read(id), await read(none)];
    expect([theirs.status, nobodys.status]).toEqual([404, 404]);
    expect({ ...theirs.body, requestId: '' }).toEqual({ ...nobodys.body, requestId: '' });
    for (const { ms } of [theirs, nobodys]) expect(ms).toBeGreaterThanOrEqual(100);
  });

  it("isn't met by its Idempotency-Key: each merchant's keys lead to payments of its own", async () => {
    const first = await stack.post('/v1/payouts', payout, 'order-1');
    const other = await stack.post('/v1/payouts', { ...payout, amount: 701 }, 'order-1', KEYS.rival);
    expect([first, other].map(isMade)).toEqual([true, true]);
    expect(other.body.id).not.toBe(first.body.id);
  });
});
