import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, recordingMerchant, useStack } from '../support/payment-stack.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });

/** A payout that has come to its end; its transaction can be made to change all the same. */
async function sent(idempotencyKey?: string) {
  const payment = await stack.begun('/v1/payouts', { ...payout, externalId: 'o-1' }, idempotencyKey);
  await stack.hint(payment);
  await stack.read(payment.id, '?wait=60');
  const entry = stack.sandbox.ledger.find(payment.transId);
  if (entry === undefined) throw new Error('the provider has no such transaction');
  return { ...payment, entry };
}

/** What its merchant is told of a payment, whether or not it was delivered yet. */
async function toldOf(id: string): Promise<string[]> {
  const { body } = await stack.api.ask('GET', `/v1/payments/${id}/notifications`, { key: KEYS.shop });
  return body.data.map(({ type }: { type: string }) => type);
}

const describeRun = (id: string) => stack.api.client.workflow.getHandle(id).describe();
const versionOf = async (id: string) => {
  const [row] = await stack.book.query('SELECT version FROM states WHERE id = $1', [id]);
  return Number(row?.version);
};

describe('a notification for a payment that has ended', () => {
  it('that says what is known changes nothing', async () => {
    const payment = await sent();
    const version = await versionOf(payment.id);
    const before = await stack.counted('agrees');
    expect((await stack.hint(payment)).status).toBe(200);
    expect(await stack.counted('agrees')).toBe(before + 1);
    expect(await versionOf(payment.id)).toBe(version);
  });

  it('that is forged makes the payment ask the provider, and stay as it was', async () => {
    const payment = await sent('forged');
    const before = await stack.counted('late');
    expect((await stack.hint(payment, 'FAILED')).status).toBe(200);
    expect(await stack.counted('late')).toBe(before + 1);

    await eventually(
      async () => payment.entry.statusCalls.answered,
      (answered) => answered > 1,
    );
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(await toldOf(payment.id)).toEqual(['payment.succeeded']);
    expect(payment.entry.statusCalls.answered).toBe(2);
  });

  it('that the provider confirms brings the payment before a person', async () => {
    const payment = await sent('contradicted');
    payment.entry.status = 'FAILED';
    await stack.hint(payment, 'FAILED');
    const { body } = await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'REVIEW',
    );
    expect(body).toMatchObject({ id: payment.id, final: false, transId: payment.transId });
    expect(body.reason).toMatch(/SUCCESSFUL.*FAILED/);
    const told = () => notified.filter(({ payment: { id } }) => id === payment.id).map(({ type }) => type);
    await eventually(
      async () => told(),
      ({ length }) => length === 2,
    );
    expect(told()).toEqual(['payment.succeeded', 'payment.review']);
  });

  it('about another transaction is asked about, too', async () => {
    const payment = await sent();
    const order = { ...payout, externalId: payment.id, userId: payment.id };
    const second = await stack.providers.payout.payout(order);
    if (second.kind !== 'accepted') throw new Error(second.kind);
    await stack.hint({ id: payment.id, transId: second.transId });
    const { body } = await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'REVIEW',
    );
    expect(body.reason).toContain(second.transId);
  });

  it('brings it before a person once, however many come at once', async () => {
    const payment = await sent();
    payment.entry.status = 'FAILED';
    await Promise.all(Array.from({ length: 10 }, () => stack.hint(payment, 'FAILED')));
    await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'REVIEW',
    );
    expect(await toldOf(payment.id)).toEqual(['payment.succeeded', 'payment.review']);
  });

  it('may come in a flood, and asks about what it names once a minute', async () => {
    const payment = await sent();
    const other = await sent();
    const named = { id: payment.id, transId: other.transId };
    const before = other.entry.statusCalls.answered;
    expect((await stack.hint(named, 'FAILED')).status).toBe(200);
    await stack.read(payment.id, '?wait=60');
    for (let count = 0; count < 20; count++) expect((await stack.hint(named, 'FAILED')).status).toBe(200);
    // The forged ones name another payment's transaction, whose limit at the provider they must not use up.
    expect(other.entry.statusCalls).toMatchObject({ answered: before + 1, throttled: 0 });
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'SUCCESSFUL', final: true });
  });
});

