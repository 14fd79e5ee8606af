import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { traceTo } from '../../src/telemetry/tracing.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const PAYER = { phone: '670000000', name: 'Ngo Bassa', email: 'ngo.bassa@example.com' };

/** A collector in memory. */
const collector = new InMemorySpanExporter();
let world: PaymentWorld;
beforeAll(async () => {
  const tracing = await traceTo(new SimpleSpanProcessor({ exporter: collector }), 'sanaga');
  world = await PaymentWorld.start({ tracing, notify: async () => ({ kind: 'delivered' }) });
});
afterAll(() => world.stop());

/** The spans of the trace that a payment has, once all of them have come. */
async function traceOf(id: string): Promise<readonly ReadableSpan[]> {
  const spans = collector.getFinishedSpans();
  const root = spans.find(
    ({ name, attributes }) => name.startsWith('payment ') && attributes['sanaga.payment.id'] === id,
  );
  if (root === undefined) throw new Error(`no span of the payment ${id}`);
  return spans.filter((span) => span.spanContext().traceId === root.spanContext().traceId);
}

describe('the trace of a payment', () => {
  it("is one, from the merchant's POST to the notification of the outcome", async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 500, email: PAYER.email });
    await world.visit(payment, 'pay');
    await world.ended(payment.id);

    const spans = await traceOf(payment.id);
    const names = new Set(spans.map(({ name }) => name));
    for (const name of [
      'payment collection',
      'POST /v1/collections',
      'requestLink',
      'provider initiate-pay',
      'temporal start',
      'POST /webhooks/provider/:token',
      'temporal signal-with-start',
      'takeTurn',
      'provider payment-status',
      'notifyMerchant',
    ]) {
      expect(names).toContain(name);
    }
    const others = collector.getFinishedSpans().filter((span) => !spans.includes(span));
    expect(others.filter(({ attributes }) => attributes['sanaga.payment.id'] === payment.id)).toEqual([]);
  });

  it('is a tree: the payment is its root, and each call a part of what made it', async () => {
    const payment = await world.begin('payouts', { ...PAYER, amount: 700 });
    await world.pass(MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);

    const spans = await traceOf(payment.id);
    const parentOf = (name: string) => {
      const span = spans.find((one) => one.name === name);
      return spans.find((one) => one.spanContext().spanId === span?.parentSpanContext?.spanId)?.name;
    };
    expect(parentOf('payment payout')).toBeUndefined();
    expect(parentOf('POST /v1/payouts')).toBe('payment payout');
    expect(parentOf('temporal start')).toBe('POST /v1/payouts');
    expect(parentOf('sendPayout')).toBe('payment payout');
    expect(parentOf('provider payout')).toBe('sendPayout');
    expect(parentOf('notifyMerchant')).toBe('payment payout');
    const asked = spans.filter(({ name }) => name === 'takeTurn');
    expect(asked.map(({ attributes }) => attributes['sanaga.outcome'])).toContain('end');
  });

  it('is carried by nothing in Temporal, so that no event grows', async () => {
    const payment = await world.begin('payouts', { ...PAYER, amount: 700 });
    await world.pass(MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const { events = [] } = await world.client.workflow.getHandle(payment.id).fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    expect(Object.keys(started?.header?.fields ?? {})).toEqual([]);
    const [span] = await traceOf(payment.id);
    expect(JSON.stringify(events)).not.toContain(span?.spanContext().traceId);
  });

  it('names no person and no secret', () => {
    // Not the times of events: the nanoseconds of 670 ms are the payer's phone.
    const said = collector.getFinishedSpans().map(({ name, attributes, events, links }) => ({
      name,
      attributes,
      events: events.map((event) => ({ ...event, time: undefined })),
      links,
    }));
    const text = JSON.stringify(said);
    for (const secret of [...Object.values(PAYER), 'a-token-for-tests', 'a-key-for-tests']) {
      expect(text.includes(secret) ? secret : 'nothing').toBe('nothing');
    }
  });
});
