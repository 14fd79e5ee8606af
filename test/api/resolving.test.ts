import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, KEYS, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, payout, recordingMerchant, useStack } from '../support/payment-stack.js';

const { merchant, notified } = recordingMerchant();
const stack = useStack({ merchant });
let hasty: ApiUnderTest;
beforeAll(async () => {
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  hasty = await stack.startMore({ terms: grace, answerWithinMs: HASTY_MS });
});

const why = "the provider's support says so, ticket 4711";

const decide = (id: string, decision: object) => stack.decide(id, decision);
/** A decision as it is, on whichever review. */
const send = (id: string, body: object, key: string = KEYS.operator) =>
  stack.post(`/v1/payments/${id}/resolve`, body, undefined, key);

/** A payout of 700 XAF of which nobody knows whether the provider took it. */
async function reviewed(api: ApiUnderTest = hasty): Promise<string> {
  const id = await stack.doubtfulPayout(api);
  await eventually(
    () => stack.read(id),
    (answer) => answer.body.status === 'REVIEW',
  );
  return id;
}

/** The transaction that the provider made after all, late. */
async function transactionFor(id: string, amount = 700): Promise<string> {
  const order = { amount, phone: '677000000', externalId: id, userId: id };
  const outcome = await stack.providers.payout.payout(order);
  if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
  return outcome.transId;
}

describe('a decision to fail', () => {
  it('ends the payment, with who decided and why', async () => {
    const id = await reviewed();
    const { status, body } = await decide(id, { action: 'fail', why });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'FAILED', final: true });
    expect(body.resolution).toMatchObject({ action: 'fail', by: 'operator', why });
    expect((await stack.read(id)).body.status).toBe('FAILED');
  });

  it("can't be made twice", async () => {
    const id = await reviewed();
    await decide(id, { action: 'fail', why });
    const { status, body } = await decide(id, { action: 'fail', why });
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_under_review', 'FAILED']);
  });

  it("is refused while the provider shows a transaction for it, with the payment's words", async () => {
    const id = await reviewed();
    const transId = await transactionFor(id);
    const { status, body } = await decide(id, { action: 'fail', why });
    expect([status, body.code, body.payment.status]).toEqual([409, 'resolution_refused', 'REVIEW']);
    expect(body.detail).toContain(transId);
  });
});

describe('a payment that was decided to have failed', () => {
  it('comes up again when the provider notifies of money that moved after all', async () => {
    const id = await reviewed();
    await decide(id, { action: 'fail', why });
    const transId = await transactionFor(id);
    expect((await stack.hint({ id, transId })).status).toBe(200);
    const { body } = await eventually(
      () => stack.read(id),
      (answer) => answer.body.status === 'REVIEW',
    );
    expect(body.final).toBe(false);
    expect(body.reason).toContain(transId);
    const matched = await decide(id, { action: 'match', transId, why });
    expect([matched.status, matched.body.transId]).toEqual([200, transId]);
  });
});

