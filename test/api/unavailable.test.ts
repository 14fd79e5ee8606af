import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fingerprint } from '../../src/api/routes/idempotency.js';
import { claim } from '../../src/book/claim.js';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { type ApiUnderTest, KEYS, startApi, terms, useApi, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { newBook, type TestBook } from '../support/books.js';

const key = KEYS.shop;
const body = { amount: 500, phone: '677000000' };

describe('while the book is away', () => {
  const api = useApi();

  it.each([
    ['POST', '/v1/collections', { method: 'link', amount: 500 }],
    ['POST', '/v1/payouts', body],
    ['GET', '/v1/payments/col_1', undefined],
    ['GET', '/v1/payments/col_1?wait=30', undefined],
    ['POST', '/v1/collections/col_1/expire', undefined],
    ['POST', '/v1/payments/col_1/refresh', undefined],
    ['GET', '/v1/payments', undefined],
    ['GET', '/v1/events', undefined],
    ['GET', '/v1/statements', undefined],
    ['GET', '/v1/payments/col_1/notifications', undefined],
    ['POST', '/v1/payments/col_1/notifications/1/resend', undefined],
  ])('%s %s is answered 503 at once', async (method, path, sent) => {
    const answer = await api.ask(method, path, { key, body: sent });
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  it('a notification of the provider is answered 503, so that it is repeated', async () => {
    const sent = { transId: 'T1', status: 'FAILED', externalId: 'col_1' };
    expect((await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: sent })).status).toBe(503);
  });

  it('the API is not ready', async () => {
    expect((await api.ask('GET', '/readyz')).status).toBe(503);
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

describe('while Temporal is down', () => {
  let made: TestBook;
  let api: ApiUnderTest;
  beforeAll(async () => {
    made = await newBook();
    api = await startApi({ bookUrl: made.url });
  });
  afterAll(async () => {
    await api.stop();
    await made.drop();
  });

  it('nothing is ordered, and nothing is left of what was', async () => {
    const headers = { 'idempotency-key': 'order-17' };
    const { status, body: problem } = await api.ask('POST', '/v1/payouts', { key, body, headers });
    expect([status, problem.code]).toEqual([503, 'temporarily_unavailable']);
    const id = derivePaymentId('payout', 'shop', 'order-17');
    expect((await api.ask('GET', `/v1/payments/${id}`, { key })).status).toBe(404);
  });

  it('payments are read and listed, found by a repeated request, and withdrawn', async () => {
    const id = derivePaymentId('payout', 'shop', 'order-18');
    const order = { id, kind: 'payout', ...body, metadata: {}, approval: true, orderedBy: 'shop' } as const;
    const sent = { ...body, approval: true };
    const wanted = {
      order,
      terms,
      merchant: 'shop',
      fingerprint: fingerprint({ ...sent, metadata: {} }),
      requestId: 'r',
    };
    expect(await claim(made.book, wanted, Date.now())).toEqual({ kind: 'claimed' });
    expect((await api.ask('GET', `/v1/payments/${id}`, { key })).body.status).toBe('CREATED');
    expect((await api.ask('GET', '/v1/payments', { key })).body.data).toHaveLength(1);
    const again = await api.ask('POST', '/v1/payouts', { key, body: sent, headers: { 'idempotency-key': 'order-18' } });
    expect([again.status, again.body.id]).toEqual([200, id]);
    const withdrawn = await api.ask('POST', `/v1/payouts/${id}/cancel`, { key });
    expect([withdrawn.status, withdrawn.body.failureCode]).toEqual([200, 'withdrawn']);
  });

  it('a notification of the provider is kept for its payment', async () => {
    const id = derivePaymentId('payout', 'shop', 'order-18');
    const sent = { transId: 'T9', status: 'SUCCESSFUL', externalId: id };
    expect((await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: sent })).status).toBe(200);
    const rows = await made.book.query('SELECT 1 FROM inbox WHERE payment_id = $1 AND taken_in IS NULL', [id]);
    expect(rows).toHaveLength(1);
  });

  it('a payment that the book loses meanwhile is not said to be there', async () => {
    const headers = { 'idempotency-key': 'order-20' };
    const id = derivePaymentId('payout', 'shop', 'order-20');
    const order = { id, kind: 'payout', ...body, metadata: {}, orderedBy: 'shop' } as const;
    const wanted = { order, terms, merchant: 'shop', fingerprint: fingerprint({ ...body, metadata: {} }) };
    await claim(made.book, { ...wanted, requestId: 'r' }, Date.now());
    const asking = api.ask('POST', '/v1/payouts', { key, body, headers });
    await pause(1_000);
    await made.book.query('TRUNCATE payments CASCADE');
    const answer = await asking;
    expect([answer.status, answer.body.code, answer.body.paymentId]).toEqual([503, 'temporarily_unavailable', id]);
    expect(answer.body.detail).toMatch(/^The payment may or may not have been accepted. Repeat the request/);
  });
});
