import { describe, expect, it } from '@jest/globals';
import { KEYS, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, link, payout, recordingMerchant, useStack } from '../support/payment-stack.js';

const stack = useStack({ merchant: recordingMerchant().merchant });

const ask = (id: string, key: string = KEYS.shop) => stack.api.ask('GET', `/v1/payments/${id}/events`, { key });

interface Shown {
  readonly at: string;
  readonly type: string;
  readonly source: string;
  readonly summary: string;
}

async function events(id: string): Promise<readonly Shown[]> {
  const { status, body } = await ask(id);
  expect(status).toBe(200);
  return body.data;
}

/** The timeline once this is in it: what is delivered is told a moment after what is so. */
const untilTold = (id: string, holds: (events: readonly Shown[]) => boolean) => eventually(() => events(id), holds);

const isNotified = (all: readonly Shown[]) => all.at(-1)?.type === 'merchant_notification';

/** Without the times. */
async function told(id: string) {
  return (await events(id)).map(({ at, ...rest }) => {
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    return rest;
  });
}

const CREATED = {
  type: 'created',
  source: 'merchant',
  status: 'CREATED',
  summary: 'The payment was created.',
};
const SENDING = {
  type: 'sending',
  source: 'system',
  summary: 'Sanaga sends the request to the provider.',
};
const accepted = (transId: string) => ({
  type: 'accepted',
  source: 'provider',
  transId,
  summary: `The provider has accepted the payment as transaction ${transId}.`,
});
const notified = (number: number, event: string) => ({
  type: 'merchant_notification',
  source: 'system',
  number,
  event,
  delivery: 'delivered',
  summary: `Notification ${number} (${event}) was delivered to the merchant.`,
});

describe('the timeline of a payment', () => {
  it('tells every step of a paid link, the same while it runs and after its end', async () => {
    const payment = await stack.begun('/v1/collections', { ...link, message: 'Two tickets' });
    const begun = [CREATED, SENDING, accepted(payment.transId)];
    expect(await told(payment.id)).toEqual(begun);

    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    await stack.read(payment.id, '?wait=60');
    await untilTold(payment.id, isNotified);
    expect(await told(payment.id)).toEqual([
      ...begun,
      {
        type: 'provider_notification',
        source: 'notification',
        providerStatus: 'SUCCESSFUL',
        summary:
          "A notification in the provider's name said that the payment's transaction is SUCCESSFUL. A notification proves nothing.",
      },
      {
        type: 'status_changed',
        source: 'provider',
        status: 'SUCCESSFUL',
        final: true,
        summary: 'The payment is SUCCESSFUL, and final.',
      },
      notified(1, 'payment.succeeded'),
    ]);
    const [first] = await events(payment.id);
    expect(first?.at).toBe(payment.createdAt);
  });

  it('tells who had a notification sent again', async () => {
    const payment = await stack.paid();
    await stack.post(`/v1/payments/${payment.id}/notifications/1/resend`);
    const after = await untilTold(
      payment.id,
      (all) => isNotified(all) && all.at(-2)?.type === 'notification_requested',
    );
    expect(after.slice(-2)).toMatchObject([
      { type: 'notification_requested', number: 1, source: 'merchant' },
      { type: 'merchant_notification', number: 1, delivery: 'delivered' },
    ]);
  });

  it('tells of a review, of who decided it, and of the outcome', async () => {
    const hasty = await stack.startMore({
      terms: { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 1_000 },
      answerWithinMs: HASTY_MS,
    });
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const { body } = await hasty.ask('POST', '/v1/payouts', { key: KEYS.shop, body: payout });
    const { id } = body;
    await eventually(
      () => stack.read(id),
      (answer) => answer.body.status === 'REVIEW',
    );
    await stack.decide(id, { action: 'fail', why: 'ticket 4711' });
    // The outcome is compared with the provider's list while the merchant is notified of it.
    await untilTold(id, ({ length }) => length === 11);
    const all = await told(id);
    const words = all.map(({ type, source }) => `${type} ${source}`);
    expect([...words.slice(0, 9), ...words.slice(9).sort()]).toEqual([
      'created merchant',
      'sending system',
      'unanswered system',
      'looked_up provider',
      'review_opened system',
      'merchant_notification system',
      'looked_up provider',
      'decided operator',
      'status_changed operator',
      'looked_up provider',
      'merchant_notification system',
    ]);
    expect(all).toContainEqual(expect.objectContaining({ type: 'review_opened', review: 1, status: 'REVIEW' }));
    expect(all).toContainEqual({
      type: 'decided',
      source: 'operator',
      review: 1,
      action: 'fail',
      by: 'operator',
      summary: 'operator decided that no money has moved (review 1).',
    });
    expect(all).toContainEqual(
      expect.objectContaining({ status: 'FAILED', final: true, failureCode: 'decided_by_operator' }),
    );
    expect(JSON.stringify(all)).not.toContain('ticket');
  });

  it('tells why a payout failed', async () => {
    const payment = await stack.begun('/v1/payouts', {
      amount: 700,
      phone: '677000800',
      email: 'f@example.com',
    });
    for (const transaction of stack.transactionsOf(payment.id)) {
      stack.sandbox.ledger.settle(transaction, 'FAILED');
    }
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    await stack.read(payment.id, '?wait=60');
    await untilTold(payment.id, isNotified);
    const all = await told(payment.id);
    const { reason } = (await stack.read(payment.id)).body;
    expect(all.slice(3)).toEqual([
      {
        type: 'refresh_requested',
        source: 'merchant',
        by: 'shop',
        summary: 'The merchant had the provider asked for the status.',
      },
      {
        type: 'status_changed',
        source: 'provider',
        status: 'FAILED',
        final: true,
        failureCode: 'failed_at_provider',
        ...(reason && { reason }),
        summary: reason ? `The payment is FAILED, and final: ${reason}.` : 'The payment is FAILED, and final.',
      },
      notified(1, 'payment.failed'),
    ]);
    expect(JSON.stringify(all)).not.toMatch(/@example\.com|677000800/);
  });

  it("is its own merchant's, and the operators'", async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await ask(id, KEYS.rival)).status).toBe(404);
    expect((await ask(id, KEYS.operator)).status).toBe(200);
    expect((await ask('col_nowhere')).status).toBe(404);
  });

  it('has the creation of a payment that no worker has taken yet', async () => {
    await stack.withoutWorker(async () => {
      const { status, body } = await stack.hasty.post('/v1/payouts', payout);
      expect(status).toBe(202);
      expect(await told(body.id)).toEqual([CREATED]);
    });
  });

  it('has how its link was made, and all that was asked for, though no worker is there', async () => {
    await stack.withoutWorker(async () => {
      const { id, transId } = await stack.begun('/v1/collections', link);
      expect(await told(id)).toEqual([CREATED, SENDING, accepted(transId)]);
    });
  });
});
