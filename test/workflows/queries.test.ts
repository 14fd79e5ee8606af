import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { PaymentWorld } from '../support/payment-world.js';
import { expectReplayable } from '../support/replayable.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';
const POLL_MS = 1_000;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ terms: { pollFirstMs: POLL_MS, pollMaxMs: POLL_MS } });
});
afterAll(() => world.stop());

const ORDER = { method: 'direct', amount: 700, phone: PENDING };
const PAYMENTS = 12;

/** Events of payments while no worker runs: their next poll is due, or the provider notifies. */
const NEWS = {
  timer: async () => await pause(1.5 * POLL_MS),
  signal: async (payments: readonly Payment[]) => {
    for (const payment of payments) await world.notify(payment, { status: 'SUCCESSFUL' });
  },
} as const;

/** The query of the Web UI: what it shows of a payment as the current details. */
const query = (id: string) =>
  world.client.workflow
    .getHandle(id)
    .query('__temporal_workflow_metadata')
    .catch(() => undefined);

/** Asks each of some payments while no worker is there, and something happens to them. */
async function asked(news: (payments: readonly Payment[]) => Promise<void>) {
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => world.begin('collections', ORDER)));
  await world.stopWorker();
  const answers = payments.map(({ id }) => query(id));
  await pause(300);
  await news(payments);
  await world.startWorker();
  await Promise.all(answers);
  return payments;
}

describe.each(['timer', 'signal'] as const)('a query that waits for a worker while something happens (%s)', (news) => {
  it('changes nothing in the payment, which goes on, whichever of the two the worker is given first', async () => {
    const payments = await asked(NEWS[news]);
    for (const { id } of payments) await world.settle(id, 'SUCCESSFUL');
    for (const { id } of payments) await world.ended(id);
    await expectReplayable(
      world,
      payments.map(({ id }) => id),
    );
  });
});
