import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { askProvider } from '../../src/activities/asking.js';
import { callLimit } from '../../src/activities/call-limit.js';
import { StatusLimit } from '../../src/activities/status-limit.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { openPayment } from '../../src/payments/words/payment-state.js';
import { clientOf, closeServers, serveHttp } from '../support/local-servers.js';
import { directOrder, payoutOrder, START, terms, transId } from '../support/orders.js';

let answer: { status: number; body: unknown };
const asked: string[] = [];
beforeEach(() => {
  answer = { status: 200, body: [] };
  asked.length = 0;
});
afterAll(closeServers);

async function ask(order: PaymentOrder, todo: Todo, limit = new StatusLimit(3)) {
  const { url } = await serveHttp((response, { path, headers }) => {
    asked.push(`${headers.apiuser} ${path}`);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  const providers = {
    collection: clientOf(url, { apiUser: 'collector' }),
    payout: clientOf(url, { service: 'payout', apiUser: 'payer' }),
  };
  const state = openPayment(order, terms, START);
  const turn = { todo, token: 7, attempt: 1, version: 2, at: START, before: state, after: state };
  const context = { providers, statusLimit: limit, now: () => START };
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 60_000 });
  return await environment.run(() => askProvider(context, turn, callLimit()));
}

const transaction = (id: string, externalId?: string) => ({ transId: id, status: 'PENDING', externalId });
const lookUp: Todo = { kind: 'lookUp' };

describe('the look for a payment at the provider', () => {
  it("leaves out what says it is another's, and keeps what doesn't say", async () => {
    const body = [transaction('T3'), transaction('T2', 'pay_other'), transaction('T1', 'pay_3')];
    answer = { status: 200, body };
    expect(await ask(payoutOrder, lookUp)).toMatchObject({
      token: 7,
      kind: 'listed',
      answer: { kind: 'listed', transactions: [{ transId: 'T1' }, { transId: 'T3' }] },
    });
  });

  it("is made under the id that the payment was sent with, by its own kind's service", async () => {
    await ask(payoutOrder, lookUp);
    await ask(directOrder, lookUp);
    expect(asked).toEqual(['payer /transaction/pay_3', 'collector /transaction/col_2_direct']);
  });

  it("keeps 20 transactions at most, the payment's own before those that don't say, and kilobytes of them", async () => {
    const long = 'x'.repeat(100_000);
    const unnamed = Array.from({ length: 50 }, (_, nth) => ({ ...transaction(`U${nth}`), financialTransId: long }));
    answer = { status: 200, body: [...unnamed, transaction('T1', 'pay_3')] };
    const listed = await ask(payoutOrder, lookUp);
    expect(listed).toHaveProperty('answer.transactions.length', 20);
    expect(listed).toMatchObject({
      answer: { transactions: expect.arrayContaining([expect.objectContaining({ transId: 'T1' })]) },
    });
    expect(JSON.stringify(listed).length).toBeLessThan(50_000);
  });

  it('says so when it got no answer', async () => {
    answer = { status: 502, body: 'bad gateway' };
    expect(await ask(payoutOrder, lookUp)).toMatchObject({ answer: { kind: 'unavailable' } });
  });
});

describe('the status of a payment', () => {
  const status: Todo = { kind: 'askStatus', transId: transId('T9'), isClaim: false };

  it("is asked of its own kind's service, and tells nothing of people", async () => {
    answer = {
      status: 200,
      body: { transId: 'T9', status: 'PENDING', payerName: 'A Person', email: 'p@example.com' },
    };
    const answered = await ask(payoutOrder, status);
    expect(asked).toEqual(['payer /payment-status/T9']);
    expect(answered).toMatchObject({ kind: 'status', at: START, answer: { kind: 'found' } });
    expect(JSON.stringify(answered)).not.toMatch(/Person|example\.com/);
  });

  it('is not asked more often than a payment may ask, however often its turn is repeated', async () => {
    const limit = new StatusLimit(3);
    for (let times = 0; times < 3; times++) await ask(payoutOrder, status, limit);
    expect(await ask(payoutOrder, status, limit)).toMatchObject({ answer: { kind: 'throttled', isOurs: true } });
    expect(asked).toHaveLength(3);
  });
});
