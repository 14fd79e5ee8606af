import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '@temporalio/client';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

const key = KEYS.shop;

describe('a repeated request', () => {
  it('is answered 200 with the same payment, and sends nothing again', async () => {
    const first = await stack.begun('/v1/payouts', payout, 'repeat-1');
    const { status, headers, body } = await stack.post('/v1/payouts', payout, 'repeat-1');
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(body.id).toBe(first.id);
    expect(stack.transactionsOf(first.id)).toHaveLength(1);
  });

  it('may be written differently, if it means the same', async () => {
    const first = await stack.begun('/v1/payouts', payout, 'repeat-2');
    const again = await stack.post('/v1/payouts', { phone: '+237 677-000-000', metadata: {}, amount: 700 }, 'repeat-2');
    expect([again.status, again.body.id]).toEqual([200, first.id]);
  });

  it('is told apart from the first even under the same X-Request-Id', async () => {
    const headers = { 'idempotency-key': 'repeat-3', 'x-request-id': 'same' };
    const statuses = [];
    for (let times = 0; times < 2; times++) {
      statuses.push((await stack.api.ask('POST', '/v1/payouts', { key, body: payout, headers })).status);
    }
    expect(statuses).toEqual([201, 200]);
  });

  it('shows the payment as it stands now, not as it began', async () => {
    const first = await stack.begun('/v1/collections', link, 'repeat-4');
    await stack.visit(first, 'decline');
    await stack.post(`/v1/payments/${first.id}/refresh`);
    const { status, body } = await stack.post('/v1/collections', link, 'repeat-4');
    expect([status, body.status, body.final]).toEqual([200, 'FAILED', false]);
  });

  it('shows a payment that has ended as it ended', async () => {
    const first = await stack.paid('repeat-5');
    const { status, headers, body } = await stack.post('/v1/collections', link, 'repeat-5');
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(body).toMatchObject({ id: first.id, status: 'SUCCESSFUL', final: true });
    expect(stack.transactionsOf(first.id)).toHaveLength(1);
  });

  it('of one that was rejected is rejected again', async () => {
    stack.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout' });
    const first = await stack.post('/v1/payouts', payout, 'repeat-6');
    const again = await stack.post('/v1/payouts', payout, 'repeat-6');
    expect([first.status, again.status]).toEqual([422, 422]);
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(again.body.payment.id).toBe(first.body.payment.id);
    expect(again.body.detail).toBe(first.body.detail);
    expect(stack.transactionsOf(first.body.payment.id)).toHaveLength(0);
  });

  it('with another body is refused, while the payment runs and after it has ended', async () => {
    const running = await stack.begun('/v1/collections', link, 'reused-1');
    const ended = await stack.paid('reused-2');
    for (const [used, id] of [
      ['reused-1', running.id],
      ['reused-2', ended.id],
    ]) {
      const { status, body } = await stack.post('/v1/collections', { ...link, amount: 501 }, used);
      expect([status, body.code, body.paymentId]).toEqual([409, 'idempotency_key_reused', id]);
      expect(stack.transactionsOf(id)).toHaveLength(1);
    }
  });

  it('made fifty times at once, at two APIs, begins one payment', async () => {
    const apis = [await stack.startMore(), await stack.startMore()];
    const headers = { 'idempotency-key': 'at-once' };
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        apis.map((api) => api.ask('POST', '/v1/payouts', { key, body: payout, headers })),
      ).flat(),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
    expect(stack.transactionsOf(answers[0]?.body.id)).toHaveLength(1);
  });

  it('made many times at once, asks for one link, at one API and at two', async () => {
    const apis = [await stack.startMore(), await stack.startMore()];
    const askedBy = async (count: number, key_: string) => {
      const headers = { 'idempotency-key': key_ };
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          apis[index % count]?.ask('POST', '/v1/collections', { key, body: link, headers }),
        ),
      );
      const statuses = answers.map((answer) => answer?.status).sort();
      expect(statuses).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
      expect(new Set(answers.map((answer) => answer?.body.link)).size).toBe(1);
      return answers[0]?.body;
    };
    expect(stack.transactionsOf((await askedBy(1, 'links-at-one')).id)).toHaveLength(1);

    expect(stack.transactionsOf((await askedBy(2, 'links-at-two')).id)).toHaveLength(1);
  });

  it.each(['refused', 'lost'])('whose link was made when its start was %s, leads to that link', async (what) => {
    let starts = 0;
    const api = await stack.startMore({
      interceptor: {
        async start(input, next) {
          starts++;
          if (starts > 1) return await next(input);
          if (what === 'lost') await next(input);
          throw new ServiceError('Temporal is away', {
            cause: Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} }),
          });
        },
      },
    });
    const headers = { 'idempotency-key': `start-${what}` };
    const ask = () => api.ask('POST', '/v1/collections', { key, body: link, headers });
    const first = await ask();
    expect(first.status).toBe(201);
    const again = await ask();
    expect([again.status, again.body.link]).toEqual([200, first.body.link]);
    expect(stack.transactionsOf(again.body.id)).toHaveLength(1);
    await stack.visit(again.body, 'pay');
    await stack.hint(again.body);
    await stack.read(again.body.id, '?wait=60');
    expect((await stack.read(again.body.id)).body.status).toBe('SUCCESSFUL');
  });

  it('at another API, after the answer of the first was lost, leads to the payment that it began', async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 1_000 });
    const headers = { 'idempotency-key': 'broken-off' };
    const slowed = () => stack.sandbox.faults.totals.get('slow') ?? 0;
    const before = slowed();
    const hangUp = new AbortController();
    const first = await stack.startMore();
    const lost = first
      .ask('POST', '/v1/payouts', { key, body: payout, headers, signal: hangUp.signal })
      .catch(() => 'no answer');
    await eventually(
      async () => slowed(),
      (now) => now > before,
    );
    hangUp.abort();
    expect(await lost).toBe('no answer');
    const { status, body } = await stack.post('/v1/payouts', payout, 'broken-off');
    expect([200, 202]).toContain(status);
    expect(body.id).toBe(derivePaymentId('payout', 'shop', 'broken-off'));
    await eventually(
      () => stack.read(body.id),
      (answer) => answer.body.transId !== undefined,
    );
    expect(stack.transactionsOf(body.id)).toHaveLength(1);
  });

  it('while the provider is slow is answered 202 too', async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_500 });
    const first = await stack.hasty.post('/v1/payouts', payout, 'slow-1');
    const again = await stack.hasty.post('/v1/payouts', payout, 'slow-1');
    // On a busy machine, the provider may have answered by then.
    expect([first.status, again.status]).toEqual([202, again.body.transId === undefined ? 202 : 200]);
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(again.body.id).toBe(first.body.id);
  });

  it('costs the history nothing', async () => {
    const { id } = await stack.begun('/v1/collections', link, 'free');
    const length = async () => (await stack.api.client.workflow.getHandle(id).describe()).historyLength;
    const before = await length();
    for (let times = 0; times < 3; times++) await stack.post('/v1/collections', link, 'free');
    expect(await length()).toBe(before);
  });
});
