import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, startApi, WEBHOOK_TOKEN } from '../../support/api-under-test.js';

describe('the metrics', () => {
  let api: ApiUnderTest;
  let text: string;
  beforeAll(async () => {
    api = await startApi();
    await api.ask('POST', '/v1/payouts');
    await api.ask('POST', '/v1/payouts');
    await api.ask('GET', '/a/random/path');
    await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: 'nonsense' });
    await fetch(`${api.url}/healthz`, { method: 'PROPFIND' });
    const answer = await api.ask('GET', '/metrics');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    text = answer.text;
  });
  afterAll(() => api.stop());

  it('count requests by route and status', () => {
    expect(text).toContain('sanaga_http_requests_total{method="POST",route="/v1/payouts",status="401"} 2');
  });

  it('put all unknown addresses under one label, and unknown methods too', () => {
    expect(text).toContain('sanaga_http_requests_total{method="GET",route="none",status="404"} 1');
    expect(text).toContain('sanaga_http_requests_total{method="other",route="/healthz",status="405"} 1');
    expect(text).not.toContain('random');
  });

  it('have a histogram of the time that requests take', () => {
    expect(text).toContain('sanaga_http_request_duration_seconds_count{method="POST",route="/v1/payouts"} 2');
  });

  it("count the provider's notifications by what came of them, from zero on", () => {
    expect(text).toContain('sanaga_provider_webhooks_total{result="malformed"} 1');
    expect(text).toContain('sanaga_provider_webhooks_total{result="late"} 0');
  });
});
