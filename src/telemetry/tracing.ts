import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import type { IdGenerator, SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { TraceCall } from '../provider/calls.js';

/*
 * One payment is one trace, whatever processes work on it and however long it takes: the trace's id follows from the
 * payment's, so that nothing has to be carried through Temporal, and no event grows. See docs/decisions/0034.
 */

/** Facts about a piece of work; no identifier but the payment's, and nothing personal. */
type Attributes = Readonly<Record<string, string | number>>;

/** A piece of work that has ended; times in ms since the epoch. */
export interface EndedWork {
  readonly name: string;
  readonly begunAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  readonly failed?: boolean;
}

export type TraceHeaders = Readonly<Record<string, string>>;

/** Time limits for sending spans, in ms: a collector that is down must not keep a process from ending. */
const SEND_LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 1_000;

/**
 * Begins to trace, if an OpenTelemetry collector is named. Without it, OpenTelemetry's SDK isn't even loaded.
 *
 * @param endpoint OTEL_EXPORTER_OTLP_ENDPOINT. The exporter reads it, and the headers that go with it, from the
 *   environment.
 * @param share of the payments that are traced, from 0 to 1; the same ones in every process
 */
export async function startTracing(
  service: string,
  endpoint: string | undefined,
  share: number,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const exporter = new OTLPTraceExporter({ timeoutMillis: SEND_LIMIT_MS });
  return await traceTo(new BatchSpanProcessor({ exporter }), service, share);
}

/** Begins to trace, with any exporter. */
export async function traceTo(processor: SpanProcessor, service: string, share = 1): Promise<Tracing> {
  const [{ TracerProvider, TraceIdRatioBasedSampler }, { defaultResource, resourceFromAttributes }] = await Promise.all(
    [import('@opentelemetry/sdk-trace'), import('@opentelemetry/resources')],
  );
  const ids = new PaymentIds();
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME || service }),
    ),
    sampler: new TraceIdRatioBasedSampler(share),
    idGenerator: ids,
    spanProcessors: [processor],
  });
  return new Tracing(provider, ids);
}

/** Writes traces of payments. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #running = new AsyncLocalStorage<Span>();

  constructor(
    private readonly provider: TracerProvider,
    private readonly ids: PaymentIds,
  ) {
    this.#tracer = provider.getTracer('sanaga');
  }

  /**
   * Records a request that was served for a payment, with the calls that were made for it.
   *
   * @param caller the `traceparent` header of the request: the caller's trace is linked
   */
  recordRequest(id: PaymentId, request: EndedWork, calls: readonly EndedWork[], caller: string | undefined): void {
    const options = {
      kind: SpanKind.SERVER,
      startTime: request.begunAt,
      attributes: withPayment(id, request.attributes),
      links: linksTo(caller),
    };
    const span = this.#tracer.startSpan(request.name, options, rootOf(id));
    const context = trace.setSpan(ROOT_CONTEXT, span);
    for (const call of calls) {
      const { name, begunAt, attributes } = call;
      end(this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: begunAt, attributes }, context), call);
    }
    end(span, request);
  }

  /** Records the payment itself, from its creation to its outcome: the root of everything else in its trace. */
  recordPayment(id: PaymentId, { name, begunAt, endedAt, attributes }: EndedWork): void {
    const options = { startTime: begunAt, attributes: withPayment(id, attributes), root: true };
    this.ids.as(id, () => this.#tracer.startSpan(name, options)).end(endedAt);
  }

  /** Traces some work for a payment, with the calls that it makes. `result` names the outcome. */
  async run<T>(
    id: PaymentId,
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    result: (value: T) => string | undefined,
  ): Promise<T> {
    const span = this.#tracer.startSpan(name, { attributes: withPayment(id, attributes) }, rootOf(id));
    try {
      const value = await this.#running.run(span, work);
      const outcome = result(value);
      if (outcome !== undefined) span.setAttribute('sanaga.outcome', outcome);
      return value;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /**
   * Makes a call as part of the current work, with headers that carry the context. Outside any work, the call isn't
   * traced.
   */
  async call<T extends { readonly outcome: string }>(
    name: string,
    attributes: Attributes,
    send: (headers: TraceHeaders) => Promise<T>,
  ): Promise<T> {
    const parent = this.#running.getStore();
    if (parent === undefined) return await send({});
    const options = { kind: SpanKind.CLIENT, attributes };
    const span = this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent));
    try {
      const answer = await send(headersOf(span));
      span.setAttribute('sanaga.outcome', answer.outcome);
      if (answer.outcome !== 'succeeded') span.setStatus({ code: SpanStatusCode.ERROR });
      return answer;
    } finally {
      span.end();
    }
  }

  /** Returns headers that carry the context of the current work, by the W3C recommendation. */
  readonly headers = (): TraceHeaders => headersOf(this.#running.getStore());

  /** Sends the remaining spans, for a second at most. */
  async stop(): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_LIMIT_MS).unref());
    // A collector that is down is no reason to fail.
    await Promise.race([this.provider.shutdown().catch(() => undefined), late]);
  }
}

function withPayment(id: PaymentId, attributes: Attributes): Attributes {
  return { 'sanaga.payment.id': id, ...attributes };
}

function end(span: Span, { failed, endedAt }: EndedWork): void {
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(endedAt);
}

function headersOf(span: Span | undefined): TraceHeaders {
  if (span === undefined) return {};
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` };
}

/** Returns the context of a payment's root span, which holds its other spans and ends last. */
function rootOf(id: PaymentId) {
  return trace.setSpanContext(ROOT_CONTEXT, { ...idsOf(id), traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

/** Traces the calls to the provider. */
export function traceProviderCalls(tracing: Tracing): TraceCall {
  return ({ service, endpoint }, send) => {
    const attributes = { 'sanaga.provider.service': service, 'sanaga.provider.endpoint': endpoint };
    return tracing.call(`provider ${endpoint}`, attributes, send);
  };
}

/**
 * The ids of a payment's trace and of its root, made from the payment's id alone. The payment's own digits won't do: a
 * collection and a payout with one Idempotency-Key share them.
 */
function idsOf(id: PaymentId): { readonly traceId: string; readonly spanId: string } {
  const digest = createHash('sha256').update(id).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** Random ids, but for the root of a payment's trace. */
class PaymentIds implements IdGenerator {
  #next: { readonly traceId: string; readonly spanId: string } | undefined;

  as<T>(id: PaymentId, start: () => T): T {
    this.#next = idsOf(id);
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId(): string {
    return this.#next?.traceId ?? randomHex(16);
  }

  generateSpanId(): string {
    return this.#next?.spanId ?? randomHex(8);
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

/** The caller's trace has its own rules, and may be anything: it is linked, and never continued. */
function linksTo(traceparent: string | undefined) {
  const [, traceId, spanId, flags = '00'] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return [];
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }];
}
