import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

const cancel = (id: string) => world.client.workflow.getHandle(id).cancel();

describe('a payment whose workflow somebody asks to be cancelled', () => {
  it('is seen through to its outcome', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await cancel(payment.id);
    await world.visit(payment, 'pay');
    expect(await world.untilStatus(payment.id, 'SUCCESSFUL')).toMatchObject({ final: true });
    expect(await world.ended(payment.id)).toContain('WORKFLOW_EXECUTION_CANCEL_REQUESTED');
  });

  it('is sent and followed all the same when the request that moves money is on its way', async () => {
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 1_000 });
    const answer = world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    const { externalId } = await world.untilTransaction(({ method }) => method === 'payout');
    await cancel(String(externalId));
    const { body } = await answer;
    await world.pass(MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    await world.ended(body.id);
    expect(world.transactionsOf(body.id)).toHaveLength(1);
  });

  it('is read, waited for and decided as before', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    await world.pass(16 * MINUTE);
    await world.untilStatus(body.id, 'REVIEW');
    await cancel(body.id);
    const waited = await world.get(`/v1/payments/${body.id}?wait=1`);
    expect([waited.status, waited.body.status]).toEqual([200, 'REVIEW']);
    expect((await world.post(`/v1/payments/${body.id}/refresh`, {})).status).toBe(200);
    const decided = await world.resolve(body.id, { action: 'fail' });
    expect([decided.status, decided.body.status]).toEqual([200, 'FAILED']);
    expect(await world.checked(body.id)).toContain('WORKFLOW_EXECUTION_CANCEL_REQUESTED');
  });
});