describe('a payment that was opened again', () => {
  const key = 'opened-again';
  const body = { ...payout, externalId: 'o-1' };
  let payment: Awaited<ReturnType<typeof sent>>;
  beforeAll(async () => {
    payment = await sent(key);
    payment.entry.status = 'FAILED';
    await stack.hint(payment, 'FAILED');
    await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'REVIEW',
    );
  });

  it('is still the one that its Idempotency-Key leads to', async () => {
    const again = await stack.post('/v1/payouts', body, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.body).toMatchObject({ id: payment.id, status: 'REVIEW' });
    const reused = await stack.post('/v1/payouts', { ...body, amount: 701 }, key);
    expect([reused.status, reused.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });

  it("can be waited for and asked about, and is still nobody else's business", async () => {
    const waited = await stack.read(payment.id, '?wait=1');
    expect([waited.status, waited.body.status]).toEqual([200, 'REVIEW']);
    expect((await stack.post(`/v1/payments/${payment.id}/refresh`)).status).toBeLessThan(300);
    expect((await stack.read(payment.id, '', KEYS.rival)).status).toBe(404);
  });

  it('shows operators what it did before', async () => {
    const described = await describeRun(payment.id);
    expect(described.type).toBe('payOut');
    expect(await described.staticSummary()).toBe('Payout of 700 XAF');
    const attributes = described.typedSearchAttributes.getAll();
    expect(Object.fromEntries(attributes.map((pair) => [pair.key.name, pair.value]))).toMatchObject({
      Merchant: 'shop',
      PaymentStatus: 'REVIEW',
      PaymentKind: 'payout',
      ExternalId: 'o-1',
      TransId: payment.transId,
    });
  });

  it('can be decided, and keeps its key once it is final again', async () => {
    const decision = { action: 'fail', why: 'the provider took it back' };
    const decided = await stack.decide(payment.id, decision);
    expect([decided.status, decided.body.status]).toEqual([200, 'FAILED']);
    const again = await stack.post('/v1/payouts', body, key);
    expect([again.status, again.body.status]).toEqual([200, 'FAILED']);
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
    expect(stack.sandbox.ledger.all().filter(({ userId }) => userId === payment.id)).toHaveLength(1);
  });

  it('has told its merchant of everything, in order and under numbers of their own', async () => {
    const own = await eventually(
      async () => notified.filter(({ payment: { id } }) => id === payment.id),
      ({ length }) => length === 3,
    );
    expect(own.map(({ id, type }) => [id, type])).toEqual([
      [`evt_${payment.id}_succeeded_1`, 'payment.succeeded'],
      [`evt_${payment.id}_review_2`, 'payment.review'],
      [`evt_${payment.id}_failed_3`, 'payment.failed'],
    ]);
  });
});

describe('a link that was opened again', () => {
  it("can't be expired once it is paid", async () => {
    const payment = await stack.paid();
    await stack.hint(payment, 'EXPIRED');
    const { status, body } = await stack.post(`/v1/collections/${payment.id}/expire`);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_expirable', 'SUCCESSFUL']);
  });
});

describe('a notification without an externalId', () => {
  it('finds its payment by the transaction', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    const before = await stack.counted('taken');
    await eventually(
      async () => {
        await stack.notify({ transId: payment.transId, status: 'SUCCESSFUL' });
        return await stack.counted('taken');
      },
      (count) => count > before,
    );
    await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'SUCCESSFUL',
    );
  });

  it('belongs to nobody when its transaction is not known, whatever its form', async () => {
    const before = await stack.counted('unmatched');
    for (const transId of [randomUUID(), '" OR TransId != "']) {
      expect((await stack.notify({ transId, status: 'SUCCESSFUL' })).status).toBe(200);
    }
    expect(await stack.counted('unmatched')).toBe(before + 2);
  });
});
