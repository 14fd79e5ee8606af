import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, KEYS, startApi, WEBHOOK_TOKEN } from '../support/api-under-test.js';

describe('the metrics', () => {
  let api: ApiUnderTest;
  let text: string;
  beforeAll(async () => {
    api = await startApi();
    await api.ask('POST', '/v1/payouts');
    await api.ask('POST', '/v1/payouts');
    await api.ask('GET', '/a/random/path');
    await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: 'nonsense' });
    await api.ask('POST', '/webhooks/provider/another-token', { body: 'nonsense' });
    await fetch(`${api.url}/healthz`, { method: 'PROPFIND' });
    text = await api.metrics();
  });
  afterAll(() => api.stop());

  it("are not at the merchants' address", async () => {
    expect((await api.ask('GET', '/metrics')).status).toBe(404);
    expect((await api.ask('GET', '/metrics', { key: KEYS.operator })).status).toBe(404);
  });

  it('count requests by route and status', () => {
    expect(text).toContain('sanaga_http_requests_total{method="POST",route="/v1/payouts",status="401"} 2');
  });

  it('put all unknown addresses under one label, and unknown methods too', () => {
    expect(text).toContain('sanaga_http_requests_total{method="GET",route="none",status="404"} 1');
    expect(text).toContain('sanaga_http_requests_total{method="other",route="/healthz",status="405"} 1');
    expect(text).not.toContain('random');
  });

  it('count from zero on what each route can answer', () => {
    const zero = (method: string, route: string, status: number) =>
      `sanaga_http_requests_total{method="${method}",route="${route}",status="${status}"} 0`;
    expect(text).toContain(zero('POST', '/v1/payouts', 201));
    expect(text).toContain(zero('POST', '/v1/payouts', 500));
    expect(text).toContain(zero('GET', '/v1/payments/:id', 503));
  });

  it('have a histogram of the time that requests take', () => {
    expect(text).toContain('sanaga_http_request_duration_seconds_count{method="POST",route="/v1/payouts"} 2');
  });

  it("count the provider's notifications by what came of them, from zero on", () => {
    expect(text).toContain('sanaga_provider_webhooks_total{result="unavailable"} 1');
    expect(text).toContain('sanaga_provider_webhooks_total{result="wrong_token"} 1');
    expect(text).toContain('sanaga_provider_webhooks_total{result="late"} 0');
  });
});
