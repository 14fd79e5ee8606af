import { afterEach, describe, expect, it } from '@jest/globals';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { startTracing, traceProviderCalls, traceTo } from '../../src/telemetry/tracing.js';
import { clientOf, closeServers, json, serveHttp } from '../support/local-servers.js';

const id = `pay_${'0'.repeat(31)}1` as PaymentId;
const work = {
  name: 'POST /v1/payouts',
  begunAt: 1_795_000_001_000,
  endedAt: 1_795_000_002_000,
  attributes: {},
};

/** Tracing, and the spans that come of it. */
async function traced(share?: number) {
  const collector = new InMemorySpanExporter();
  const tracing = await traceTo(new SimpleSpanProcessor({ exporter: collector }), 'sanaga', share);
  return { tracing, spans: () => collector.getFinishedSpans() };
}

afterEach(closeServers);

describe('tracing', () => {
  it('is off without an endpoint', async () => {
    expect(await startTracing('sanaga-api', undefined, 1)).toBeUndefined();
  });

  it("gives a payment's parts one trace in every process", async () => {
    const [api, worker] = [await traced(), await traced()];
    api.tracing.recordRequest(id, work, [], undefined);
    worker.tracing.recordPayment(id, { ...work, name: 'payment payout' });
    const [request, payment] = [api.spans()[0], worker.spans()[0]];
    expect(request?.resource.attributes['service.name']).toBe('sanaga');
    expect(request?.spanContext().traceId).toBe(payment?.spanContext().traceId);
    expect(request?.parentSpanContext?.spanId).toBe(payment?.spanContext().spanId);
    expect(payment?.parentSpanContext).toBeUndefined();
    expect(payment?.startTime).toEqual([1_795_000_001, 0]);
    expect(payment?.endTime).toEqual([1_795_000_002, 0]);
  });

  it('gives a collection and a payout with one Idempotency-Key traces of their own', async () => {
    const { tracing, spans } = await traced();
    for (const one of [id, id.replace('pay_', 'col_') as PaymentId]) tracing.recordPayment(one, work);
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(2);
  });

  it("links the caller's trace, and goes on with none", async () => {
    const { tracing, spans } = await traced();
    const traceId = 'a'.repeat(32);
    tracing.recordRequest(id, work, [], `00-${traceId}-${'b'.repeat(16)}-01`);
    tracing.recordRequest(id, work, [], 'nonsense');
    const [linked, other] = spans();
    expect(linked?.links.map(({ context }) => context.traceId)).toEqual([traceId]);
    expect(linked?.spanContext().traceId).not.toBe(traceId);
    expect(other?.links).toEqual([]);
  });

  it('traces a share of the payments, the same ones in every process', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `pay_${index.toString(16).padStart(32, '0')}` as PaymentId);
    const chosen = async (share: number) => {
      const { tracing, spans } = await traced(share);
      for (const one of ids) {
        tracing.recordPayment(one, work);
        tracing.recordRequest(one, work, [work], undefined);
      }
      return spans().map((span) => span.spanContext().traceId);
    };
    const half = await chosen(0.5);
    expect(half.length % 3).toBe(0);
    expect(half.length / 3).toBeGreaterThan(50);
    expect(half.length / 3).toBeLessThan(150);
    expect(await chosen(0.5)).toEqual(half);
    expect(await chosen(0)).toEqual([]);
    expect(await chosen(1)).toHaveLength(600);
  });

  it('hands the context on to the provider, and says what came of the call', async () => {
    const { tracing, spans } = await traced();
    const server = await serveHttp(json(200, { service: 'payout', balance: 1, currency: 'XAF' }));
    const client = clientOf(server.url, { traceCall: traceProviderCalls(tracing) });
    await tracing.run(
      id,
      'anActivity',
      {},
      () => client.balance(),
      ({ kind }) => kind,
    );
    const [call, activity] = spans();
    expect(call?.name).toBe('provider balance');
    expect(call?.attributes['sanaga.outcome']).toBe('succeeded');
    expect(call?.parentSpanContext?.spanId).toBe(activity?.spanContext().spanId);
    const { traceId, spanId } = call?.spanContext() ?? {};
    expect(server.seen[0]?.headers.traceparent).toBe(`00-${traceId}-${spanId}-01`);
  });

  it('leaves a call alone that belongs to no payment', async () => {
    const { tracing, spans } = await traced();
    const server = await serveHttp(json(200, { service: 'payout', balance: 1, currency: 'XAF' }));
    await clientOf(server.url, { traceCall: traceProviderCalls(tracing) }).balance();
    expect(spans()).toEqual([]);
    expect(server.seen[0]?.headers.traceparent).toBeUndefined();
    expect(tracing.headers()).toEqual({});
  });

  it('sends to the collector that is named, and ends though it is down', async () => {
    const server = await serveHttp(json(200, {}));
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = server.url;
    try {
      const tracing = await startTracing('sanaga-api', server.url, 1);
      tracing?.recordPayment(id, work);
      await tracing?.stop();
      expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v1/traces']);
      await server.close();
      const late = await startTracing('sanaga-api', server.url, 1);
      late?.recordPayment(id, work);
      await late?.stop();
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    }
  });
});
