import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DefaultLogger } from '@temporalio/worker';
import { PAYMENT_STATUSES } from '../../src/payments/payment.js';
import { freePort } from '../../stack/processes/ports.js';
import { MINUTE } from '../payments/orders.js';
import { PaymentWorld } from './payment-world.js';

const errors: string[] = [];
let metrics: string;
let world: PaymentWorld;
beforeAll(async () => {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  metrics = `http://${bindAddress}/metrics`;
  world = await PaymentWorld.start({
    runtime: {
      logger: new DefaultLogger('ERROR', ({ message }) => errors.push(message)),
      telemetryOptions: { metrics: { prometheus: { bindAddress } } },
    },
  });
}, 60_000);
afterAll(() => world.stop(), 30_000);

/** The values of a counter's series that have these labels. */
async function valuesOf(counter: string, ...labels: readonly string[]): Promise<readonly number[]> {
  const lines = (await (await fetch(metrics)).text()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${counter}{`) && labels.every((label) => line.includes(label)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('the counters of a worker', () => {
  it('are there at 0 from the start, one for each kind and status', async () => {
    for (const kind of ['collection', 'payout']) {
      for (const status of PAYMENT_STATUSES) {
        const values = await valuesOf('sanaga_payments_total', `kind="${kind}"`, `status="${status}"`);
        expect(values.length).toBeGreaterThan(0);
        expect(sum(values)).toBe(0);
      }
    }
    expect(await valuesOf('sanaga_credentials_refused')).toEqual([0, 0, 0, 0]);
  });

  it('count a payment under each status that it comes to, in the series that were there', async () => {
    const before = (await valuesOf('sanaga_payments_total')).length;
    const payment = await world.begin('collections', { method: 'link', amount: 500 });
    await world.visit(payment, 'pay');
    await world.ended(payment.id);
    const count = async (status: string) =>
      sum(await valuesOf('sanaga_payments_total', 'kind="collection"', `status="${status}"`));
    expect([await count('CREATED'), await count('SUCCESSFUL'), await count('REVIEW')]).toEqual([1, 1, 0]);
    expect(await valuesOf('sanaga_payments_total')).toHaveLength(before);
  });
});

describe('credentials that the provider refuses', () => {
  it('are an alarm for the operator, in the log and as a metric, and no payment’s failure', async () => {
    world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 2 });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    await world.pass(5 * MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    expect(errors.filter((message) => message.includes('refuses our credentials'))).toHaveLength(2);
    expect(sum(await valuesOf('sanaga_credentials_refused', 'payOut'))).toBe(2);
  });
});
