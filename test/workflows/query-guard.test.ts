import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { type Answer, PaymentWorld } from '../support/payment-world.js';
import { expectReplayable } from '../support/replayable.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';
const POLL_MS = 1_000;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    realServer: true,
    terms: { pollFirstMs: POLL_MS, pollMaxMs: POLL_MS },
  });
});
afterAll(() => world.stop());

const ORDER = { method: 'direct', amount: 700, phone: PENDING };
const PAYMENTS = 12;
const ROUNDS = 8;

/** Events of payments while no worker runs: their next poll is due, or the provider notifies. */
const NEWS = {
  timer: async () => await pause(1.5 * POLL_MS),
  signal: async (payments: readonly Payment[]) => {
    for (const payment of payments) await world.notify(payment, { status: 'SUCCESSFUL' });
  },
} as const;

/** Asks each of some payments while no worker is there, and something happens to them. */
async function asked<T>(
  ask: (id: string) => Promise<T>,
  news: (payments: readonly Payment[]) => Promise<void>,
): Promise<{ ids: readonly string[]; answers: T[] }> {
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => world.begin('collections', ORDER)));
  const ids = payments.map(({ id }) => id);
  await world.stopWorker();
  const answers = ids.map(ask);
  await pause(300);
  await news(payments);
  await world.startWorker();
  return { ids, answers: await Promise.all(answers) };
}

/** The API's answer: 503 for as long as no worker takes the payment's task, and then the payment. */
async function answered(id: string): Promise<Answer> {
  for (;;) {
    const answer = await world.get(`/v1/payments/${id}`);
    if (answer.status !== 503) return answer;
    await pause(200);
  }
}

const query = (id: string) =>
  world.client.workflow
    .getHandle(id)
    .query('payment')
    .then(
      () => 'answered',
      () => 'refused',
    );

describe.each(['timer', 'signal'] as const)('a query that waits for a worker while something happens (%s)', (news) => {
  it('changes nothing in the payment, which goes on: it is refused if it comes before the workflow task', async () => {
    let rounds = 0;
    let isRefused = false;
    // Either comes first, as chance has it: a timer's payments are asked until one query came before its task.
    do {
      expect(++rounds).toBeLessThanOrEqual(ROUNDS);
      const { ids, answers } = await asked(query, NEWS[news]);
      isRefused = answers.includes('refused');
      for (const id of ids) expect((await answered(id)).body.status).toBe('PENDING');
      await expectReplayable(world, ids);
    } while (news === 'timer' && !isRefused);
  });

  it('is answered all the same where the API asks it', async () => {
    const { ids, answers } = await asked(answered, NEWS[news]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await expectReplayable(world, ids);
  });
});

describe('a payment that somebody stops while something happens to it', () => {
  it.each(['timer', 'signal'] as const)('can be read as it was before (%s)', async (news) => {
    const payment = await world.begin('collections', ORDER);
    await world.stopWorker();
    await NEWS[news]([payment]);
    await world.client.workflow.getHandle(payment.id).terminate('by mistake');
    await world.startWorker();
    const { transId } = payment;
    const read = await answered(payment.id);
    expect([read.status, read.body]).toMatchObject([200, { status: 'REVIEW', transId }]);
    const events = await world.events(payment.id);
    expect(events.map(({ type }) => type)).toContain('accepted');
  });
});
