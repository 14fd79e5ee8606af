import { describe, expect, it } from '@jest/globals';
import { findPayment } from '../../../src/book/payments.js';
import { KEYS } from '../../support/api-under-test.js';
import { eventually } from '../../support/eventually.js';
import { link, useStack } from '../../support/payment-stack.js';

const stack = useStack();

const read = (id: string, key: string = KEYS.operator) => stack.api.ask('GET', `/v1/payments/${id}/provider`, { key });
const at = expect.stringMatching(/^\d{4}-.*Z$/);

describe('what the provider shows of a payment', () => {
  it('is its list, and the status of its transaction, with the time of each answer', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    const { status, body } = await read(id);
    expect(status).toBe(200);
    const transaction = {
      transId,
      status: 'CREATED',
      transType: 'Collection',
      amount: 500,
      externalId: id,
      userId: id,
    };
    expect(body).toEqual({
      object: 'provider_records',
      list: { answer: 'listed', asOf: at, transactions: expect.arrayContaining([transaction]) },
      status: { answer: 'found', asOf: at, transId, transaction },
    });
  });

  it('changes nothing of the payment, and is shared by all who look at once', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    const before = (await stack.api.ask('GET', `/v1/payments/${id}/events`, { key: KEYS.shop })).body;
    const answers = await Promise.all([read(id), read(id), read(id), read(id)]);
    expect(new Set(answers.map(({ body }) => body.status.asOf)).size).toBe(1);
    await read(id);
    const [entry] = stack.transactionsOf(id);
    expect(entry).toMatchObject({ transId, statusCalls: { answered: 1, throttled: 0 } });
    expect((await stack.api.ask('GET', `/v1/payments/${id}/events`, { key: KEYS.shop })).body).toEqual(before);
  });

  it('counts among the questions of the payment', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    await read(id);
    const found = await findPayment(stack.book, id);
    expect(found?.kept.state.recentQuestions).toEqual([{ transId, at: expect.any(Number) }]);
  });

  it('is asked for when the payment has ended, too, which stays as it was', async () => {
    const payment = await stack.paid();
    const asked = stack.transactionsOf(payment.id)[0]?.statusCalls.answered ?? 0;
    const { body } = await read(payment.id);
    expect(body.status).toMatchObject({ answer: 'found', transaction: { status: 'SUCCESSFUL' } });
    expect(body.list.transactions).toHaveLength(1);
    expect(stack.transactionsOf(payment.id)[0]?.statusCalls.answered).toBe(asked + 1);
    await stack.api.client.workflow.getHandle(payment.id).result();
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'SUCCESSFUL', final: true });
  });

  it('is known where the workflow was stopped by hand, too', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    await stack.api.client.workflow.getHandle(id).terminate('by mistake');
    const { body } = await read(id);
    expect([body.list.answer, body.status]).toMatchObject(['listed', { answer: 'found', transId }]);
  });

  it('says that it is not known, when the provider gives no answer', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', userId: id });
    stack.sandbox.faults.add({ fault: 'throttle', endpoint: 'payment-status', externalId: id });
    const { status, body } = await read(id);
    expect(status).toBe(200);
    expect(body.list).toEqual({
      answer: 'unavailable',
      asOf: at,
      transactions: [],
      message: expect.any(String),
    });
    expect(body.status).toMatchObject({ answer: 'throttled' });
  });

  it('is for operators alone', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await read(id, KEYS.shop)).status).toBe(403);
    expect((await read(`col_${'0'.repeat(32)}`)).status).toBe(404);
  });
});

describe('a provider that hangs', () => {
  it('keeps nobody waiting: there is no answer then', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'transaction', userId: id, delayMs: 60_000 });
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payment-status', externalId: id, delayMs: 60_000 });
    const { status, body } = await read(id);
    const none = { answer: 'unavailable', asOf: at, message: 'no answer within 5 s' };
    expect([status, body.list, body.status]).toEqual([200, { ...none, transactions: [] }, { ...none, transId }]);
    await eventually(
      () => read(id),
      (later) => later.body.list.answer === 'listed',
    );
  });
});
