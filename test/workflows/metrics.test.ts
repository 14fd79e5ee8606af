import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import { PAYMENT_STATUSES } from '../../src/payments/words/payment.js';
import { samplesOf, sumOf, withoutFractions } from '../support/metrics-page.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld, SUCCEEDS_LATER } from '../support/payment-world.js';

const PHONE = '670000000';

const registry = new Registry();
let answer: DeliveryOutcome = { kind: 'delivered' };
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

describe("a worker's metrics", () => {
  it('are there at 0 from the start, with a series for each kind and status', () => {
    for (const kind of ['collection', 'payout']) {
      for (const status of PAYMENT_STATUSES) {
        expect(sumOf(atStart, 'sanaga_payments_total', { kind, status })).toBe(0);
      }
      for (const status of ['SUCCESSFUL', 'FAILED', 'EXPIRED']) {
        expect(sumOf(atStart, 'sanaga_payment_outcome_seconds_count', { kind, status })).toBe(0);
      }
    }
    for (const endpoint of ['initiate-pay', 'direct-pay', 'payout']) {
      expect(sumOf(atStart, 'sanaga_ambiguous_requests_total', { endpoint })).toBe(0);
      expect(sumOf(atStart, 'sanaga_provider_request_duration_seconds_count', { endpoint })).toBe(0);
      expect(sumOf(atStart, 'sanaga_provider_requests_total', { endpoint, outcome: 'timed_out' })).toBe(0);
    }
    for (const result of ['delivered', 'failed', 'no_address']) {
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
      expect({ status, grown: grown('sanaga_payments_total', status) }).toEqual({ status, grown: 1 });
    }
    for (const status of ['PENDING', 'FAILED', 'EXPIRED', 'REVIEW']) {
      expect(grown('sanaga_payments_total', status)).toBe(0);
    }
    expect(grown('sanaga_payment_outcome_seconds_count', 'SUCCESSFUL')).toBe(1);
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
    expect(await measured()).toEqual([0, 1]);
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
    expect(ambiguous).toBe(1);
    expect(sumOf(await registry.metrics(), 'sanaga_ambiguous_requests_total', { endpoint: 'direct-pay' })).toBe(0);
  });

  it('count a payment’s refused credentials, which are nobody’s failure', async () => {
    const refused = { service: 'payout', outcome: 'unauthorized' };
    const count = await growth('sanaga_provider_requests_total', refused, async () => {
      world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 2 });
      const { body } = await world.post('/v1/payouts', { amount: 900, phone: PHONE });
      await world.pass(5 * MINUTE);
      await world.untilStatus(body.id, 'SUCCESSFUL');
    });
    expect(count).toBe(2);
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
    expect(givenUp).toBe(1);
    expect(failed).toBeGreaterThan(5);
  });

  it('name no payment and no person', async () => {
    const page = withoutFractions(await registry.metrics());
    expect(page).not.toMatch(/(col|pay)_[0-9a-f]{32}/);
    expect(page).not.toContain(PHONE);
  });
});
