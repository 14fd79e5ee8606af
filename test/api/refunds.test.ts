import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import type { Query } from '../../src/book/database.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { DAY_MS } from '../../src/payments/words/time.js';
import { type Answered, type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, recordingMerchant, useStack } from '../support/payment-stack.js';
import { testEncryption } from '../support/test-encryption.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });
const SECRETS = {
  clerk: 'secret-of-clerk',
  other: 'secret-of-other',
  rival: 'secret-of-rival',
  frugal: 'secret-of-frugal',
} as const;
const KEYS = [
  { name: 'shop', secret: 'shop-secret', scopes: ['collections', 'payouts', 'read'] },
  { name: 'shop', secret: SECRETS.clerk, scopes: ['refunds'], person: 'ann' },
  { name: 'shop', secret: SECRETS.other, scopes: ['refunds', 'review'], person: 'bob' },
  { name: 'rival', secret: SECRETS.rival, scopes: ['refunds'] },
  { name: 'frugal', secret: SECRETS.frugal, scopes: ['collections', 'refunds', 'read'] },
] as const;
const APPROVER = { name: 'shop', secret: 'secret-of-eve', scopes: ['approve'], person: 'eve' } as const;
const merchants = merchantsWith([...KEYS, APPROVER]);

/** Two API processes: requests go to one, and every second of several at once to the other. */
let api: ApiUnderTest;
let second: ApiUnderTest;
/** It answers before the outcome of a doubtful request is known. */
let hasty: ApiUnderTest;
beforeAll(async () => {
  const soon = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  api = await stack.startMore({ merchants, terms: soon });
  second = await stack.startMore({ merchants, terms: soon });
  hasty = await stack.startMore({ merchants, terms: soon, answerWithinMs: HASTY_MS });
});

const PAYER = '677000000';
/** A number to which payouts fail. */
const FAILING = '677000100';
const reason = 'returned';

/** A collection that was paid. */
async function collected(body: object = { method: 'direct', phone: PAYER, amount: 1_000 }): Promise<{ id: PaymentId }> {
  const payment = await stack.begun('/v1/collections', body);
  if (payment.link !== undefined) await stack.visit(payment, 'pay');
  await stack.hint(payment);
  await stack.read(payment.id, '?wait=60');
  return payment;
}
const byLink = (more: object = {}) => collected({ method: 'link', amount: 1_000, ...more });

function refund(
  { id }: { id: string },
  body: object = {},
  { key = randomUUID() as string, secret = SECRETS.clerk as string, on = api } = {},
): Promise<Answered> {
  const headers = { 'idempotency-key': key };
  return on.ask('POST', `/v1/collections/${id}/refunds`, { key: secret, body: { reason, ...body }, headers });
}

const refunds = async ({ id }: { id: string }, secret: string = SECRETS.clerk): Promise<Answered> =>
  await api.ask('GET', `/v1/collections/${id}/refunds`, { key: secret });
const read = async (id: string) => (await api.ask('GET', `/v1/payments/${id}`, { key: 'shop-secret' })).body;

/** The sums of a collection's refunds: refunded, being refunded, and what can be refunded. */
async function sums(collection: { id: string }) {
  const { refunded, refunding, refundable } = (await refunds(collection)).body;
  return [refunded, refunding, refundable];
}

/** Waits until the provider has paid a refund, or refused to. */
async function settled({ body }: Answered, status = 'SUCCESSFUL') {
  await eventually(
    async () => {
      const payment = await read(body.id);
      if (payment.transId !== undefined) await stack.hint(payment, status);
      return await read(body.id);
    },
    (payment) => payment.status === status,
  );
}

/** Returns what the provider has of a collection's refunds, in XAF. */
async function sentFor(collection: { id: string }): Promise<number> {
  const { data } = (await refunds(collection)).body;
  const sent = data.flatMap(({ id }: { id: string }) => stack.transactionsOf(id));
  return sent.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0);
}

