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

/** An API whose starts of workflows come to nothing. */
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

describe('a link whose workflow can not be started', () => {
  it("is made and answered all the same, and begins with the provider's notification", async () => {
    const api = await apiThatStartsNone();
    const { status, body } = await api.ask('POST', '/v1/collections', { key, body: link });
    expect([status, body.link]).toEqual([201, expect.stringContaining('http')]);
    await stack.visit(body, 'pay');
    expect((await stack.hint(body)).status).toBe(200);
    expect((await stack.read(body.id, '?wait=60')).body.status).toBe('SUCCESSFUL');
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
