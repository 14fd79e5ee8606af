import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { PROVIDER_ENDPOINTS } from '../../src/provider/calls.js';
import {
  codecMetrics,
  createRegistry,
  type MetricsPage,
  providerMetrics,
  serveMetrics,
} from '../../src/telemetry/metrics.js';
import { freePort } from '../../stack/processes/ports.js';
import { samplesOf, sumOf } from '../support/metrics-page.js';

const pages: MetricsPage[] = [];
afterEach(async () => {
  for (const page of pages.splice(0)) await page.stop();
});

/** Serves the registry; resolves with the address. */
async function serve(registry: Registry, more?: () => Promise<string>, host = '127.0.0.1'): Promise<string> {
  const address = `${host}:${await freePort()}`;
  pages.push(await serveMetrics(address, registry, more));
  return `http://${address}`;
}

describe('the page of the metrics', () => {
  it("has the process's own, in Prometheus's text format", async () => {
    const answer = await fetch(`${await serve(createRegistry())}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(sumOf(await answer.text(), 'process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  it('has further ones after them', async () => {
    const url = await serve(createRegistry(), async () => 'temporal_num_pollers 3\n');
    const page = await (await fetch(`${url}/metrics`)).text();
    expect(sumOf(page, 'temporal_num_pollers')).toBe(3);
    expect(sumOf(page, 'nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
  });

  it('is 503 when these are missing, so that Prometheus says that it knows nothing', async () => {
    const url = await serve(createRegistry(), () => Promise.reject(new Error('the runtime is gone')));
    const answer = await fetch(`${url}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([503, 'the runtime is gone\n']);
  });

  it('is at /metrics alone, and only to be read', async () => {
    const url = await serve(new Registry());
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/v1/payments`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/metrics?name[]=up`)).status).toBe(200);
  });

  it('can be at an IPv6 address', async () => {
    expect((await fetch(`${await serve(new Registry(), undefined, '[::1]')}/metrics`)).status).toBe(200);
  });

  it('fails to start where something listens already', async () => {
    const url = new URL(await serve(new Registry()));
    await expect(serveMetrics(url.host, new Registry())).rejects.toThrow('EADDRINUSE');
  });
});

describe('the calls to the provider', () => {
  it('are at 0 from the start, for each endpoint of each service and each outcome', async () => {
    const registry = new Registry();
    providerMetrics(registry);
    const samples = samplesOf(await registry.metrics());
    const counters = samples.filter(({ name }) => name === 'sanaga_provider_requests_total');
    const endpoints = Object.values(PROVIDER_ENDPOINTS).flat().length;
    expect(counters).toHaveLength(8 * endpoints);
    expect(samples.filter(({ value }) => value !== 0)).toEqual([]);
  });

  it('are counted by outcome, and timed unless they were held back', async () => {
    const registry = new Registry();
    const onCall = providerMetrics(registry);
    const call = { service: 'payout', endpoint: 'balance' } as const;
    onCall({ ...call, outcome: 'succeeded', durationMs: 300 });
    onCall({ ...call, outcome: 'held_back', durationMs: 0 });
    const page = await registry.metrics();
    for (const outcome of ['succeeded', 'held_back']) {
      expect(sumOf(page, 'sanaga_provider_requests_total', { ...call, outcome })).toBe(1);
    }
    expect(sumOf(page, 'sanaga_provider_request_duration_seconds_count', call)).toBe(1);
    expect(sumOf(page, 'sanaga_provider_request_duration_seconds_sum', call)).toBeCloseTo(0.3);
  });
});

describe('what is encrypted and decrypted', () => {
  it('is at 0 from the start', async () => {
    const registry = new Registry();
    codecMetrics(registry);
    const samples = samplesOf(await registry.metrics());
    expect(samples.filter(({ name }) => name === 'sanaga_codec_payloads_total')).toHaveLength(4);
    expect(samples.filter(({ value }) => value !== 0)).toEqual([]);
  });

  it('is counted by payloads, and timed by calls', async () => {
    const registry = new Registry();
    const onCall = codecMetrics(registry);
    onCall({ operation: 'decrypt', result: 'succeeded', payloads: 3, durationMs: 200 });
    onCall({ operation: 'decrypt', result: 'failed', payloads: 2, durationMs: 100 });
    const page = await registry.metrics();
    const labels = { operation: 'decrypt' };
    expect(sumOf(page, 'sanaga_codec_payloads_total', { ...labels, result: 'succeeded' })).toBe(3);
    expect(sumOf(page, 'sanaga_codec_payloads_total', { ...labels, result: 'failed' })).toBe(2);
    expect(sumOf(page, 'sanaga_codec_duration_seconds_count', labels)).toBe(2);
    expect(sumOf(page, 'sanaga_codec_duration_seconds_sum', labels)).toBeCloseTo(0.3);
  });
});
