import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { TryOutcome } from '../../src/activities/merchant.js';
import { PAYMENT_STATUSES } from '../../src/payments/words/payment.js';
import { samplesOf, sumOf, withoutFractions } from '../support/metrics-page.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld, SUCCEEDS_LATER } from '../support/payment-world.js';

const PHONE = '670000000';
/** Stays pending until a test settles it. */
const PENDING = '670000800';

const registry = new Registry();
let answer: TryOutcome = { kind: 'delivered' };
let world: PaymentWorld;
let atStart: string;
beforeAll(async () => {
  world = await PaymentWorld.start({ registry, notify: async () => answer });
  atStart = await registry.metrics();
});
beforeEach(() => {
  answer = { kind: 'delivered' };
  world.sandbox.faults.clear();
});
afterAll(() => world.stop());

/** Returns the growth of a metric while something is done. */
async function growth(
  name: string,
  labels: Readonly<Record<string, string>>,
  act: () => Promise<unknown>,
): Promise<number> {
  const before = sumOf(await registry.metrics(), name, labels);
  await act();
  return sumOf(await registry.metrics(), name, labels) - before;
}

// On a busy machine a workflow task may be repeated, which counts again: that is why some are compared with "at least".
describe("a worker's metrics", () => {
  it('are there at 0 from the start, with a series for each kind and status', () => {
    for (const kind of ['collection', 'payout']) {
      for (const status of PAYMENT_STATUSES) {
        expect(sumOf(atStart, 'sanaga_payments_total', { kind, status })).toBe(0);
      }
      for (const status of ['SUCCESSFUL', 'FAILED', 'EXPIRED']) {
        expect(sumOf(atStart, 'sanaga_payment_outcome_seconds_count', { kind, status })).toBe(0);
      }
      expect(sumOf(atStart, 'sanaga_status_budget_waits_total', { kind })).toBe(0);
    }
    for (const endpoint of ['initiate-pay', 'direct-pay', 'payout']) {
      expect(sumOf(atStart, 'sanaga_ambiguous_requests_total', { endpoint })).toBe(0);
      expect(sumOf(atStart, 'sanaga_provider_request_duration_seconds_count', { endpoint })).toBe(0);
      expect(sumOf(atStart, 'sanaga_provider_requests_total', { endpoint, outcome: 'timed_out' })).toBe(0);
    }
    for (const result of ['delivered', 'failed', 'no_address', 'held_back']) {
      expect(sumOf(atStart, 'sanaga_merchant_deliveries_total', { result })).toBe(0);
    }
    expect(sumOf(atStart, 'sanaga_merchant_notifications_given_up_total')).toBe(0);
  });

  it('count a payment under each status that it comes to, in the series that were there', async () => {
    const page = await registry.metrics();
    const payment = await world.begin('collections', { method: 'link', amount: 500 });
    await world.visit(payment, 'pay');
    await world.ended(payment.id);
    const later = await registry.metrics();
    const grown = (name: string, status: string) =>
      sumOf(later, name, { kind: 'collection', status }) - sumOf(page, name, { kind: 'collection', status });
    for (const status of ['CREATED', 'SUCCESSFUL']) {
      expect(grown('sanaga_payments_total', status)).toBeGreaterThanOrEqual(1);
    }
    for (const status of ['PENDING', 'FAILED', 'EXPIRED', 'REVIEW']) {
      expect(grown('sanaga_payments_total', status)).toBe(0);
    }
    expect(grown('sanaga_payment_outcome_seconds_count', 'SUCCESSFUL')).toBeGreaterThanOrEqual(1);
    expect(grown('sanaga_payment_outcome_seconds_count', 'FAILED')).toBe(0);
    expect(samplesOf(later)).toHaveLength(samplesOf(page).length);
  });

  it('measure the time from the creation to the outcome, and not to a link’s failed attempt', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 500, expiresIn: '2h' });
    const measured = async () => {
      const page = await registry.metrics();
      const upTo = (le: string) => sumOf(page, 'sanaga_payment_outcome_seconds_bucket', { status: 'EXPIRED', le });
      return [upTo('3600'), upTo('10800')];
    };
    const failed = await growth('sanaga_payment_outcome_seconds_count', {}, async () => {
      await world.visit(payment, 'decline');
      await world.untilStatus(payment.id, 'FAILED');
    });
    expect(failed).toBe(0);
    expect(await measured()).toEqual([0, 0]);
    await world.pass(2 * HOUR + MINUTE);
    await world.ended(payment.id);
    expect(await measured()).toEqual([0, expect.any(Number)]);
    expect((await measured())[1]).toBeGreaterThanOrEqual(1);
  });

  it('count a request that ended ambiguously, and what the provider answered', async () => {
    world.sandbox.faults.add({ fault: 'errorAfterCommit', endpoint: 'payout' });
    const failures = { service: 'payout', endpoint: 'payout', outcome: 'failed' };
    let failed = 0;
    const ambiguous = await growth('sanaga_ambiguous_requests_total', { endpoint: 'payout' }, async () => {
      failed = await growth('sanaga_provider_requests_total', failures, async () => {
        const { body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS_LATER });
        await world.pass(MINUTE);
        await world.untilStatus(body.id, 'SUCCESSFUL');
        await world.checked(body.id);
      });
    });
    expect(failed).toBe(1);
    expect(ambiguous).toBeGreaterThanOrEqual(1);
    expect(sumOf(await registry.metrics(), 'sanaga_ambiguous_requests_total', { endpoint: 'direct-pay' })).toBe(0);
  });

  it('count a question that has to wait for the status budget', async () => {
    const body = { method: 'direct', amount: 700, phone: PENDING };
    const payment = await world.begin('collections', body);
    const answered = async () => world.transactionsOf(payment.id)[0]?.statusCalls.answered ?? 0;
    const waits = await growth('sanaga_status_budget_waits_total', { kind: 'collection' }, async () => {
      for (let hints = 1; hints <= 4; hints++) {
        await world.notify(payment, { status: 'PENDING' });
        while ((await answered()) < hints) await world.pass(1_000);
      }
    });
    expect(waits).toBeGreaterThanOrEqual(1);
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
  });

  it('count each try to notify the merchant, and the notification that is given up', async () => {
    answer = { kind: 'failed', reason: 'down' };
    let failed = 0;
    const givenUp = await growth('sanaga_merchant_notifications_given_up_total', {}, async () => {
      failed = await growth('sanaga_merchant_deliveries_total', { result: 'failed' }, async () => {
        const payment = await world.begin('collections', { method: 'link', amount: 500 });
        await world.visit(payment, 'pay');
        await world.untilStatus(payment.id, 'SUCCESSFUL');
        await world.pass(3 * DAY + HOUR);
        await world.ended(payment.id);
      });
    });
    expect(givenUp).toBeGreaterThanOrEqual(1);
    expect(failed).toBeGreaterThan(5);
  });

  it('name no payment and no person', async () => {
    const page = withoutFractions(await registry.metrics());
    expect(page).not.toMatch(/(col|pay)_[0-9a-f]{32}/);
    expect(page).not.toContain(PHONE);
  });
});
