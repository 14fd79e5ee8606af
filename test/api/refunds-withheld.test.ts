import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { type Answered, type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { recordingMerchant, useStack } from '../support/payment-stack.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });
const SECRETS = {
  shop: 'secret-of-shop',
  clerk: 'secret-of-clerk',
  approver: 'secret-of-eve',
  operator: 'secret-of-ops',
} as const;

let api: ApiUnderTest;
beforeAll(async () => {
  const merchants = merchantsWith([
    { name: 'shop', secret: SECRETS.shop, scopes: ['collections', 'payouts', 'read'] },
    { name: 'shop', secret: SECRETS.clerk, scopes: ['refunds'], person: 'ann' },
    { name: 'shop', secret: SECRETS.approver, scopes: ['approve'], person: 'eve' },
    { name: 'ops', secret: SECRETS.operator, scopes: ['review'] },
  ]);
  const soon = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  api = await stack.startMore({ merchants, terms: soon, answerWithinMs: 20_000 });
});

const PAYER = '677000000';
const read = async (id: string) => (await api.ask('GET', `/v1/payments/${id}`, { key: SECRETS.shop })).body;
const until = (id: string, is: (payment: Answered['body']) => boolean) => eventually(() => read(id), is);

/** A collection of 1,000 XAF that was paid, and what the provider has of it. */
async function collected() {
  const { id, transId } = await stack.begun('/v1/collections', { method: 'direct', phone: PAYER, amount: 1_000 });
  await stack.hint({ id, transId });
  await stack.read(id, '?wait=60');
  const entry = stack.sandbox.ledger.find(transId);
  if (entry === undefined) throw new Error('the provider has no such transaction');
  return { id: id as string, transId: transId as TransId, entry };
}
type Collected = Awaited<ReturnType<typeof collected>>;

async function decide(id: string, decision: object) {
  const { review } = await read(id);
  const body = { why: 'seen in the portal', review: review.number, ...decision };
  const { status } = await api.ask('POST', `/v1/payments/${id}/resolve`, { key: SECRETS.operator, body });
  expect(status).toBe(200);
}

async function reviewed({ id, transId, entry }: Collected, change: object) {
  Object.assign(entry, change);
  await stack.hint({ id, transId }, 'FAILED');
  await until(id, ({ status }) => status === 'REVIEW');
}

/** What may become of a collection whose refund waits, and what its merchant reads then. */
const FALLS: readonly (readonly [string, (collection: Collected) => Promise<unknown>, RegExp])[] = [
  [
    'was reversed, and has failed',
    async (collection) => {
      await reviewed(collection, { status: 'FAILED' });
      await decide(collection.id, { action: 'fail', force: true });
      await until(collection.id, ({ status }) => status === 'FAILED');
    },
    /^nothing was sent: the collection col_\w+ is FAILED$/,
  ],
  [
    'was corrected to less',
    async (collection) => {
      await reviewed(collection, { amount: 600 });
      await decide(collection.id, { action: 'match', transId: collection.transId, force: true });
      await until(collection.id, ({ status }) => status === 'SUCCESSFUL');
    },
    /^nothing was sent: 1,000 XAF are more than the collection col_\w+ has left: 600 XAF were collected/,
  ],
  [
    'has failed at the provider, which has told nobody',
    async ({ entry }) => {
      entry.status = 'FAILED';
    },
    /^nothing was sent: the provider now shows the transaction \w+, which was collected, as FAILED$/,
  ],
  [
    'is of less at the provider, which has told nobody',
    async ({ entry }) => Object.assign(entry, { amount: 600 }),
    /^nothing was sent: the provider now shows 600 XAF for the transaction \w+, where 1,000 XAF were collected$/,
  ],
];

const refund = ({ id }: { id: string }, body: object = {}): Promise<Answered> =>
  api.ask('POST', `/v1/collections/${id}/refunds`, {
    key: SECRETS.clerk,
    body: { reason: 'returned', ...body },
    headers: { 'idempotency-key': randomUUID() },
  });

/** A refund that waits for an approval. */
async function held(collection: Collected) {
  const { status, body } = await refund(collection, { phone: '677000001' });
  expect([status, body.held?.for]).toEqual([201, ['approval']]);
  const approve = () =>
    api.ask('POST', `/v1/payouts/${body.id}/approve`, { key: SECRETS.approver, body: { digest: body.held.digest } });
  return { id: body.id as string, approve };
}

/** A refund that the provider has left without a clear answer, and an operator may have sent again. */
async function doubtful(collection: Collected): Promise<string> {
  stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
  const { body } = await refund(collection);
  stack.sandbox.faults.clear();
  await until(body.id, ({ status }) => status === 'REVIEW');
  return body.id;
}

const sent = (id: string) => stack.transactionsOf(id).length;
const refundable = async ({ id }: { id: string }) =>
  (await api.ask('GET', `/v1/collections/${id}/refunds`, { key: SECRETS.clerk })).body;

describe.each(FALLS)('a refund whose collection %s', (_, fall, why) => {
  it('is not sent when it is approved, and its merchant is told', async () => {
    const collection = await collected();
    const { id, approve } = await held(collection);
    await fall(collection);
    expect((await approve()).status).toBe(200);
    const failed = await until(id, ({ final }) => final);
    expect(failed).toMatchObject({ status: 'FAILED', failureCode: 'not_refundable' });
    expect(failed.reason).toMatch(why);
    expect(sent(id)).toBe(0);
    expect((await refundable(collection)).refunding).toBe(0);
    await eventually(
      async () => notified.filter(({ payment }) => payment.id === id).map(({ type }) => type),
      (types) => types.includes('payment.failed'),
    );
  });

  it('is not sent again by an operator', async () => {
    const collection = await collected();
    const id = await doubtful(collection);
    await fall(collection);
    await decide(id, { action: 'resend', force: true });
    const { reason } = await until(
      id,
      (payment) => payment.status === 'REVIEW' && payment.reason.includes('once more'),
    );
    expect(reason).toContain('it was not sent once more: nothing was sent: ');
    expect(sent(id)).toBe(0);
  });
});

describe('a collection that the provider contradicts when a refund is about to be sent', () => {
  it.each([
    ['failed', { status: 'FAILED' }],
    ['of less', { amount: 600 }],
  ])('is under review itself, though nobody has told of it, when it is %s', async (_, change) => {
    const collection = await collected();
    Object.assign(collection.entry, change);
    const { status, body } = await refund(collection);
    expect([status, body.status, body.failureCode]).toEqual([201, 'FAILED', 'not_refundable']);
    expect(sent(body.id)).toBe(0);
    await until(collection.id, (payment) => payment.status === 'REVIEW');
  });
});

describe('a refund whose collection is under review', () => {
  it('waits, and is sent once a person has found that it stands', async () => {
    const collection = await collected();
    const { id, approve } = await held(collection);
    await reviewed(collection, { status: 'FAILED' });
    expect((await approve()).status).toBe(200);
    const events = () => api.ask('GET', `/v1/payments/${id}/events`, { key: SECRETS.shop });
    await eventually(events, ({ body }) => body.data.some(({ type }: { type: string }) => type === 'send_failed'));
    expect(sent(id)).toBe(0);
    expect(await read(id)).toMatchObject({ status: 'CREATED', final: false });
    collection.entry.status = 'SUCCESSFUL';
    await decide(collection.id, { action: 'match', transId: collection.transId });
    await eventually(
      async () => sent(id),
      (count) => count === 1,
    );
  });

  it('is not sent again by an operator', async () => {
    const collection = await collected();
    const id = await doubtful(collection);
    await reviewed(collection, { status: 'FAILED' });
    await decide(id, { action: 'resend', force: true });
    const events = () => api.ask('GET', `/v1/payments/${id}/events`, { key: SECRETS.shop });
    await eventually(events, ({ body }) => body.data.some(({ type }: { type: string }) => type === 'send_failed'));
    expect(sent(id)).toBe(0);
  });

  it('can be withdrawn while it waits', async () => {
    const collection = await collected();
    const { id, approve } = await held(collection);
    await reviewed(collection, { status: 'FAILED' });
    await approve();
    const cancel = () => api.ask('POST', `/v1/payouts/${id}/cancel`, { key: SECRETS.clerk });
    const cancelled = await eventually(cancel, ({ status }) => status === 200);
    expect(cancelled.body).toMatchObject({ failureCode: 'withdrawn', final: true });
    expect(sent(id)).toBe(0);
  });
});
