import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

/** All processes twice, as the chart starts them. */
let apis: ApiUnderTest[];
let stopWorker: () => Promise<void>;
beforeAll(async () => {
  const hasty = { answerWithinMs: HASTY_MS };
  apis = [await stack.startMore(hasty), await stack.startMore(hasty)];
  stopWorker = await stack.startMoreWorkers();
});
afterAll(() => stopWorker());

interface Made {
  readonly id: string;
  readonly transId: string;
}

/** All that makes somebody ask for a transaction's status, by both processes of the API at once, again and again. */
async function askByAllMeans({ id, transId }: Made, statuses: readonly string[]): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const status = statuses[round % statuses.length];
    await Promise.all(
      apis.flatMap((api) => [
        api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: { transId, status, externalId: id } }),
        api.ask('GET', `/v1/payments/${id}/provider`, { key: KEYS.operator }),
        api.ask('POST', `/v1/payments/${id}/refresh`, { key: KEYS.operator }),
      ]),
    );
    await pause(500);
  }
}

/** At most three in any minute, and none too many. */
async function expectWithinBudget(payment: Made, ask: () => Promise<void>): Promise<void> {
  const begun = Date.now();
  await ask();
  const minutes = 1 + Math.floor((Date.now() - begun) / 60_000);
  const { answered = 0, throttled } = callsOf(payment) ?? {};
  expect(answered).toBeLessThanOrEqual(3 * minutes);
  expect([answered >= 3, throttled]).toEqual([true, 0]);
}

const callsOf = ({ id }: Made) => stack.transactionsOf(id)[0]?.statusCalls;

describe('a transaction whose status two processes of the API and two workers have reason to ask for', () => {
  it('is asked for three times a minute at most, while its link waits to be paid', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await expectWithinBudget(payment, () => askByAllMeans(payment, ['SUCCESSFUL', 'FAILED', 'EXPIRED']));
  });

  it('is asked for three times a minute at most, before and after the end of its payment', async () => {
    const payment = await stack.begun('/v1/payouts', { ...payout, externalId: 'o-1' });
    await expectWithinBudget(payment, async () => {
      await stack.hint(payment);
      await stack.read(payment.id, '?wait=60');
      await askByAllMeans(payment, ['FAILED', 'SUCCESSFUL']);
    });
  });

  it('is not asked for by a look that has no room: the latest answer is shown, and how old it is', async () => {
    const payment = await stack.begun('/v1/collections', link);
    const look = async (api: ApiUnderTest) =>
      (await api.ask('GET', `/v1/payments/${payment.id}/provider`, { key: KEYS.operator })).body;
    const [one, other, third] = [...apis, await stack.startMore()];
    if (one === undefined || other === undefined || third === undefined) throw new Error('there are two');
    const shown = await look(one);
    for (const { status } of [shown, await look(other)]) {
      expect(status).toMatchObject({ answer: 'found', transaction: { status: 'CREATED' } });
    }
    // One that has asked nothing says when it may.
    const { status } = await look(third);
    expect(status.message).toMatch(/^its limit of questions is reached.*look again in \d\d? seconds$/);
    const later = await eventually(
      () => look(one),
      ({ list }) => list.asOf !== shown.list.asOf,
    );
    expect(later.status).toEqual(shown.status);
    // One question is left to the payment itself.
    expect(callsOf(payment)).toMatchObject({ answered: 2 });
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    await stack.read(payment.id, '?wait=60');
    expect(callsOf(payment)).toMatchObject({ answered: 3, throttled: 0 });
  });

  it('is asked for again once the minute is over, and nothing is lost, when workers that died have used up all of it', async () => {
    const payment = await stack.begun('/v1/collections', link);
    const asked = Array.from({ length: 9 }, () =>
      stack.providers.collection.paymentStatus(payment.transId, { signal: AbortSignal.timeout(10_000) }),
    );
    const answers = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(answers.filter((kind) => kind === 'throttled')).toHaveLength(3);
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    const { body: ended } = await eventually(
      () => stack.read(payment.id, '?wait=60'),
      ({ body }) => body.final,
    );
    expect(ended).toMatchObject({ status: 'SUCCESSFUL', transId: payment.transId });
    // One question of its own was too many.
    expect(callsOf(payment)).toMatchObject({ throttled: 4 });
  });
});
