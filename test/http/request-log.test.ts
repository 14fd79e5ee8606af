import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, KEYS, startApi, WEBHOOK_TOKEN } from '../support/api-under-test.js';

const SECRETS = [KEYS.shop, WEBHOOK_TOKEN, '677123456', 'jane@example.org', 'Jane Doe', 'for the roses', 'session=1'];

describe('the log', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi({ level: 'trace' });
    const body = {
      method: 'direct',
      amount: 500,
      phone: '677123456',
      email: 'jane@example.org',
      name: 'Jane Doe',
      message: 'for the roses',
    };
    const headers = { cookie: 'session=1', 'x-request-id': 'taken' };
    await api.ask('POST', '/v1/collections', { key: KEYS.shop, body, headers });
    await api.ask('POST', '/v1/collections', { key: KEYS.shop, body: { ...body, phone: 'x677123456' } });
    await api.ask('POST', '/v1/collections', { key: KEYS.shop, body: `${JSON.stringify(body)}]` });
    const transaction = { transId: 'T1', status: 'SUCCESSFUL', externalId: 'col_1', payerName: 'Jane Doe' };
    await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: transaction });
    await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}/x`, { body: transaction });
    await api.ask('GET', `/v1/payments/jane@example.org?phone=677123456`, { key: KEYS.shop });
  });
  afterAll(() => api.stop());

  it.each(SECRETS)('never holds %p', (secret) => {
    expect(api.lines).not.toHaveLength(0);
    expect(api.lines.filter((line) => line.includes(secret))).toEqual([]);
  });

  it('has a line for each request, with its route and its outcome', async () => {
    expect(await api.lineOf('taken')).toMatchObject({
      msg: 'request failed',
      method: 'POST',
      route: '/v1/collections',
      status: 503,
      code: 'temporarily_unavailable',
      caller: 'shop',
      ip: expect.stringMatching(/127\.0\.0\.1$/),
      paymentId: expect.stringMatching(/^col_/),
      ms: expect.any(Number),
    });
  });

  it('names the fields that were wrong, but none that could be anything', async () => {
    const ask = (requestId: string, body: object) =>
      api.ask('POST', '/v1/payouts', { key: KEYS.shop, body, headers: { 'x-request-id': requestId } });
    await ask('wrong', { amount: 1, metadata: { jane: 1 }, 'jane@example.org': 1, 677123456: 2 });
    const line = await api.lineOf('wrong');
    expect(line).toMatchObject({ status: 400 });
    expect(line.fields.sort()).toEqual(['amount', 'another', 'metadata']);
  });

  it("names the webhook's route and what came of the notification, but not its address", () => {
    const line = api.lines.find((text) => text.includes('"route":"/webhooks/provider/:token"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ result: 'unavailable', paymentId: 'col_1' });
  });

  it('leaves probes to those who look for details', async () => {
    await api.ask('GET', '/healthz', { headers: { 'x-request-id': 'probe' } });
    expect(await api.lineOf('probe')).toMatchObject({ level: 20 });
  });
});
