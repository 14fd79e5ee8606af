import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { limited } from '../../src/api/payments/provider-notifications.js';
import type { StatusAnswer } from '../../src/payments/outcome.js';
import { hintSignal } from '../../src/workflows/messages.js';
import { type ApiUnderTest, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { transId } from '../support/orders.js';
import { eventually, link, recordingMerchant, useStack } from '../support/payment-stack.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });

/** An API that has made none of the links, and whose questions are counted, and may be answered otherwise. */
let other: ApiUnderTest;
let asked: string[] = [];
let answerOf: (id: string) => Promise<StatusAnswer>;

beforeAll(async () => {
  const { collection } = stack.providers;
  const paymentStatus = (id: string) => {
    asked.push(id);
    return answerOf(id);
  };
  other = await stack.startMore({ providers: { collection: { ...collection, paymentStatus } } });
});
beforeEach(() => {
  asked = [];
  answerOf = (id) => stack.providers.collection.paymentStatus(id);
});

type Made = { readonly id: string; readonly transId: string; readonly link: string };

const made = (): Promise<Made> => stack.begun('/v1/collections', link);
const hintOther = (payment: Pick<Made, 'id' | 'transId'>, status = 'SUCCESSFUL') =>
  other.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, {
    body: { transId: payment.transId, status, externalId: payment.id },
  });
const untilStatus = (id: string, status: string) =>
  eventually(
    () => stack.read(id),
    ({ body }) => body.status === status,
  );
/** How often the provider was asked about the payment's transaction, by anybody. */
const questions = (payment: Made) => stack.sandbox.ledger.find(payment.transId)?.statusCalls.answered;
const told = ({ id }: Made) => notified.filter(({ payment }) => payment.id === id).map(({ type }) => type);

