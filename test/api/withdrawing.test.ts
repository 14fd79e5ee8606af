import { describe, expect, it } from '@jest/globals';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, recordingMerchant, useStack } from '../support/payment-stack.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });

const direct = { method: 'direct', amount: 500, phone: '677000000' };
const payout = { amount: 500, phone: '677000000' };
const withdrawn = { status: 'FAILED', final: true, reason: 'withdrawn before it was sent' };

const expire = (id: string, key: string = KEYS.shop) =>
  stack.post(`/v1/collections/${id}/expire`, undefined, undefined, key);
const cancel = (id: string, key: string = KEYS.shop) =>
  stack.post(`/v1/payouts/${id}/cancel`, undefined, undefined, key);

/** Until the payment's timeline tells of something. */
const until = (id: string, type: string) =>
  eventually(
    () => stack.read(id, '/events'),
    ({ body }) => body.data?.some((event: { type: string }) => event.type === type),
  );

type Endpoint = 'initiate-pay' | 'direct-pay' | 'payout';

/** A payment that waits, since the provider refuses our credentials. */
async function waiting(endpoint: Endpoint, path: string, body: object, idempotencyKey?: string): Promise<string> {
  stack.sandbox.faults.add({ fault: 'wrongCredentials', endpoint, rate: 1 });
  const { status, body: payment } = await stack.hasty.post(path, body, idempotencyKey);
  expect([status, payment.status]).toEqual([202, 'CREATED']);
  return payment.id;
}

describe('a payment that waits and was surely not sent', () => {
  it.each([
    ['a link', 'initiate-pay', '/v1/collections', link, expire],
    ['a direct collection', 'direct-pay', '/v1/collections', direct, expire],
    ['a payout', 'payout', '/v1/payouts', payout, cancel],
  ] as const)('can be withdrawn: %s', async (_, endpoint, path, body, withdraw) => {
    const id = await waiting(endpoint, path, body);
    const { status, body: payment } = await withdraw(id);
    expect([status, payment]).toMatchObject([200, withdrawn]);
    await stack.read(id, '?wait=60');
    expect(stack.transactionsOf(id)).toEqual([]);
    const told = () => notified.filter((one) => one.payment.id === id).map(({ type }) => type);
    await eventually(
      async () => told(),
      ({ length }) => length > 0,
    );
    const again = await withdraw(id);
    expect([again.status, again.body]).toMatchObject([200, withdrawn]);
    expect(told()).toEqual(['payment.failed']);
  });

  it('keeps its Idempotency-Key when it is withdrawn: a repeated request sends nothing', async () => {
    const id = await waiting('payout', '/v1/payouts', payout, 'withdrawn');
    await cancel(id);
    const { status, body } = await stack.post('/v1/payouts', payout, 'withdrawn');
    expect([status, body]).toMatchObject([200, { id, ...withdrawn }]);
    expect(stack.transactionsOf(id)).toEqual([]);
  });
});

describe('a payout', () => {
  it("that the provider has taken can't be canceled", async () => {
    const { id } = await stack.begun('/v1/payouts', { ...payout, phone: '677000800' });
    const { status, body } = await cancel(id);
    expect([status, body.code, body.payment.id]).toEqual([409, 'not_cancelable', id]);
    expect(body.detail).toContain('the provider has accepted it');
  });

  it("that may have been sent can't be canceled", async () => {
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const { body: payment } = await stack.hasty.post('/v1/payouts', payout);
    await until(payment.id, 'unanswered');
    const { status, body } = await cancel(payment.id);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_cancelable', 'CREATED']);
    expect(body.detail).toContain('may have been sent');
  });

  it("that is being sent can't be canceled", async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_000 });
    const { body: payment } = await stack.hasty.post('/v1/payouts', payout);
    await until(payment.id, 'sending');
    const { status, body } = await cancel(payment.id);
    expect([status, body.code]).toEqual([409, 'not_cancelable']);
    await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.transId !== undefined,
    );
  });

  it("that has ended otherwise can't be canceled", async () => {
    const { id } = await stack.begun('/v1/payouts', payout);
    await eventually(
      () => stack.post(`/v1/payments/${id}/refresh`),
      (answer) => answer.body.final,
    );
    const { status, body } = await cancel(id);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_cancelable', 'SUCCESSFUL']);
    expect(body.detail).toBe('The payout is already SUCCESSFUL.');
  });

  it('is canceled as a payout, by those who may send one', async () => {
    const { id } = await stack.begun('/v1/payouts', payout);
    const { id: other } = await stack.begun('/v1/collections', link);
    expect((await cancel(id, KEYS.reader)).body.code).toBe('forbidden');
    expect((await cancel(id, KEYS.rival)).body.code).toBe('not_found');
    expect((await cancel(other)).body.code).toBe('not_found');
  });
});

describe('a direct collection', () => {
  it("that may have been sent can't be withdrawn", async () => {
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'direct-pay' });
    const { body: payment } = await stack.hasty.post('/v1/collections', direct);
    await until(payment.id, 'unanswered');
    const { status, body } = await expire(payment.id);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_a_link', 'CREATED']);
  });
});
