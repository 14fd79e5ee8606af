import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DefaultLogger } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { sumOf } from '../support/metrics-page.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const errors: string[] = [];
const registry = new Registry();
let world: PaymentWorld;
beforeAll(async () => {
  const logger = new DefaultLogger('ERROR', ({ message }) => errors.push(message));
  world = await PaymentWorld.start({ registry, runtime: { logger } });
});
afterAll(() => world.stop());

describe('credentials that the provider refuses', () => {
  it('are an alarm for the operator, in the log and as a metric, and no payment’s failure', async () => {
    const refused = async (service: string) =>
      sumOf(await registry.metrics(), 'sanaga_provider_requests_total', { service, outcome: 'unauthorized' });
    expect([await refused('payout'), await refused('collection')]).toEqual([0, 0]);
    world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 2 });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    await world.pass(5 * MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    expect(errors.filter((message) => message.includes('refuses our credentials'))).toHaveLength(2);
    expect([await refused('payout'), await refused('collection')]).toEqual([2, 0]);
  });
});
