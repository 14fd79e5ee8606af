import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ConflictError, PermissionError, Sanaga } from '../../client/index.js';
import { type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { documentedFetch } from '../support/documented.js';
import { eventually } from '../support/eventually.js';
import { recordingMerchant, useStack } from '../support/payment-stack.js';

const recorded = recordingMerchant();
const stack = useStack({ merchant: recorded.merchant });

/** Keys of a shop with a clerk and two who approve, of an operator, and of another merchant that approves its own. */
const CLERK = 'secret-of-the-clerk';
const KEYS = [
  { name: 'shop', person: 'ann', secret: CLERK, scopes: ['payouts', 'read'] },
  { name: 'shop', person: 'ann', secret: 'another-secret-of-ann', scopes: ['approve'] },
  { name: 'shop', person: 'bob', secret: 'secret-of-bob', scopes: ['approve'] },
  { name: 'ops', secret: 'secret-of-ops', scopes: ['review', 'approve'] },
  { name: 'rival', secret: 'secret-of-rival', scopes: ['payouts', 'approve'] },
] as const;

let api: ApiUnderTest;
const merchants = merchantsWith(KEYS, { approveAbove: 1_000 });
beforeAll(async () => {
  api = await stack.startMore({ merchants, terms: { ...terms, providerTimeoutMs: 4_000 }, answerWithinMs: 20_000 });
});

const call = (path: string, key: string, body: object = {}) => api.ask('POST', path, { key, body });
const order = (body: object, key = randomUUID() as string) =>
  api.ask('POST', '/v1/payouts', {
    key: CLERK,
    body: { amount: 900, phone: '677000000', ...body },
    headers: { 'idempotency-key': key },
  });
const read = (id: string, key: string = CLERK) => api.ask('GET', `/v1/payments/${id}`, { key });
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const DAY = 24 * 60 * 60_000;

/** The payouts that wait for something, by the index. */
async function listed(held: 'approval' | 'date'): Promise<string[]> {
  const { body } = await api.ask('GET', `/v1/payments?held=${held}`, { key: 'secret-of-bob' });
  return body.data.map(({ id }: { id: string }) => id);
}
const untilListed = (held: 'approval' | 'date', id: string, isListed: boolean) =>
  eventually(
    () => listed(held),
    (ids) => ids.includes(id) === isListed,
  );

describe('a payout above the limit of its merchant', () => {
  it('waits until another person approves it, by a key of its merchant, with its digest', async () => {
    const { status, body } = await order({ amount: 1_001 });
    const { id, held } = body;
    expect([status, body.orderedBy, held.for, held.approvals]).toEqual([201, 'ann', ['approval'], []]);
    await untilListed('approval', id, true);
    expect(await listed('date')).not.toContain(id);

    const approve = (key: string, digest: string = held.digest) => call(`/v1/payouts/${id}/approve`, key, { digest });
    const refused = [
      await approve('another-secret-of-ann'),
      await approve('secret-of-bob', '0'.repeat(64)),
      await approve('secret-of-bob', 'short'),
      await approve('secret-of-ops'),
      await approve(CLERK),
      await approve('secret-of-rival'),
    ];
    expect(refused.map((answer) => [answer.status, answer.body.code])).toEqual([
      [403, 'same_person'],
      [409, 'digest_mismatch'],
      [400, 'invalid_request'],
      [403, 'forbidden'],
      [403, 'forbidden'],
      [404, 'not_found'],
    ]);
    expect(refused[0]?.body.detail).toBe('Ann has ordered the payout: another person has to approve it.');
    expect(refused[0]?.body.payment.held.approvals).toEqual([]);
    expect(stack.transactionsOf(id)).toEqual([]);

    const approved = await approve('secret-of-bob');
    expect([approved.status, approved.body.held]).toEqual([200, undefined]);
    await eventually(
      async () => stack.transactionsOf(id),
      ({ length }) => length === 1,
    );
    await untilListed('approval', id, false);
    const again = await approve('secret-of-bob');
    expect([again.status, again.body.code]).toEqual([409, 'not_held']);
    expect(again.body.detail).toMatch(/^The payout was released already, at 20/);
    const late = await call(`/v1/payouts/${id}/reject`, 'secret-of-bob', { why: 'too late' });
    expect([late.status, late.body.code]).toEqual([409, 'not_held']);
    const { body: timeline } = await api.ask('GET', `/v1/payments/${id}/events`, { key: 'secret-of-bob' });
    const people = timeline.data.map(({ type, by }: { type: string; by?: string }) => [type, by]);
    expect(people).toContainEqual(['approved', 'bob']);
  });

  it('is sent at once when it is not above it, and can be approved by nobody', async () => {
    const { status, body } = await order({ amount: 1_000 });
    expect([status, body.held]).toEqual([201, undefined]);
    const answer = await call(`/v1/payouts/${body.id}/approve`, 'secret-of-bob', { digest: '0'.repeat(64) });
    expect([answer.status, answer.body.code]).toEqual([409, 'not_held']);
    expect(answer.body.detail).toBe('The payment was never held.');
  });
});

describe('a payout whose person changes her name in the file', () => {
  /** The file as it becomes, with the person and the secret of each key. */
  const file = (...shop: readonly (readonly [person: string, secret: string])[]) =>
    merchantsWith(
      shop.map(([person, secret]) => ({ name: 'shop', person, secret, scopes: ['payouts', 'approve', 'read'] })),
      { approveAbove: 1_000 },
    );
  const [KEY, SECOND, BOB] = ['secret-of-the-key', 'secret-of-the-second-key', 'secret-of-bob'] as const;
  const approve = (key: string, { id, held }: { id: string; held: { digest: string } }) =>
    call(`/v1/payouts/${id}/approve`, key, { digest: held.digest });

  /** What was ordered with the key while the file had it thus. */
  async function orderedIn(merchants: ReturnType<typeof file>) {
    api.replaceMerchants(merchants);
    const headers = { 'idempotency-key': randomUUID() as string };
    const payout = { amount: 1_001, phone: '677000000' };
    const { status, body } = await api.ask('POST', '/v1/payouts', { key: KEY, body: payout, headers });
    expect(status).toBe(201);
    expect(Object.keys(body)).not.toContain('orderedByKeys');
    return body;
  }

  it.each([
    ['is renamed', [['ann', KEY]], [['zoe', KEY]], KEY],
    ['gets a name for a key that had none', [['shop', KEY]], [['ann', KEY]], KEY],
    [
      'gets her second key renamed',
      [
        ['ann', KEY],
        ['ann', SECOND],
      ],
      [
        ['ann', KEY],
        ['zoe', SECOND],
      ],
      SECOND,
    ],
    [
      'gets a name for both keys',
      [['shop', KEY]],
      [
        ['ann', KEY],
        ['ann', SECOND],
      ],
      SECOND,
    ],
    ['gets another secret, in another case', [['ann', KEY]], [['ANN', SECOND]], SECOND],
    ['is spelt with an accent', [['ann', KEY]], [['ánn', SECOND]], SECOND],
    ['is spelt in full width', [['ann', KEY]], [['ａｎｎ', SECOND]], SECOND],
    ['is spelt with spaces', [['ann lee', KEY]], [[' ann  lee ', SECOND]], SECOND],
    ['is spelt with what has no width', [['ann', KEY]], [['a\u200bnn', SECOND]], SECOND],
  ] as const)('is not approved by her when she %s', async (_, before, after, key) => {
    try {
      const payout = await orderedIn(file(...before, ['bob', BOB]));
      api.replaceMerchants(file(...after, ['bob', BOB]));
      const own = await approve(key, payout);
      expect([own.status, own.body.code]).toEqual([403, 'same_person']);
      expect(own.text).not.toContain('Keys');
      expect(stack.transactionsOf(payout.id)).toEqual([]);
      expect((await approve(BOB, payout)).status).toBe(200);
    } finally {
      api.replaceMerchants(merchants);
    }
  });

  it('is approved by nobody else, either, whose key was hers', async () => {
    try {
      const payout = await orderedIn(file(['ann', KEY], ['ann', SECOND], ['bob', BOB]));
      api.replaceMerchants(file(['ann', KEY], ['zoe', SECOND], ['bob', BOB]));
      const { body } = await approve(SECOND, payout);
      expect(body.detail).toBe(
        'Zoe has a key that was that of ann, who has ordered the payout: another person has to approve it.',
      );
    } finally {
      api.replaceMerchants(merchants);
    }
  });
});

describe('a payout that nobody else could approve', () => {
  it.each([
    ['amount', { amount: 1_001 }],
    ['approval', { amount: 900, approval: true }],
  ])('is refused for its %s, and not made', async (field, more) => {
    const key = randomUUID();
    const ask = () =>
      api.ask('POST', '/v1/payouts', {
        key: 'secret-of-rival',
        body: { phone: '677000000', ...more },
        headers: { 'idempotency-key': key },
      });
    const message =
      'takes an approval by another person than rival, and rival has none whose key has the scope approve';
    for (const { status, body } of [await ask(), await ask()]) {
      expect([status, body.code, body.errors]).toEqual([400, 'invalid_request', [{ field, message }]]);
    }
    try {
      const auditor = { name: 'rival', person: 'eve', secret: 'secret-of-eve', scopes: ['approve'] } as const;
      api.replaceMerchants(merchantsWith([...KEYS, auditor], { approveAbove: 1_000 }));
      const { status, body } = await ask();
      expect([status, body.held.for]).toEqual([201, ['approval']]);
    } finally {
      api.replaceMerchants(merchants);
    }
  });

  it('is given to a repeated request, if it was made before', async () => {
    const key = randomUUID();
    const { body } = await order({ amount: 1_001 }, key);
    try {
      api.replaceMerchants(merchantsWith(KEYS.slice(0, 2), { approveAbove: 1_000 }));
      const repeated = await order({ amount: 1_001 }, key);
      expect([repeated.status, repeated.body.id]).toEqual([200, body.id]);
      const other = await order({ amount: 1_001 });
      expect([other.status, other.body.errors]).toEqual([400, [expect.objectContaining({ field: 'amount' })]]);
    } finally {
      api.replaceMerchants(merchants);
    }
  });
});

describe('a payout that asks for approval, and has a date', () => {
  it('waits for both, is listed by both, and ends when one who approves rejects it', async () => {
    const { body } = await order({ approval: true, sendAt: ahead(DAY) });
    const { id, held } = body;
    expect(held.for).toEqual(['approval', 'date']);
    await untilListed('approval', id, true);
    expect(await listed('date')).toContain(id);
    const digest = { digest: held.digest };
    // A busy Temporal may not answer the first.
    const approve = () => call(`/v1/payouts/${id}/approve`, 'secret-of-bob', digest);
    const approved = await eventually(approve, ({ status }) => status !== 503);
    expect(approved).toMatchObject({
      status: 200,
      body: { held: { for: ['date'], approvals: [{ by: 'bob' }] } },
    });
    expect((await call(`/v1/payouts/${id}/approve`, 'secret-of-bob', digest)).status).toBe(200);
    await untilListed('approval', id, false);
    expect(await listed('date')).toContain(id);

    const unexplained = await call(`/v1/payouts/${id}/reject`, 'secret-of-bob');
    expect([unexplained.status, unexplained.body.code]).toEqual([400, 'invalid_request']);
    const rejected = await call(`/v1/payouts/${id}/reject`, 'another-secret-of-ann', { why: 'paid in October' });
    expect(rejected.status).toBe(200);
    expect(rejected.body).toMatchObject({ status: 'FAILED', final: true, failureCode: 'not_approved' });
    expect(rejected.body.reason).toContain('paid in October');
    await untilListed('date', id, false);
    const again = await call(`/v1/payouts/${id}/reject`, 'secret-of-bob', { why: 'again' });
    expect([again.status, again.body.detail]).toEqual([409, 'The payout is FAILED, and held no longer.']);
    expect(stack.transactionsOf(id)).toEqual([]);
    await eventually(
      async () => recorded.notified.filter(({ payment }) => payment.id === id).map(({ type }) => type),
      (told) => told.includes('payment.held'),
    );
  });

  it('is withdrawn by its merchant', async () => {
    const { body } = await order({ sendAt: ahead(DAY) });
    const { status, body: cancelled } = await call(`/v1/payouts/${body.id}/cancel`, CLERK);
    expect([status, cancelled.failureCode, cancelled.held]).toEqual([200, 'withdrawn', undefined]);
  });
});

describe('the client', () => {
  const as = (apiKey: string) => new Sanaga({ apiKey, baseUrl: api.url, fetch: documentedFetch });

  it('orders what waits, finds it, approves it with its digest, and rejects it', async () => {
    const clerk = as(CLERK);
    const params = { amount: 900, phone: '677000000', approval: true, sendAt: ahead(DAY) } as const;
    const { id, held } = await clerk.payouts.create(params, { idempotencyKey: 'wages-11' });
    const { payouts, payments } = as('secret-of-bob');
    const digest = held?.digest ?? '';
    const own = await as('another-secret-of-ann')
      .payouts.approve(id, { digest })
      .catch((error: unknown) => error);
    expect(own).toBeInstanceOf(PermissionError);
    expect(own).toMatchObject({ code: 'same_person', payment: { id } });
    const other = await payouts.approve(id, { digest: '0'.repeat(64) }).catch((error: unknown) => error);
    expect(other).toBeInstanceOf(ConflictError);
    await untilListed('approval', id, true);
    const waiting: string[] = [];
    for await (const payment of payments.list({ held: 'approval', limit: 2 })) waiting.push(payment.id);
    expect(waiting).toContain(id);
    expect((await payouts.approve(id, { digest })).held).toMatchObject({ for: ['date'], approvals: [{ by: 'bob' }] });
    expect(await payouts.reject(id, { why: 'ordered twice' })).toMatchObject({ failureCode: 'not_approved' });
  });
});

describe('the date of a payout', () => {
  it.each([
    [ahead(-1_000), /^must not be in the past: it is 20/],
    [ahead(91 * DAY), /^must be at most 90 days ahead$/],
    ['2026-11-27', /^must be a time with an offset, such as /],
    ['2026-11-27T08:00:00', /^must be a time with an offset, such as /],
  ])('is refused where it is %s', async (sendAt, message) => {
    const { status, body } = await order({ sendAt });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toEqual([{ field: 'sendAt', message: expect.stringMatching(message) }]);
  });

  it('may have passed when the request is repeated', async () => {
    const key = randomUUID();
    const sendAt = ahead(3_000);
    const { status, body } = await order({ sendAt }, key);
    expect([status, body.held.for]).toEqual([201, ['date']]);
    await eventually(
      async () => stack.transactionsOf(body.id),
      ({ length }) => length === 1,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(sendAt));
    const repeated = await order({ sendAt }, key);
    expect([repeated.status, repeated.body.id]).toEqual([200, body.id]);
    expect(stack.transactionsOf(body.id)).toHaveLength(1);
    const other = await order({ sendAt: ahead(DAY) }, key);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
  });
});

describe('a key that only approves', () => {
  it("reads its merchant's payments, and orders nothing", async () => {
    const { body } = await order({ approval: true });
    expect((await read(body.id, 'secret-of-bob')).body.orderedBy).toBe('ann');
    expect((await read(body.id, 'secret-of-rival')).status).toBe(404);
    const answer = await api.ask('POST', '/v1/payouts', { key: 'secret-of-bob', body: { amount: 500 } });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  });
});
