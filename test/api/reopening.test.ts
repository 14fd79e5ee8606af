import { describe, expect, it } from '@jest/globals';
import { type WorkflowClientInterceptor, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { createNotificationLimits, NotificationLimit } from '../../src/engine/notification-limits.js';
import { type ApiUnderTest, type ApiUnderTestOptions, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { recordingMerchant, useStack } from '../support/payment-stack.js';

const stack = useStack({ merchant: recordingMerchant().merchant });

/** Runs something with an API of its own. */
async function withApi<T>(options: ApiUnderTestOptions, run: (api: ApiUnderTest) => Promise<T>): Promise<T> {
  const api = await stack.startMore(options);
  try {
    return await run(api);
  } finally {
    await api.stop();
  }
}

const notify = (api: ApiUnderTest, body: object) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
const unmatched = async () =>
  (await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body.data;
const describeRun = (id: string) => stack.api.client.workflow.getHandle(id).describe();
const delivery = async (id: string) =>
  (await stack.api.ask('GET', `/v1/payments/${id}/notifications`, { key: KEYS.shop })).body.data[0].delivery;

describe('a payment that is opened again', () => {
  it('keeps what another run has done between reading its end and opening it', async () => {
    const payment = await stack.paid();
    const first = await delivery(payment.id);
    const looks: string[] = [];
    // The second look comes right before the payment is opened; another API opens and ends it meanwhile.
    const interceptor: WorkflowClientInterceptor = {
      describe: async (input, next) => {
        looks.push(input.workflowExecution.workflowId);
        if (looks.length === 2) {
          await stack.post(`/v1/payments/${payment.id}/notifications/1/resend`);
          await stack.api.client.workflow.getHandle(payment.id).result();
        }
        return await next(input);
      },
    };
    const before = await describeRun(payment.id);
    await withApi({ interceptor }, async (api) => {
      const forged = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
      expect((await notify(api, forged)).status).toBe(200);
    });
    const { runId } = await describeRun(payment.id);
    expect(runId).not.toBe(before.runId);
    const last = await eventually(
      () => delivery(payment.id),
      ({ status }) => status === 'delivered',
    );
    expect(Date.parse(last.at)).toBeGreaterThan(Date.parse(first.at));
  });

  it('in the moment in which it is opened by another message is not a failure of ours', async () => {
    const payment = await stack.paid();
    // What the provider has made for another payment is no reason to ask again.
    const other = await stack.paid();
    const overtaken = (times: number): WorkflowClientInterceptor => {
      let left = times;
      return {
        startUpdateWithStart: async (input, next) => {
          if (left-- > 0) throw new WorkflowExecutionAlreadyStartedError('started', payment.id, 'reopenPayment');
          return await next(input);
        },
        signalWithStart: async (input, next) => {
          if (left-- > 0) throw new WorkflowExecutionAlreadyStartedError('started', payment.id, 'reopenPayment');
          return await next(input);
        },
      };
    };
    const resend = (api: ApiUnderTest) =>
      api.ask('POST', `/v1/payments/${payment.id}/notifications/1/resend`, { key: KEYS.shop });
    const contradict = (api: ApiUnderTest) =>
      notify(api, { transId: other.transId, status: 'EXPIRED', externalId: payment.id });

    for (const [attempt, done] of [
      [contradict, 200],
      [resend, 202],
    ] as const) {
      await withApi({ interceptor: overtaken(100) }, async (api) => {
        const { status, body } = await attempt(api);
        expect([status, body.code]).toEqual([503, 'temporarily_unavailable']);
      });
      await withApi({ interceptor: overtaken(1) }, async (api) => {
        expect((await attempt(api)).status).toBe(done);
      });
      await stack.api.client.workflow.getHandle(payment.id).result();
    }
  });
});

describe("a notification that a payment's limit refuses", () => {
  it('is kept for an operator when it contradicts the outcome, however often it comes', async () => {
    const payment = await stack.paid();
    const contradiction = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
    const { runId } = await describeRun(payment.id);
    await withApi({ limits: { ...createNotificationLimits(), reopenings: new NotificationLimit(0) } }, async (api) => {
      for (let times = 0; times < 3; times++) {
        const { status, headers, body } = await notify(api, contradiction);
        expect([status, body.code]).toEqual([429, 'too_many_notifications']);
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
    });
    expect((await describeRun(payment.id)).runId).toBe(runId);
    const kept = (await unmatched()).filter(({ externalId }: { externalId: string }) => externalId === payment.id);
    expect(kept).toMatchObject([contradiction]);
  });

  it('is kept when it is beyond the sixty that a payment takes, too, and can be sent again by hand', async () => {
    const payment = await stack.paid();
    const contradiction = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
    await withApi({ limits: { ...createNotificationLimits(), hints: new NotificationLimit(0) } }, async (api) => {
      expect((await notify(api, contradiction)).status).toBe(429);
    });
    const [{ at: _, ...kept }] = await unmatched();
    expect(kept).toEqual(contradiction);

    const { runId } = await describeRun(payment.id);
    expect((await notify(stack.api, kept)).status).toBe(200);
    await eventually(
      () => describeRun(payment.id),
      (run) => run.runId !== runId,
    );
  });

  it("is answered 503 when it can't be kept, and is kept when it comes again", async () => {
    const payment = await stack.paid();
    const contradiction = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
    let isDown = true;
    const interceptor: WorkflowClientInterceptor = {
      signalWithStart: async (input, next) => {
        if (isDown) throw new WorkflowExecutionAlreadyStartedError('started', 'unmatched', 'keepUnmatched');
        return await next(input);
      },
    };
    const limits = { ...createNotificationLimits(), reopenings: new NotificationLimit(0) };
    await withApi({ limits, interceptor }, async (api) => {
      expect((await notify(api, contradiction)).status).toBe(503);
      isDown = false;
      expect((await notify(api, contradiction)).status).toBe(429);
    });
    expect((await unmatched())[0]).toMatchObject(contradiction);
  });
});
