import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { type ApiUnderTest, KEYS, startApi, useApi, WEBHOOK_TOKEN } from '../support/api-under-test.js';

const key = KEYS.shop;
const body = { amount: 500, phone: '677000000' };

describe('while Temporal is down', () => {
  const api = useApi();

  it.each([
    ['POST', '/v1/collections', { method: 'link', amount: 500 }],
    ['POST', '/v1/payouts', body],
    ['GET', '/v1/payments/col_1', undefined],
    ['GET', '/v1/payments/col_1?wait=30', undefined],
    ['POST', '/v1/collections/col_1/expire', undefined],
    ['POST', '/v1/payments/col_1/refresh', undefined],
    ['GET', '/v1/payments', undefined],
    ['GET', '/v1/payments/col_1/notifications', undefined],
    ['POST', '/v1/payments/col_1/notifications/1/resend', undefined],
  ])('%s %s is answered 503 at once', async (method, path, sent) => {
    const answer = await api.ask(method, path, { key, body: sent });
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    // Of the SDK's own tries, all that could be said is that their time was over.
    const { err } = await api.lineOf(answer.body.requestId);
    expect(JSON.stringify(err)).toContain('14 UNAVAILABLE');
  });

  it('a POST with an Idempotency-Key is told to repeat it', async () => {
    const answer = await api.ask('POST', '/v1/payouts', {
      key,
      body,
      headers: { 'idempotency-key': 'order-17' },
    });
    expect(answer.body.paymentId).toBe(derivePaymentId('payout', 'shop', 'order-17'));
    expect(answer.body.detail).toMatch(/may or may not have been accepted.*same Idempotency-Key/);
  });

  it('a POST without one is told to look before it sends again', async () => {
    const answer = await api.ask('POST', '/v1/collections', { key, body: { method: 'link', amount: 500 } });
    expect(answer.body.paymentId).toMatch(/^col_/);
    expect(answer.body.detail).toContain(`/v1/payments/${answer.body.paymentId}`);
  });

  it('what is wrong with a request is said all the same', async () => {
    const wrong = await api.ask('POST', '/v1/payouts', { key, body: {} });
    expect(wrong.status).toBe(400);
    const noId = await api.ask('GET', '/v1/payments/order-17', { key });
    expect([noId.status, noId.body.code]).toEqual([404, 'not_found']);
    expect(noId.body.detail).toMatch(/begins with col_ or pay_.*GET \/v1\/payments: externalId or userId.*transId/);
    const noAddress = await api.ask('GET', '/v1/collections/col_1', { key });
    expect(noAddress.body.detail).toContain('GET /v1/payments/{id} reads a collection or a payout');
  });

  it.each(['61', '-1', '1.5', 'long', '', '100'])('a wait of %p is refused', async (wait) => {
    const answer = await api.ask('GET', `/v1/payments/col_1?wait=${wait}`, { key });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ field: 'wait' }]);
  });
});

describe('while Temporal does not know the namespace', () => {
  let server: DevServer;
  let api: ApiUnderTest;
  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    api = await startApi({ address: server.address, namespace: 'not-made-yet' });
  });
  afterAll(async () => {
    await api.stop();
    await server.stop();
  });

  it.each([
    ['POST', '/v1/payouts', body],
    ['GET', '/v1/payments/col_1', undefined],
    ['GET', '/v1/payments', undefined],
    ['POST', '/v1/payments/col_1/refresh', undefined],
    ['POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { transId: 'T1', status: 'FAILED', externalId: 'col_1' }],
  ])('%s %s is answered 503', async (method, path, sent) => {
    const answer = await api.ask(method, path, { key, body: sent });
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
  });
});