describe('a decision to resend', () => {
  it('that waits is taken back by its review, and is not sent', async () => {
    const id = await reviewed();
    stack.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout' });
    const { status, body } = await decide(id, { action: 'resend', why });
    expect([status, body.status, body.resolution.review]).toEqual([200, 'CREATED', 1]);
    await eventually(
      () => stack.api.ask('GET', `/v1/payments/${id}/events`, { key: KEYS.operator }),
      (answer) => answer.body.data.some(({ type }: { type: string }) => type === 'send_failed'),
    );
    const other = await send(id, { action: 'reject', review: 2, why });
    expect([other.status, other.body.code]).toEqual([409, 'resolution_refused']);
    expect(other.body.detail).toContain('no decision on review 2 waits');

    const taken = await send(id, { action: 'reject', review: 1, why });
    expect([taken.status, taken.body]).toMatchObject([
      200,
      {
        status: 'REVIEW',
        review: { number: 2, rejected: { action: 'resend', proposedBy: 'operator', why } },
      },
    ]);
    expect(taken.body.reason).toContain('it was to be sent once more, and an operator has taken that back');
    expect(stack.transactionsOf(id)).toEqual([]);
    const again = await send(id, { action: 'reject', review: 2, why });
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('no decision waits')]);
  });

  it('sends the payment once more', async () => {
    const id = await reviewed();
    const { status } = await decide(id, { action: 'resend', why });
    expect(status).toBe(200);
    const { body } = await eventually(
      () => stack.read(id),
      (answer) => answer.body.transId !== undefined,
    );
    expect(body.resolution).toMatchObject({ action: 'resend', by: 'operator' });
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('is refused while a matching transaction is found', async () => {
    const id = await reviewed();
    const transId = await transactionFor(id);
    const { status, body } = await decide(id, { action: 'resend', why });
    expect([status, body.code]).toEqual([409, 'resolution_refused']);
    expect(body.detail).toContain(transId);
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a decision to match', () => {
  it('takes the transaction over, once the provider confirms it', async () => {
    const id = await reviewed();
    const transId = await transactionFor(id);
    const { status, body } = await decide(id, { action: 'match', transId, why });
    expect([status, body.transId, body.resolution.transId]).toEqual([200, transId, transId]);
    await eventually(
      () => stack.post(`/v1/payments/${id}/refresh`),
      (answer) => answer.body.status === 'SUCCESSFUL',
    );
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('is refused for a transaction of which the provider knows nothing, or that is of another amount', async () => {
    const id = await reviewed();
    const unknown = await decide(id, { action: 'match', transId: 'invented', why });
    expect([unknown.status, unknown.body.code]).toEqual([409, 'resolution_refused']);
    expect(unknown.body.detail).toContain('invented');
    const other = await decide(id, { action: 'match', transId: await transactionFor(id, 900), why });
    expect([other.status, other.body.payment.status]).toEqual([409, 'REVIEW']);
  });

  it('tells everybody what has moved, when it takes a transaction of another amount by force', async () => {
    const id = await reviewed();
    const transId = await transactionFor(id, 900);
    const refused = await decide(id, { action: 'match', transId, why });
    expect(refused.body).toMatchObject({ force: ['different_transaction'], transactionAmount: 900 });
    const { status } = await decide(id, { action: 'match', transId, why, force: refused.body.force });
    expect(status).toBe(200);

    const moved = { status: 'SUCCESSFUL', amount: 700, amountPaid: 900 };
    const { body } = await eventually(
      () => stack.post(`/v1/payments/${id}/refresh`),
      (answer) => answer.body.status === 'SUCCESSFUL',
    );
    expect(body).toMatchObject({ ...moved, fee: 900 - body.revenue });
    const told = await eventually(
      async () => notified.filter(({ payment }) => payment.id === id).at(-1),
      (last) => last?.type === 'payment.succeeded',
    );
    expect(told?.payment).toMatchObject(moved);
    const list = `/v1/payments?transId=${transId}`;
    const { body: listed } = await eventually(
      () => stack.api.ask('GET', list, { key: KEYS.shop }),
      (answer) => answer.body.data[0]?.status === 'SUCCESSFUL',
    );
    expect(listed.data).toMatchObject([moved]);
    const csv = await stack.api.ask('GET', list, { key: KEYS.shop, headers: { Accept: 'text/csv' } });
    expect(csv.text).toContain(',700,900,XAF,');
    const { body: timeline } = await stack.read(id, '/events');
    expect(timeline.data).toContainEqual(
      expect.objectContaining({
        amountPaid: 900,
        summary: "The payment is SUCCESSFUL, and final: 900 XAF have moved, which isn't what was ordered.",
      }),
    );
  });

  it("is refused for a transaction that is another payment's", async () => {
    const id = await reviewed();
    const other = await stack.begun('/v1/payouts', { amount: 700, phone: '677000000' });
    // Known to visibility or not: the payment asks the provider, too.
    const atOnce = await decide(id, { action: 'match', transId: other.transId, why });
    expect([atOnce.status, atOnce.body.code]).toEqual([409, 'resolution_refused']);
    const { body } = await eventually(
      () => decide(id, { action: 'match', transId: other.transId, why }),
      (answer) => answer.body.detail.includes(other.id),
    );
    expect(body.payment).toMatchObject({ id, status: 'REVIEW' });
  });
});

describe('a decision', () => {
  it('is for operators alone, and for payments that exist', async () => {
    const body = { action: 'fail', review: 1, why };
    expect((await send('col_1', body, KEYS.shop)).status).toBe(403);
    expect((await send(`pay_${'0'.repeat(32)}`, body)).body.code).toBe('not_found');
  });

  it('needs a payment under review', async () => {
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500 });
    const { status, body } = await decide(id, { action: 'fail', why });
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_under_review', 'CREATED']);
    const paid = await stack.paid();
    expect((await decide(paid.id, { action: 'fail', why })).body.code).toBe('not_under_review');
  });

  it('is answered 202 while the provider takes its time to confirm', async () => {
    const id = await reviewed();
    // The payment's own next look may come first, and is as slow.
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'transaction', delayMs: 4_000, count: 3 });
    const { status, body } = await stack.hasty.decide(id, { action: 'fail', why });
    stack.sandbox.faults.clear();
    expect([status, body.status]).toEqual([202, 'REVIEW']);
    await eventually(
      () => stack.read(id),
      (answer) => answer.body.status === 'FAILED',
    );
  });

  it.each([
    ['action', { why }],
    ['action', { action: 'forget', why }],
    ['review', { action: 'fail', review: undefined, why }],
    ['review', { action: 'fail', review: 0, why }],
    ['review', { action: 'match', review: '1', why, transId: 'T1' }],
    ['why', { action: 'fail' }],
    ['why', { action: 'fail', why: '  ' }],
    ['why', { action: 'fail', why: 'x'.repeat(501) }],
    ['force', { action: 'fail', why, force: 'yes' }],
    ['force', { action: 'fail', why, force: ['too_early', 'anything'] }],
    ['transId', { action: 'match', why }],
    ['transId', { action: 'match', why, transId: '' }],
    ['transId', { action: 'match', why, transId: 'x'.repeat(201) }],
    ['transId', { action: 'match', why, transId: '..' }],
    ['transId', { action: 'fail', why, transId: 'T1' }],
    ['transId', { action: 'resend', why, transId: 'T1' }],
    ['by', { action: 'fail', why, by: 'somebody else' }],
  ])('is refused for its %s: %j', async (field, body) => {
    const answer = await send('col_1', { review: 1, ...body });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.errors).toMatchObject([{ field }]);
  });

  it("without the review's number is told where that is found", async () => {
    const { body } = await send('col_1', { action: 'fail', why });
    expect(body.errors).toEqual([{ field: 'review', message: expect.stringContaining('review.number') }]);
    expect(body.detail).toContain('GET /v1/payments/{id}');
  });
});

