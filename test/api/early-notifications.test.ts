import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

/** The worker of a stack asks for a status after three minutes, unless it is told something. */
const stack = useStack();

const unmatched = async () =>
  (await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body.data;

/** The provider's transaction of a payment that may still wait for the provider's answer. */
const transactionOf = (id: string) =>
  eventually(
    async () => stack.transactionsOf(id)[0],
    (found) => found?.status === 'SUCCESSFUL',
  );

const untilSuccessful = (id: string) =>
  eventually(
    () => stack.read(id),
    ({ body }) => body.status === 'SUCCESSFUL',
  );

/** A payout whose answer takes seconds longer than the provider takes for the payout itself. */
async function slowPayout(fault: object = { fault: 'slow', endpoint: 'payout', delayMs: 2_500 }) {
  // biome-ignore lint/suspicious/noExplicitAny: a fault as the sandbox's control API takes it
  stack.sandbox.faults.add(fault as any);
  const { body } = await stack.post('/v1/payouts', payout, randomUUID());
  const id = String(body.id ?? body.paymentId);
  const { transId = '' } = (await transactionOf(id)) ?? {};
  return { id, transId };
}

describe("a notification that comes before the provider's answer", () => {
  it('by its transaction alone finds its payment as soon as that has the transaction', async () => {
    const { id, transId } = await slowPayout();
    expect((await stack.notify({ transId, status: 'SUCCESSFUL' })).status).toBe(200);
    await untilSuccessful(id);
    // It is no longer an operator's.
    await eventually(unmatched, (kept) => !JSON.stringify(kept).includes(transId));
  });

  it.each<[string, (id: string, transId: string) => object]>([
    ['with its payment', (id, transId) => ({ transId, status: 'SUCCESSFUL', externalId: id })],
    ['by its payment alone', (id) => ({ status: 'SUCCESSFUL', userId: id })],
    ['without a status', (id, transId) => ({ data: [{ transId, externalId: id }] })],
  ])('is not forgotten: %s', async (_, body) => {
    const { id, transId } = await slowPayout();
    expect((await stack.notify(body(id, transId))).status).toBe(200);
    await untilSuccessful(id);
  });

  it.each<[string, (id: string, transId: string) => object]>([
    ['with its payment', (id, transId) => ({ transId, status: 'SUCCESSFUL', externalId: id })],
    ['by its payment alone', (id) => ({ externalId: id })],
  ])('brings the look-up of one that nobody answers for forward: %s', async (_, body) => {
    const { id, transId } = await slowPayout({ fault: 'errorAfterCommit', endpoint: 'payout' });
    await stack.notify(body(id, transId));
    await untilSuccessful(id);
  });

  it('has a payout looked up that the provider has throttled and taken all the same', async () => {
    stack.sandbox.faults.add({ fault: 'throttle', endpoint: 'payout', retryAfter: 3_600 });
    const { body } = await stack.post('/v1/payouts', payout, randomUUID());
    const id = String(body.id ?? body.paymentId);
    await eventually(
      () => stack.read(`${id}/events`, '', KEYS.operator),
      ({ text }) => text.includes('send_failed'),
    );
    await stack.notify({ transId: 'T-of-nobody', externalId: id });
    await eventually(
      () => stack.read(`${id}/events`, '', KEYS.operator),
      ({ text }) => text.includes('looked_up'),
    );
    expect(stack.transactionsOf(id)).toHaveLength(0);
  });
});

describe('a notification of a link by its transaction alone', () => {
  it('to another process begins the payment, which waits for its first poll', async () => {
    const other = await stack.startMore();
    const payment = await stack.begun('/v1/collections', link, randomUUID());
    await stack.visit(payment, 'pay');
    const { status } = await other.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, {
      body: { transId: payment.transId },
    });
    expect(status).toBe(200);
    await untilSuccessful(payment.id);
  });
});

describe('a notification in a form of its own', () => {
  it('reaches its payment: a list in gzip, with names in Latin-1', async () => {
    const payment = await stack.begun('/v1/payouts', payout, randomUUID());
    await transactionOf(payment.id);
    const body = gzipSync(
      Buffer.from(JSON.stringify([{ transId: payment.transId, status: 'successful', payerName: 'Ngô' }]), 'latin1'),
    );
    const { status } = await fetch(`${stack.api.url}/webhooks/provider/${WEBHOOK_TOKEN}`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: new Uint8Array(body),
    });
    expect(status).toBe(200);
    await untilSuccessful(payment.id);
  });

  it('reaches each of its payments, if it is about several', async () => {
    const payments = [
      await stack.begun('/v1/payouts', payout, randomUUID()),
      await stack.begun('/v1/payouts', payout, randomUUID()),
    ];
    for (const { id } of payments) await transactionOf(id);
    const data = payments.map(({ transId }) => ({ transId, status: 'SUCCESSFUL' }));
    expect((await stack.notify({ data })).status).toBe(200);
    for (const { id } of payments) await untilSuccessful(id);
  });
});
