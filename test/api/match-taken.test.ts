import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type ApiUnderTest, KEYS, terms } from './api-under-test.js';
import { eventually, type PaymentStack, startStack } from './payment-stack.js';

jest.setTimeout(60_000);

let stack: PaymentStack;
let hasty: ApiUnderTest;
beforeAll(async () => {
  stack = await startStack();
  hasty = await stack.startMore({ terms: { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 1_000 } });
}, 120_000);
afterAll(async () => {
  await hasty.stop();
  await stack.stop();
}, 30_000);

const payout = { amount: 700, phone: '677000000' };

describe('a decision to match a transaction that another payment has', () => {
  it('is refused even when the provider does not say for which payment it was made', async () => {
    const other = await stack.begun('/v1/payouts', payout);
    const entry = stack.sandbox.ledger.find(other.transId);
    if (entry !== undefined) Object.assign(entry, { externalId: undefined });
    await eventually(
      () => stack.api.client.workflow.count(`TransId = "${other.transId}"`),
      ({ count }) => count > 0,
    );

    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const { body: payment } = await hasty.ask('POST', '/v1/payouts', { key: KEYS.shop, body: payout });
    await eventually(
      () => stack.read(payment.id),
      (answer) => answer.body.status === 'REVIEW',
    );
    const decision = { action: 'match', transId: other.transId, why: 'a mix-up' };
    const { status, body } = await stack.decide(payment.id, decision);
    expect([status, body.code, body.payment.status]).toEqual([409, 'resolution_refused', 'REVIEW']);
    expect(body.detail).toContain(other.id);
  });
});
