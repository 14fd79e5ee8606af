import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { QueryNotRegisteredError } from '@temporalio/client';
import type { PaymentInput } from '../../src/workflows/messages.js';
import { type Answered, type ApiUnderTest, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const key = KEYS.shop;

/** Calls to Temporal that describe a workflow, since the count was set to 0. */
let describes = 0;

const stack = useStack();
let counted: ApiUnderTest;
beforeAll(async () => {
  counted = await stack.startMore({
    interceptor: {
      describe: async (input, next) => {
        describes++;
        return await next(input);
      },
    },
  });
});

/** Runs something on a payment that a worker has worked on, with a workflow task before it which none takes. */
async function stalled<T>(run: (path: string) => Promise<T>): Promise<T> {
  const payment = await stack.asked();
  return await stack.withoutWorker(async () => {
    await stack.hint(payment);
    describes = 0;
    return await run(`/v1/payments/${payment.id}`);
  });
}

describe('a payment that no worker works on', () => {
  /** Reports whether a request was answered because no worker makes progress, and not because its time was over. */
  const isStalled = async ({ body }: Answered) =>
    JSON.stringify(await counted.lineOf(body.requestId)).includes("no worker takes the payment's workflow task");

  it('is answered 503 after two seconds, with some ten looks at it, and then at once with one', async () => {
    await stalled(async (path) => {
      const first = await counted.ask('GET', path, { key });
      expect([first.status, first.body.code]).toEqual([503, 'temporarily_unavailable']);
      expect(first.ms).toBeGreaterThan(1_900);
      expect(await isStalled(first)).toBe(true);
      expect(describes).toBeLessThanOrEqual(20);

      describes = 0;
      const second = await counted.ask('GET', path, { key });
      expect([second.status, describes]).toEqual([503, 1]);
    });
  });

  it('is looked at as often for forty requests at once as for one', async () => {
    await stalled(async (path) => {
      // Their connections are made before, so that most of them share a look.
      await Promise.all(Array.from({ length: 40 }, () => counted.ask('GET', '/healthz')));
      const answers = await Promise.all(Array.from({ length: 40 }, () => counted.ask('GET', path, { key })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      // Each alone would be ten.
      expect(describes).toBeLessThanOrEqual(100);
    });
  });

  it('shows its notifications as little as itself', async () => {
    await stalled(async (path) => {
      const answer = await counted.ask('GET', `${path}/notifications`, { key });
      expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
      expect(await isStalled(answer)).toBe(true);
      expect(describes).toBeGreaterThan(1);
    });
  });
});

describe('a payment that no worker has taken yet', () => {
  it('is as it was created, with and without waiting for it, and is sent once when one comes', async () => {
    const id = await stack.withoutWorker(async () => {
      const made = await stack.hasty.post('/v1/payouts', payout);
      expect(made.status).toBe(202);
      for (const query of ['', '?wait=1']) {
        const { status, body } = await counted.ask('GET', `/v1/payments/${made.body.id}${query}`, { key });
        expect([status, body]).toEqual([200, made.body]);
      }
      return made.body.id;
    });
    await eventually(
      () => stack.read(id),
      ({ body }) => body.transId !== undefined,
    );
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a link that no worker has taken', () => {
  it('is made without one, can be read and found again, and is paid when one comes', async () => {
    const [payment, delivered] = await stack.withoutWorker(async () => {
      const made = await counted.ask('POST', '/v1/collections', {
        key,
        body: link,
        headers: { 'idempotency-key': 'nobody-there' },
      });
      expect([made.status, made.body.status]).toEqual([201, 'CREATED']);
      const path = `/v1/payments/${made.body.id}`;
      const repeated = await stack.post('/v1/collections', link, 'nobody-there');
      expect([repeated.status, repeated.body]).toEqual([200, made.body]);
      for (const query of ['', '?wait=1']) {
        const { status, body } = await counted.ask('GET', path + query, { key });
        expect([status, body]).toEqual([200, made.body]);
      }
      expect((await counted.ask('GET', `${path}/notifications`, { key })).body.data).toEqual([]);
      await stack.visit(made.body, 'pay');
      const hinted = await stack.hint(made.body);
      expect((await counted.ask('GET', path, { key })).body).toEqual(made.body);
      return [made.body, hinted];
    });
    expect(delivered.status).toBe(200);
    await eventually(
      () => stack.read(payment.id),
      ({ body }) => body.status === 'SUCCESSFUL',
    );
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a notification that comes before the payment of its link has started', () => {
  it('waits for that, and makes the payment ask the provider at once', async () => {
    let early: ReturnType<ApiUnderTest['ask']> | undefined;
    const slow: ApiUnderTest = await stack.startMore({
      interceptor: {
        start: async (input, next) => {
          const [{ order, requested }] = input.options.args as [PaymentInput];
          if (requested?.outcome.kind !== 'accepted') throw new Error('no link was made');
          const { transId, link = '' } = requested.outcome;
          await stack.visit({ link }, 'pay');
          const body = { transId, status: 'SUCCESSFUL', externalId: order.id };
          early = slow.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
          await pause(200);
          return await next(input);
        },
      },
    });
    const { status, body } = await slow.ask('POST', '/v1/collections', { key, body: link });
    expect([status, (await early)?.status]).toEqual([201, 200]);
    await eventually(
      () => stack.read(body.id),
      (payment) => payment.body.status === 'SUCCESSFUL',
    );
    // Or it would ask the provider once more, beside the next test.
    await stack.api.client.workflow.getHandle(body.id).result();
  });
});

describe('a payment that is idle', () => {
  it('is read with one look at it', async () => {
    const { id } = await stack.asked();
    await stack.read(id);
    describes = 0;
    expect((await counted.ask('GET', `/v1/payments/${id}`, { key })).status).toBe(200);
    expect(describes).toBeLessThanOrEqual(2);
  });
});

describe('a payment whose worker refuses to answer', () => {
  it('is asked again', async () => {
    let queries = 0;
    const api = await stack.startMore({
      interceptor: {
        query: async (input, next) => {
          queries++;
          if (queries === 1) throw new QueryNotRegisteredError('refused', grpc.INVALID_ARGUMENT);
          return await next(input);
        },
      },
    });
    const { id } = await stack.asked();
    const { status, body } = await api.ask('GET', `/v1/payments/${id}`, { key });
    expect([status, body.id, queries]).toEqual([200, id, 2]);
  });
});

describe('a payment whose worker is slow', () => {
  it('is waited for, for as long as the worker is at its first attempt', async () => {
    const payment = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({
      fault: 'slow',
      endpoint: 'payment-status',
      delayMs: 5_500,
      externalId: payment.id,
    });
    await stack.hint(payment);
    // Before a worker has taken its task, it is as it was started.
    await eventually(
      () => stack.api.client.workflow.getHandle(payment.id).describe(),
      ({ historyLength }) => historyLength >= 4,
    );
    const { status, ms } = await counted.ask('GET', `/v1/payments/${payment.id}`, { key });
    expect(status).toBe(200);
    // After as long without an attempt, it would be answered 503.
    expect(ms).toBeGreaterThan(2_000);
  });
});