describe('the number of a review', () => {
  it('is shown with since when it is, and from when on it may be decided without insisting', async () => {
    const id = await reviewed();
    const { body } = await stack.read(id);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body.review).toEqual({ number: 1, since: time, decideFrom: time });
    expect(body).not.toHaveProperty('resolution');
    const decided = await decide(id, { action: 'fail', why });
    expect(decided.body).not.toHaveProperty('review');
    expect(decided.body.resolution).toEqual({ action: 'fail', review: 1, by: 'operator', why, at: time });
  });

  it("that is no longer the payment's refuses the decision, with what has changed", async () => {
    const id = await reviewed();
    // What the provider lists by then is of another amount, which is news for the one who decides.
    await transactionFor(id, 900);
    const { body: changed } = await eventually(
      () => stack.post(`/v1/payments/${id}/refresh`).then(() => stack.read(id)),
      (answer) => answer.body.review.number === 2,
    );
    const { status, body } = await send(id, { action: 'fail', review: 1, why });
    expect([status, body.code, body.payment.review.number]).toEqual([409, 'resolution_refused', 2]);
    expect(body.detail).toContain(changed.reason);
  });
});

describe('a decision in haste', () => {
  let careful: ApiUnderTest;
  beforeAll(async () => {
    const times = { providerTimeoutMs: 4_000, ambiguousGraceMs: 1_000, resolveAfterMs: 3_600_000 };
    careful = await stack.startMore({ terms: { ...terms, ...times }, answerWithinMs: HASTY_MS });
  });

  it('is refused with the time from which on it is taken', async () => {
    const id = await reviewed(careful);
    const { review } = (await stack.read(id)).body;
    expect(Date.parse(review.decideFrom)).toBeGreaterThan(Date.now() + 3_500_000);
    for (const action of ['fail', 'resend']) {
      const { status, body } = await decide(id, { action, why });
      expect([status, body.code, body.payment.status]).toEqual([409, 'resolution_refused', 'REVIEW']);
      expect(body.detail).toContain(review.decideFrom);
      expect(body.force).toEqual(['too_early']);
    }
  });

  it('is carried out when the operator insists, and says so for good', async () => {
    const id = await reviewed(careful);
    const { status, body } = await decide(id, { action: 'fail', why, force: ['too_early'] });
    expect([status, body.status]).toEqual([200, 'FAILED']);
    expect(body.resolution).toMatchObject({ action: 'fail', review: 1, forced: true });
    expect(body.resolution.overruled).toEqual(['too_early']);
  });

  it('is carried out when the operator insists on whatever comes up', async () => {
    const id = await reviewed(careful);
    const { status, body } = await decide(id, { action: 'fail', why, force: true });
    expect([status, body.status, body.resolution.forced]).toEqual([200, 'FAILED', true]);
    expect(body.resolution).not.toHaveProperty('overruled');
  });

  it('does not overrule what its operator has not read', async () => {
    const id = await reviewed(careful);
    const transId = await transactionFor(id, 900);
    const { status, body } = await decide(id, { action: 'match', transId, why, force: ['too_early'] });
    expect([status, body.code]).toEqual([409, 'resolution_refused']);
    expect(body.force).toEqual(['too_early', 'different_transaction']);
  });
});

describe('a decision to match a transaction that another payment has', () => {
  it('is refused even when the provider does not say for which payment it was made', async () => {
    const other = await stack.begun('/v1/payouts', payout);
    const entry = stack.sandbox.ledger.find(other.transId);
    if (entry !== undefined) Object.assign(entry, { externalId: undefined });
    const id = await reviewed();
    const { status, body } = await decide(id, { action: 'match', transId: other.transId, why: 'a mix-up' });
    expect([status, body.code, body.payment.status]).toEqual([409, 'resolution_refused', 'REVIEW']);
    expect(body.detail).toContain(other.id);
  });
});
