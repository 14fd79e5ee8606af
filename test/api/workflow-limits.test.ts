import { describe, expect, it } from '@jest/globals';
import { dayOf } from '../../src/payments/words/time.js';
import { lookUpdate, payoutLimitWorkflowId } from '../../src/workflows/messages.js';
import { merchantsWith } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

/** Temporal's limits of a run, each lower than anywhere: 2,000 updates, ten of them at a time, 10,000 signals. */
const MAX_UPDATES = 20;
const MAX_SIGNALS = 15;
const stack = useStack({
  dynamicConfig: {
    'history.maxTotalUpdates': String(MAX_UPDATES),
    'history.maxInFlightUpdates': '1',
    'history.maximumSignalsPerExecution': String(MAX_SIGNALS),
  },
});
const MORE = 2 * MAX_UPDATES + 5;

const runOf = async (workflowId: string) => (await stack.api.client.workflow.getHandle(workflowId).describe()).runId;

describe('a run that comes near a limit of updates', () => {
  it("hands over to another: the counter of a day's payouts counts on, and forgets none", async () => {
    const key = 'secret-of-flood';
    const merchants = merchantsWith([{ name: 'flood', secret: key, scopes: ['payouts', 'read'] }], {
      maxPayoutsPerDay: 1_000,
    });
    const api = await stack.startMore({ merchants, answerWithinMs: 10_000 });
    const payOut = async (amount: number) =>
      (await api.ask('POST', '/v1/payouts', { key, body: { ...payout, amount } })).status;
    const counter = payoutLimitWorkflowId('flood', dayOf(Date.now()));
    expect([201, 202]).toContain(await payOut(600));
    const first = await runOf(counter);
    for (let more = 0; more < MORE; more++) expect(await payOut(500)).toBe(422);
    expect([201, 202]).toContain(await payOut(400));
    expect(await payOut(100)).toBe(422);
    expect(await runOf(counter)).not.toBe(first);
  });

  it('hands over to another: a payment', async () => {
    const { id } = await stack.asked();
    const first = await runOf(id);
    const look = () => stack.api.client.workflow.getHandle(id).executeUpdate(lookUpdate);
    // One that comes while the next run takes over is repeated, as the API does.
    for (let more = 0; more < MORE; more++)
      await eventually(
        () => look().catch(() => undefined),
        (view) => view !== undefined,
      );
    expect(await runOf(id)).not.toBe(first);
    expect((await stack.read(id)).body).toMatchObject({ id, status: 'CREATED' });
  });

  it('is not brought there by requests that it refuses', async () => {
    const { id } = await stack.asked();
    const first = await runOf(id);
    for (let more = 0; more < MORE; more++) {
      const { body } = await stack.post(`/v1/payments/${id}/notifications/99/resend`);
      expect(body.code).toBe('no_such_notification');
    }
    expect(await runOf(id)).toBe(first);
    expect((await stack.post(`/v1/collections/${id}/expire`)).status).toBe(200);
  });
});

describe('a payment that has as many updates in flight as Temporal takes', () => {
  it('is answered 202 or 503 for another, never as done, and goes on', async () => {
    const payment = await stack.asked();
    // Those who wait for an outcome share an update, which is in flight until there is one.
    const waiting = stack.read(payment.id, '?wait=50');
    await eventually(
      () => stack.post(`/v1/collections/${payment.id}/expire`),
      ({ status }) => status === 202 || status === 503,
    );
    expect((await stack.read(payment.id)).body.status).toBe('CREATED');
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    expect((await waiting).body.status).toBe('SUCCESSFUL');
  });
});

describe('notifications beyond the signals that a run takes while no worker does anything', () => {
  it('are refused with 503, so that they are repeated, and the payment goes on', async () => {
    const payment = await stack.asked(link);
    await stack.withoutWorker(async () => {
      const answers = [];
      for (let sent = 0; sent < MAX_SIGNALS + 5; sent++) answers.push(await stack.hint(payment, 'PENDING'));
      expect(answers[0]?.status).toBe(200);
      expect(answers.at(-1)).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
    });
    await stack.visit(payment, 'pay');
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    const { body } = await stack.read(payment.id, '?wait=50');
    expect(body.status).toBe('SUCCESSFUL');
  });
});