describe('a refund', () => {
  it('is a payout to the payer that names the collection, and its merchant is told when it has arrived', async () => {
    const collection = await collected();
    const answer = await refund(collection, { amount: 600 });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      kind: 'payout',
      amount: 600,
      phone: '•••• 000',
      refundOf: collection.id,
      refundReason: reason,
    });
    expect(stack.transactionsOf(answer.body.id)).toMatchObject([{ amount: 600 }]);
    const listed = await eventually(
      () => api.ask('GET', '/v1/payments?kind=payout&limit=1', { key: 'shop-secret' }),
      ({ body }) => body.data[0]?.id === answer.body.id,
    );
    expect(listed.body.data[0].refundOf).toBe(collection.id);
    expect(await read(collection.id)).toMatchObject({ refunded: 0, refunding: 600, refundable: 400 });

    await settled(answer);
    expect(await read(collection.id)).toMatchObject({ refunded: 600, refunding: 0, refundable: 400 });
    await eventually(
      async () => notified.filter(({ payment }) => payment.id === answer.body.id).map(({ type }) => type),
      ([type]) => type === 'payment.refunded',
    );
    const { data } = (await api.ask('GET', `/v1/payments/${answer.body.id}/events`, { key: 'shop-secret' })).body;
    expect(data[0]).toMatchObject({ type: 'created', summary: `The refund of ${collection.id} was created.` });
  });

  it('is of all that is left by default, and what is left below 100 XAF is nothing', async () => {
    const collection = await collected();
    expect((await refund(collection, { amount: 350 })).body.amount).toBe(350);
    const rest = await refund(collection, { expectedRefundable: 650 });
    expect([rest.status, rest.body.amount]).toEqual([201, 650]);
    expect(await refunds(collection)).toMatchObject({
      body: { collected: 1_000, refundable: 0, data: [{ amount: 350 }, { amount: 650 }] },
    });
    const nothing = await refund(collection);
    expect([nothing.status, nothing.body.code]).toEqual([422, 'more_than_refundable']);

    const odd = await collected();
    await refund(odd, { amount: 901 });
    expect(await sums(odd)).toEqual([0, 901, 0]);
    expect((await refund(odd, { amount: 100 })).body).toMatchObject({ code: 'more_than_refundable', refundable: 0 });
  });

  it('is refused with the figures when it is more than is left, or other than expected', async () => {
    const collection = await collected();
    await settled(await refund(collection, { amount: 600 }));
    const figures = { collected: 1_000, refunded: 600, refunding: 0, refundable: 400 };
    const more = await refund(collection, { amount: 401 });
    expect(more.status).toBe(422);
    expect(more.body).toMatchObject({ code: 'more_than_refundable', ...figures });
    const other = await refund(collection, { amount: 100, expectedRefundable: 1_000 });
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ code: 'refundable_mismatch', ...figures });
    for (const amount of [99, 0, -500, 100.5]) {
      expect((await refund(collection, { amount })).body).toMatchObject({ code: 'invalid_request' });
    }
    expect((await refund(collection, { reason: ' ' })).status).toBe(400);
    expect(await sentFor(collection)).toBe(600);
  });

  it('is made once of two at once for more than half, through two API processes', async () => {
    for (let round = 0; round < 3; round++) {
      const collection = await collected();
      const answers = await Promise.all([api, second].map((on) => refund(collection, { amount: 600 }, { on })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
      expect(await sentFor(collection)).toBe(600);
    }
  });

  it('is made as often as there is room when many are asked for at once', async () => {
    const collection = await collected();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => refund(collection, { amount: 300 }, { on: index % 2 ? api : second })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(await sentFor(collection)).toBe(900);
  });

  it('is of what others leave, without an amount, also when they are ordered after it was summed up', async () => {
    const collection = await collected();
    let others = 0;
    /** Right before each of its first claims, another refund is faster. */
    class Overtaken extends Book {
      override async transaction<T>(body: (query: Query) => Promise<T>): Promise<T> {
        if (others++ < 2) expect((await refund(collection, { amount: 300 })).status).toBe(201);
        return await super.transaction(body);
      }
    }
    const overtaken = await stack.startMore({ merchants, terms, book: new Overtaken(stack.bookUrl, testEncryption) });
    const rest = await refund(collection, {}, { on: overtaken });
    expect([rest.status, rest.body.amount]).toEqual([201, 400]);
    expect(await sentFor(collection)).toBe(1_000);
    await overtaken.stop();
  });

  it('is made once with one key, also at once, and its key is for nothing else', async () => {
    const collection = await collected();
    const key = randomUUID();
    const answers = await Promise.all([api, second].map((on) => refund(collection, {}, { key, on })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
    const again = await refund(collection, {}, { key });
    expect([again.status, again.body.id]).toEqual([200, answers[0]?.body.id]);
    expect(await sentFor(collection)).toBe(1_000);
    const other = await refund(await collected(), {}, { key });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    const withoutKey = await api.ask('POST', `/v1/collections/${collection.id}/refunds`, {
      key: SECRETS.clerk,
      body: { reason },
    });
    expect(withoutKey.body.code).toBe('idempotency_key_required');
  });

  it('gives its room back when the provider has failed or refused it', async () => {
    const collection = await byLink({ refundTo: FAILING });
    await settled(await refund(collection), 'FAILED');
    expect(await sums(collection)).toEqual([0, 0, 1_000]);
    stack.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout' });
    expect((await refund(collection)).body.code).toBe('rejected_by_provider');
    expect(await sums(collection)).toEqual([0, 0, 1_000]);
    expect((await refund(collection, { amount: 1_000 })).status).toBe(201);
  });

  it('keeps its room in REVIEW, and until the checks of a decision are over', async () => {
    const collection = await collected();
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const key = randomUUID();
    const doubtful = await eventually(
      () => refund(collection, { amount: 600 }, { key, on: hasty }),
      ({ status }) => status < 300,
    );
    await eventually(
      () => read(doubtful.body.id),
      ({ status }) => status === 'REVIEW',
    );
    expect((await refund(collection, { amount: 401 })).status).toBe(422);
    const decision = { review: 1, action: 'fail', why: 'seen in the portal' };
    await api.ask('POST', `/v1/payments/${doubtful.body.id}/resolve`, { key: SECRETS.other, body: decision });
    expect(await read(doubtful.body.id)).toMatchObject({ status: 'FAILED', final: true });
    expect((await refund(collection, { amount: 401 })).status).toBe(422);
    expect(await sums(collection)).toEqual([0, 600, 400]);
  });
});

describe('the limit of the day', () => {
  const secret = SECRETS.frugal;
  const limits = { maxPayoutsPerDay: 1_000 };

  async function collectedByFrugal(): Promise<{ id: PaymentId }> {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { method: 'direct', phone: PAYER, amount: 1_000 };
    const { id } = (await api.ask('POST', '/v1/collections', { key: secret, body, headers })).body;
    const { body: payment } = await eventually(
      () => api.ask('GET', `/v1/payments/${id}`, { key: secret }),
      (answer) => answer.body.transId !== undefined,
    );
    await stack.hint(payment);
    await api.ask('GET', `/v1/payments/${id}?wait=60`, { key: secret });
    return payment;
  }

  it('counts no refund that there is no room for, and one beyond it is not sent', async () => {
    try {
      api.replaceMerchants(merchantsWith([...KEYS, APPROVER], limits));
      const collection = await collectedByFrugal();
      expect((await refund(collection, { amount: 600 }, { secret })).status).toBe(201);
      const refused = await refund(collection, { amount: 401 }, { secret });
      expect([refused.status, refused.body.code]).toEqual([422, 'more_than_refundable']);

      const other = await collectedByFrugal();
      expect((await refund(other, { amount: 400 }, { secret })).status).toBe(201);
      const beyond = await refund(other, { amount: 100 }, { secret });
      expect(beyond.body).toMatchObject({ code: 'daily_limit_reached', status: 422 });
      // Its room is there as before, and the same request may be sent again.
      const { refunding, data } = (await refunds(other, secret)).body;
      expect([refunding, data.map(({ amount }: { amount: number }) => amount)]).toEqual([400, [400]]);
    } finally {
      api.replaceMerchants(merchants);
    }
  });
});

describe('the recipient of a refund', () => {
  it('is the number that a link has named, shown by its last digits', async () => {
    const collection = await byLink({ refundTo: '677000222' });
    expect(await read(collection.id)).toMatchObject({ refundTo: '•••• 222' });
    const answer = await refund(collection);
    expect(answer.body).toMatchObject({ phone: '•••• 222' });
    expect(answer.body.held).toBeUndefined();
  });

  it('has to be given for another link, and then takes an approval', async () => {
    const collection = await byLink();
    const unknown = await refund(collection);
    expect([unknown.status, unknown.body.code]).toEqual([422, 'phone_required']);
    const given = await refund(collection, { phone: PAYER });
    expect(given.status).toBe(201);
    expect(given.body.held).toMatchObject({ for: ['approval'] });
    expect(stack.transactionsOf(given.body.id)).toEqual([]);
    expect(await sums(collection)).toEqual([0, 1_000, 0]);
  });

  it('takes an approval when it is another than the payer, and none when it is the same', async () => {
    const collection = await collected();
    const other = await refund(collection, { amount: 200, phone: '677000001' });
    expect(other.body.held).toMatchObject({ for: ['approval'] });
    const same = await refund(collection, { amount: 200, phone: `+237 ${PAYER}` });
    expect([same.status, same.body.held]).toEqual([201, undefined]);
  });

  it('takes an approval once those of one collection are above the limit together, also at once', async () => {
    const limited = merchantsWith([...KEYS, APPROVER], { approveAbove: 500 });
    try {
      api.replaceMerchants(limited);
      second.replaceMerchants(limited);
      const collection = await collected();
      const parts = [300, 200, 100].map((amount) => () => refund(collection, { amount, phone: PAYER }));
      for (const [index, part] of parts.entries()) {
        const { status, body } = await part();
        expect([status, body.held?.for]).toEqual([201, index < 2 ? undefined : ['approval']]);
      }
      const other = await collected();
      const atOnce = await Promise.all(
        [0, 1, 2].map((on) => refund(other, { amount: 300 }, { on: on % 2 ? second : api })),
      );
      expect(atOnce.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(atOnce.filter(({ body }) => body.held === undefined)).toHaveLength(1);
      expect(await sentFor(other)).toBe(300);
    } finally {
      api.replaceMerchants(merchants);
      second.replaceMerchants(merchants);
    }
  });

  it.each([
    ['phone', { phone: '677000001' }, {}],
    ['amount', {}, { approveAbove: 500 }],
  ])('refuses the refund for its %s when nobody else could approve it', async (field, body, limits) => {
    const collection = await collected();
    try {
      api.replaceMerchants(merchantsWith(KEYS, limits));
      const answer = await refund(collection, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
      const message = 'takes an approval by another person than ann, and shop has none whose key has the scope approve';
      expect(answer.body.errors).toEqual([{ field, message }]);
    } finally {
      api.replaceMerchants(merchants);
    }
    expect(await sums(collection)).toEqual([0, 0, 1_000]);
  });
});

describe('a key with the scope refunds alone', () => {
  const cancel = (id: string) => api.ask('POST', `/v1/payouts/${id}/cancel`, { key: SECRETS.clerk });

  it('withdraws a refund that is held, and no other payout', async () => {
    const collection = await collected();
    const held = await refund(collection, { phone: '677000001' });
    expect(held.body.held.for).toEqual(['approval']);
    expect((await cancel(held.body.id)).body).toMatchObject({ failureCode: 'withdrawn', final: true });
    expect(await sums(collection)).toEqual([0, 0, 1_000]);
    const payout = await api.ask('POST', '/v1/payouts', {
      key: 'shop-secret',
      body: { amount: 1_000, phone: PAYER, sendAt: new Date(Date.now() + DAY_MS).toISOString() },
      headers: { 'idempotency-key': randomUUID() },
    });
    const refused = await cancel(payout.body.id);
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect((await read(payout.body.id)).held.for).toEqual(['date']);
  });
});

describe('what can be refunded', () => {
  it('is a collection that is SUCCESSFUL', async () => {
    const open = await stack.begun('/v1/collections', { method: 'link', amount: 1_000 });
    const answer = await refund(open, {}, { secret: SECRETS.other });
    expect([answer.status, answer.body.code, answer.body.payment.id]).toEqual([409, 'not_refundable', open.id]);
    const unread = await refund(open);
    expect(unread.body.code).toBe('not_refundable');
    expect(unread.body).not.toHaveProperty('payment');
    expect((await refunds(open)).body).toMatchObject({ refunded: 0, refunding: 0, refundable: 0, data: [] });
    expect(await read(open.id)).not.toHaveProperty('refundable');
  });

  it('is the merchant’s own, by a key with the scope `refunds`', async () => {
    const collection = await collected();
    for (const secret of [SECRETS.rival]) {
      expect((await refund(collection, {}, { secret })).status).toBe(404);
      expect((await refunds(collection, secret)).status).toBe(404);
    }
    expect((await refund(collection, {}, { secret: 'shop-secret' })).status).toBe(403);
    const payout = await stack.begun('/v1/payouts', { amount: 700, phone: PAYER });
    expect((await refund(payout)).status).toBe(404);
    expect((await refund({ id: 'order-1001' })).status).toBe(404);
    expect(stack.transactionsOf(collection.id)).toHaveLength(1);
  });

  it('is not what a collection has collected whose outcome is in doubt again, which shows its refunds', async () => {
    const collection = await collected();
    await settled(await refund(collection, { amount: 600 }));
    const { transId } = await read(collection.id);
    const entry = stack.sandbox.ledger.find(transId);
    if (entry === undefined) throw new Error('the provider has no such transaction');
    entry.status = 'FAILED';
    await stack.hint({ id: collection.id, transId }, 'FAILED');
    const reviewed = await eventually(
      () => read(collection.id),
      ({ status }) => status === 'REVIEW',
    );
    expect(reviewed).toMatchObject({ refunded: 600, refunding: 0, refundable: 0 });
    expect((await refund(collection, { amount: 100 })).body.code).toBe('not_refundable');
  });

  it('ends after 100 refunds, failed ones included', async () => {
    const collection = await collected({ method: 'direct', phone: PAYER, amount: 20_000 });
    // As 99 of them would be that have failed.
    await stack.book.query(
      `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, amount, refund_of)
       SELECT 'pay_failed' || number, merchant, 'payout', 'payout', 'f', 'r', created_at, 'FAILED', true, 100, id
         FROM payments, generate_series(1, 99) AS number WHERE id = $1`,
      [collection.id],
    );
    const key = randomUUID();
    const last = await refund(collection, { amount: 100 }, { key });
    expect(last.status).toBe(201);
    const refused = await refund(collection, { amount: 100 });
    expect([refused.status, refused.body.code]).toEqual([409, 'not_refundable']);
    expect(refused.body.detail).toContain('Look at them first: the rest, at most 19,900 XAF, can be paid out once');
    expect((await refund(collection, { amount: 100 }, { key })).body.id).toBe(last.body.id);
  });
});

it('is known while no worker runs, and so is what is left', async () => {
  const collection = await collected();
  await settled(await refund(collection, { amount: 600 }));
  await stack.withoutWorker(async () => {
    expect(await read(collection.id)).toMatchObject({ status: 'SUCCESSFUL', refunded: 600, refundable: 400 });
    expect((await refund(collection, { amount: 401 })).status).toBe(422);
  });
});
