import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { KEYS } from './api-under-test.js';
import { type PaymentStack, startStack } from './payment-stack.js';

jest.setTimeout(30_000);

let stack: PaymentStack;
beforeAll(async () => {
  stack = await startStack();
}, 120_000);
afterAll(() => stack.stop(), 30_000);

const key = KEYS.shop;
const link = { method: 'link', amount: 500 };
const payout = { amount: 700, phone: '677000000' };

describe('a read that waits', () => {
  it('is answered as soon as the payment is final', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    const waiting = stack.read(payment.id, '?wait=20');
    await pause(300);
    await stack.hint(payment);
    const { body, ms } = await waiting;
    expect(body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(ms).toBeLessThan(5_000);
  });

  it('is answered with the payment as it stands when the time is over', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const { status, body, ms } = await stack.read(id, '?wait=1');
    expect([status, body.status]).toEqual([200, 'CREATED']);
    expect(ms).toBeGreaterThan(950);
    expect(ms).toBeLessThan(3_000);
  });

  it('is answered at once for a payment that has ended', async () => {
    const { id } = await stack.paid();
    const { body, ms } = await stack.read(id, '?wait=30');
    expect(body.final).toBe(true);
    expect(ms).toBeLessThan(2_000);
  });

  it('costs the history as much for many as for one', async () => {
    const payment = await stack.begun('/v1/collections', link);
    const handle = stack.api.client.workflow.getHandle(payment.id);
    await stack.read(payment.id, '?wait=1');
    const before = (await handle.describe()).historyLength;
    await Promise.all(Array.from({ length: 12 }, () => stack.read(payment.id, '?wait=1')));
    expect((await handle.describe()).historyLength).toBe(before);
  });

  it('is left when the caller hangs up', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const headers = { 'x-request-id': `gone-${id}` };
    const asked = stack.api.ask('GET', `/v1/payments/${id}?wait=30`, {
      key,
      headers,
      signal: AbortSignal.timeout(300),
    });
    await expect(asked).rejects.toThrow();
    await pause(300);
    const line = stack.api.lines.find((text) => text.includes(`gone-${id}`)) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ hungUp: true });
  });

  it('is answered early by a process that stops', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const other = await stack.startMore();
    const waiting = other.ask('GET', `/v1/payments/${id}?wait=30`, { key });
    await pause(300);
    const begunAt = performance.now();
    await other.stop();
    expect(performance.now() - begunAt).toBeLessThan(3_000);
    expect((await waiting).body.status).toBe('CREATED');
  });
});

describe('without a worker', () => {
  it('a payment is taken, and goes on with the next one', async () => {
    const { id } = await stack.withoutWorker(async () => {
      const { status, body } = await stack.post('/v1/payouts', payout, 'no-worker');
      expect([status, body.status, body.amount]).toEqual([202, 'CREATED', 700]);
      return body;
    });
    const patient = await stack.startMore({ answerWithinMs: 20_000 });
    const asked = { key, body: payout, headers: { 'idempotency-key': 'no-worker' } };
    const { status, body } = await patient.ask('POST', '/v1/payouts', asked);
    await patient.stop();
    expect([status, body.id]).toEqual([200, id]);
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('a payment that runs can’t be read, and that is said', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const { status, headers, body } = await stack.withoutWorker(() => stack.read(id));
    expect([status, body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(headers.get('retry-after')).toMatch(/\d/);
  });

  it('a payment that has ended can still be read', async () => {
    const { id } = await stack.paid();
    const { status, body } = await stack.withoutWorker(() => stack.read(id));
    expect([status, body.status]).toEqual([200, 'SUCCESSFUL']);
  });
});
