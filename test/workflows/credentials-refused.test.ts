import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DefaultLogger } from '@temporalio/worker';
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

describe('credentials that the provider refuses', () => {
  it('are an alarm for the operator, in the log and as a metric, and no payment’s failure', async () => {
    world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 2 });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    await world.pass(5 * MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    expect(errors.filter((message) => message.includes('refuses our credentials'))).toHaveLength(2);
    const text = await (await fetch(metrics)).text();
    expect(text).toMatch(/^sanaga_credentials_refused\S* 2$/m);
  });
});
