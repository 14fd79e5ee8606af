import { afterAll, describe, expect, it } from '@jest/globals';
import { ServiceError } from '@temporalio/client';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { clientOf, closeServers, serveHttp } from '../support/local-servers.js';
import { link, useStack } from '../support/payment-stack.js';

const stack = useStack();
afterAll(closeServers);

const key = KEYS.shop;
const idOf = (idempotencyKey: string) => derivePaymentId('collection', 'shop', idempotencyKey);
const headersOf = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });

/** An API whose starts of payments with their links come to nothing. */
function apiThatStartsNone() {
  const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });
  return stack.startMore({
    interceptor: {
      async start() {
        throw new ServiceError('Temporal is away', { cause });
      },
    },
  });
}

describe('a link with which no payment could be started', () => {
  it('is not taken for what came of a request to a phone with the same key', async () => {
    const api = await apiThatStartsNone();
    const headers = headersOf('fell-back');
    const first = await api.ask('POST', '/v1/collections', { key, body: link, headers });
    expect([first.status, first.body.paymentId]).toEqual([503, idOf('fell-back')]);
    stack.sandbox.faults.add({ fault: 'errorAfterCommit', endpoint: 'direct-pay' });
    const body = { method: 'direct', amount: link.amount, phone: '677000000' };
    await api.ask('POST', '/v1/collections', { key, body, headers });
    const { body: payment } = await eventually(
      () => stack.read(idOf('fell-back')),
      (now) => now.body.transId !== undefined,
    );
    const [stray, direct] = stack.transactionsOf(payment.id);
    expect(stray).toMatchObject({ status: 'CREATED', userId: payment.id });
    expect(payment.transId).toBe(direct?.transId);
    expect(payment).toMatchObject({ method: 'direct' });
  });

  it('is expired when another request with its key was first', async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const slow = await stack.startMore({
      answerWithinMs: 10_000,
      interceptor: {
        async start(input, next) {
          await begun;
          return await next(input);
        },
      },
    });
    const id = idOf('two-bodies');
    const late = slow.ask('POST', '/v1/collections', {
      key,
      body: { ...link, amount: link.amount + 1 },
      headers: headersOf('two-bodies'),
    });
    await eventually(
      async () => stack.transactionsOf(id),
      (all) => all.length === 1,
    );
    const first = await stack.post('/v1/collections', link, 'two-bodies');
    begin();
    const refused = await late;
    expect([first.status, refused.status, refused.body.code]).toEqual([201, 409, 'idempotency_key_reused']);
    const [stray, given] = await eventually(
      async () => stack.transactionsOf(id),
      ([one]) => one?.status === 'EXPIRED',
    );
    expect(stray?.amount).toBe(link.amount + 1);
    expect(given).toMatchObject({ transId: first.body.transId, status: 'CREATED' });
  });
});

describe('a link that the provider refuses', () => {
  it('is answered as such, though no worker is there', async () => {
    const rejected = { kind: 'rejected', message: 'the service is suspended', statusCode: 400 } as const;
    const collection = { ...stack.providers.collection, initiatePay: async () => rejected };
    await stack.withoutWorker(async () => {
      const api = await stack.startMore({ providers: { collection } });
      const { status, body } = await api.ask('POST', '/v1/collections', { key, body: link });
      expect([status, body.code]).toEqual([422, 'rejected_by_provider']);
      expect(body.payment).toMatchObject({ status: 'FAILED', final: true });
    });
  });
});

describe('an API that is stopped while the provider makes a link', () => {
  it('starts the payment with what it knows by then', async () => {
    const hanging = await serveHttp(() => undefined);
    const collection = clientOf(hanging.url, { timeoutMs: 60_000 });
    const api = await stack.startMore({ answerWithinMs: 60_000, providers: { collection } });
    const asked = api.ask('POST', '/v1/collections', { key, body: link, headers: headersOf('stopping') });
    await eventually(
      async () => hanging.seen.length,
      (seen) => seen === 1,
    );
    await api.stop();
    const { status, body } = await asked;
    expect([status, body.id]).toEqual([202, idOf('stopping')]);
    expect((await stack.read(body.id)).status).toBe(200);
  });
});
