import { describe, expect, it } from '@jest/globals';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

describe('a link that is expired', () => {
  it('is answered 200, however often it is asked', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    for (let times = 0; times < 2; times++) {
      const { status, body } = await stack.post(`/v1/collections/${id}/expire`);
      expect([status, body.status, body.final]).toEqual([200, 'EXPIRED', true]);
    }
    expect(stack.transactionsOf(id)).toMatchObject([{ status: 'EXPIRED' }]);
  });

  it('is refused once it was paid, with the payment', async () => {
    const { id } = await stack.paid();
    const { status, body } = await stack.post(`/v1/collections/${id}/expire`);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_expirable', 'SUCCESSFUL']);
  });

  it('is refused when it was paid at the last moment, with the payment', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    const { status, body } = await stack.post(`/v1/collections/${payment.id}/expire`);
    expect([status, body.code, body.payment.status]).toEqual([409, 'not_expirable', 'SUCCESSFUL']);
  });

  it('must be a link', async () => {
    const { id } = await stack.begun('/v1/collections', {
      method: 'direct',
      amount: 500,
      phone: '677000800',
    });
    const { status, body } = await stack.post(`/v1/collections/${id}/expire`);
    expect([status, body.code]).toEqual([409, 'not_a_link']);
    const { id: sent } = await stack.begun('/v1/payouts', payout);
    const wrong = await stack.post(`/v1/collections/${sent}/expire`);
    expect([wrong.status, wrong.body.detail]).toEqual([404, expect.stringContaining("This is a payout's id")]);
  });

  it('must have been made by the provider, when it may have been sent', async () => {
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'initiate-pay' });
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', count: 20 });
    const { body: payment } = await stack.post('/v1/collections', link);
    const { status, body } = await stack.post(`/v1/collections/${payment.id}/expire`);
    expect([status, body.code]).toEqual([409, 'not_initiated']);
  });

  it('is answered 202 while the provider takes its time', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'expire-pay', delayMs: 3_500 });
    const { status, body } = await stack.hasty.post(`/v1/collections/${id}/expire`);
    expect([status, body.status]).toEqual([202, 'CREATED']);
  });
});

describe('a refresh', () => {
  it('asks the provider and answers with what it said', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    const { status, body } = await stack.post(`/v1/payments/${payment.id}/refresh`);
    expect([status, body.status]).toEqual([200, 'SUCCESSFUL']);
  });

  it('leaves a final payment alone when its merchant asks for it', async () => {
    const { id } = await stack.paid();
    const [entry] = stack.transactionsOf(id);
    const asked = entry?.statusCalls.answered;
    const { runId } = await stack.api.client.workflow.getHandle(id).describe();
    const { status, body } = await stack.post(`/v1/payments/${id}/refresh`);
    expect([status, body.status, body.final]).toEqual([200, 'SUCCESSFUL', true]);
    expect(entry?.statusCalls.answered).toBe(asked);
    expect((await stack.api.client.workflow.getHandle(id).describe()).runId).toBe(runId);
  });

  it("beyond the provider's limit is answered 202 with the payment as it stands", async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await stack.post(`/v1/payments/${id}/refresh`)).status).toBe(200);
    const statuses = [];
    for (let times = 0; times < 6; times++)
      statuses.push((await stack.hasty.post(`/v1/payments/${id}/refresh`)).status);
    expect(statuses.at(-1)).toBe(202);
  });
});

describe('a payment whose workflow was asked to cancel', () => {
  it('is at worst not available for the moment, and never a failure of ours', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    await stack.api.client.workflow.getHandle(id).cancel();
    const answers = [
      await stack.read(id, '?wait=1'),
      await stack.read(id, '?wait=1'),
      await stack.post(`/v1/payments/${id}/refresh`),
      await stack.post(`/v1/collections/${id}/expire`),
      await stack.read(id),
    ];
    expect(answers.map(({ status }) => status).filter((status) => ![200, 202, 503].includes(status))).toEqual([]);
  });
});