describe('a link that the provider notifies of as paid', () => {
  it('is asked about once, by the API that has made it, and its payment asks nothing', async () => {
    const payment = await stack.paid();
    expect(questions(payment)).toBe(1);
    expect(told(payment)).toEqual(['payment.succeeded']);
    const { events } = await stack.api.client.workflow.getHandle(payment.id).fetchHistory();
    const markers = events?.filter(({ markerRecordedEventAttributes: marker }) => marker) ?? [];
    // The merchant's notification alone.
    expect([markers.length, events?.length]).toEqual([1, 8]);
  });

  it('is asked about by any other API that is notified', async () => {
    const payment = await made();
    await stack.visit(payment, 'pay');
    expect((await hintOther(payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect([asked, questions(payment)]).toEqual([[payment.transId], 1]);
  });

  it('is as paid as the provider has shown it, though its payment has to wait for a worker', async () => {
    const payment = await made();
    await stack.withoutWorker(async () => {
      await stack.visit(payment, 'pay');
      expect((await hintOther(payment)).status).toBe(200);
    });
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect(questions(payment)).toBe(1);
  });

  it('is asked about by its payment when the provider takes longer than a second to say so', async () => {
    const payment = await made();
    await stack.visit(payment, 'pay');
    answerOf = async (id) => {
      await pause(3_000, undefined, { ref: false });
      throw new Error(`${id} is answered too late`);
    };
    const begun = performance.now();
    expect((await hintOther(payment)).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(2_500);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect([asked, questions(payment)]).toEqual([[payment.transId], 1]);
  });

  it('is asked about by its payment when the question of the API fails', async () => {
    const payment = await made();
    await stack.visit(payment, 'pay');
    answerOf = () => Promise.reject(new Error('broken'));
    expect((await hintOther(payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect([asked, questions(payment)]).toEqual([[payment.transId], 1]);
  });

  it.each([
    { kind: 'unavailable', reason: 'not there' },
    { kind: 'unknown', message: 'no such transaction', statusCode: 404 },
    { kind: 'throttled' },
    { kind: 'unauthorized', message: 'no', statusCode: 401 },
  ] as const)('is asked about by its payment when the API is answered $kind', async (answer) => {
    const payment = await made();
    await stack.visit(payment, 'pay');
    answerOf = async () => answer;
    expect((await hintOther(payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect(questions(payment)).toBe(1);
  });

  it.each(['CREATED', 'PENDING', 'FAILED', 'EXPIRED'] as const)(
    'is asked about by its payment when the API is shown that it is %s, which may change',
    async (status) => {
      const payment = await made();
      await stack.visit(payment, 'pay');
      answerOf = async (id) => ({ kind: 'found', transaction: { transId: transId(id), status } });
      expect((await hintOther(payment)).status).toBe(200);
      await untilStatus(payment.id, 'SUCCESSFUL');
      expect(told(payment)).toEqual(['payment.succeeded']);
    },
  );

  it('is not believed to be so without the provider', async () => {
    const payment = await made();
    expect((await hintOther(payment)).status).toBe(200);
    await eventually(
      async () => questions(payment),
      (count) => count === 2,
    );
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'CREATED', final: false });
    expect([asked, told(payment)]).toEqual([[payment.transId], []]);
  });

  it('goes to review when the API is shown another amount than was ordered', async () => {
    const payment = await made();
    answerOf = async (id) => ({
      kind: 'found',
      transaction: { transId: transId(id), status: 'SUCCESSFUL', amount: 499 },
    });
    await hintOther(payment);
    const { body } = await untilStatus(payment.id, 'REVIEW');
    expect(body.reason).toContain('499');
    expect(told(payment)).toEqual(['payment.review']);
  });

  it('is asked about once a minute by an API, however many notifications come', async () => {
    const payment = await made();
    await stack.withoutWorker(async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => hintOther(payment)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    });
    expect(asked).toEqual([payment.transId]);
    await eventually(
      async () => questions(payment),
      (count) => (count ?? 0) > 1,
    );
    expect(stack.sandbox.ledger.find(payment.transId)?.statusCalls.throttled).toBe(0);
  });

  it.each(['PENDING', 'FAILED', 'EXPIRED'])(
    'is not asked about by the API when it is only %s',
    async (status) => {
      const payment = await made();
      expect((await hintOther(payment, status)).status).toBe(200);
      await eventually(
        async () => questions(payment),
        (count) => count === 1,
      );
      expect(asked).toEqual([]);
    },
  );

  it('is not asked about by the API under the name of another', async () => {
    const [payment, another] = [await made(), await made()];
    await stack.visit(another, 'pay');
    expect((await hintOther({ id: payment.id, transId: another.transId })).status).toBe(200);
    expect(asked).toEqual([]);
    expect((await stack.read(payment.id)).body.status).toBe('CREATED');
  });

  it('is not asked about by the API once its payment has begun', async () => {
    const payment = await stack.asked();
    await stack.visit(payment, 'pay');
    expect((await hintOther(payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect(asked).toEqual([]);
  });
});

describe('a pause that the provider asks an API for', () => {
  it('is kept by it for all links', async () => {
    let answered = 0;
    const status = limited({
      paymentStatus: async () => {
        answered++;
        return { kind: 'throttled', retryAfterMs: 300 };
      },
    });
    await status.paymentStatus(transId('T1'));
    expect(await status.paymentStatus(transId('T2'))).toMatchObject({ kind: 'throttled', isOurs: true });
    expect(answered).toBe(1);
    await pause(400);
    await status.paymentStatus(transId('T2'));
    expect(answered).toBe(2);
  });
});

describe('what a notification brings', () => {
  it('is too old after a minute, and its payment asks', async () => {
    const payment = await made();
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    const handle = stack.api.client.workflow.getHandle(payment.id);
    const transaction = { transId: transId(payment.transId), status: 'SUCCESSFUL' } as const;
    const shown = { transaction, at: Date.now() - 61_000 };
    await handle.signal(hintSignal, { ...transaction, shown });
    await eventually(
      async () => questions(payment),
      (count) => count === 2,
    );
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'CREATED', final: false });
  });

  it('counts for nothing but what its payment asks next', async () => {
    const payment = await made();
    const handle = stack.api.client.workflow.getHandle(payment.id);
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    const transaction = { transId: transId('T-of-another'), status: 'SUCCESSFUL' } as const;
    const shown = { transaction, at: Date.now() };
    await handle.signal(hintSignal, { transId: transId(payment.transId), status: 'SUCCESSFUL', shown });
    await eventually(
      async () => questions(payment),
      (count) => count === 2,
    );
    expect((await stack.read(payment.id)).body).toMatchObject({ status: 'CREATED', final: false });
  });
});
