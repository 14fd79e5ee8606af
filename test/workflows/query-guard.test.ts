import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { PaymentWorld } from '../support/payment-world.js';
import { testEncryption } from '../support/test-encryption.js';

/** Is PENDING until it is settled. */
const PENDING = '670000800';
const POLL_MS = 2_000;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    realServer: true,
    terms: { pollFirstMs: POLL_MS, pollMaxMs: POLL_MS },
  });
}, 120_000);
afterAll(() => world.stop(), 30_000);

/** Fails when the history isn't what the workflow comes to again. */
async function expectReplayable(id: string): Promise<void> {
  const history = await world.client.workflow.getHandle(id).fetchHistory();
  const options = { workflowBundle: workflowBundle(), dataConverter: dataConverterOf(testEncryption) };
  await Worker.runReplayHistory({ ...options, sinks: { payments: nothing } }, history, id);
}

const nothing = Object.fromEntries(
  ['changed', 'becameAmbiguous', 'waitsForBudget', 'gaveUpNotification'].map((name) => [
    name,
    { fn: () => undefined },
  ]),
);

/** Payments that wait for their next poll, which becomes due while no worker is there. */
async function asked<T>(ask: (id: string) => Promise<T>): Promise<{ ids: readonly string[]; answers: T[] }> {
  const order = { method: 'direct', amount: 700, phone: PENDING };
  const payments = await Promise.all(Array.from({ length: 12 }, () => world.begin('collections', order)));
  const ids = payments.map(({ id }) => id);
  await world.stopWorker();
  const answers = ids.map(ask);
  await pause(2 * POLL_MS);
  await world.startWorker();
  return { ids, answers: await Promise.all(answers) };
}

const query = (id: string) =>
  world.client.workflow
    .getHandle(id)
    .query('payment')
    .then(
      () => 'answered',
      () => 'refused',
    );

describe('a query that waits for a worker while something happens to the payment', () => {
  it('changes nothing in the payment, which goes on: it is refused if it comes before the workflow task', async () => {
    const { ids, answers } = await asked(query);
    // Either comes first, as chance has it.
    expect(answers).toContain('refused');
    for (const id of ids) {
      await expectReplayable(id);
      await world.settle(id, 'SUCCESSFUL');
    }
    await Promise.all(ids.map((id) => world.untilStatus(id, 'SUCCESSFUL')));
  });

  it('is answered all the same where the API asks it', async () => {
    const { ids, answers } = await asked((id) => world.get(`/v1/payments/${id}`));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const id of ids) await expectReplayable(id);
  });
});
