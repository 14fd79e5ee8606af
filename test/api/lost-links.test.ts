import { afterAll, describe, expect, it } from '@jest/globals';
import { type Client, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { type ApiUnderTest, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { closeServers } from '../support/local-servers.js';
import { link, recordingMerchant, useStack } from '../support/payment-stack.js';

const { notified, merchant } = recordingMerchant();
const stack = useStack({ merchant });
afterAll(closeServers);

interface Made {
  readonly id: string;
  readonly transId: string;
  readonly link: string;
}

const key = KEYS.shop;
const idOf = (idempotencyKey: string) => derivePaymentId('collection', 'shop', idempotencyKey);
const told = (id: string) => notified.filter(({ payment }) => payment.id === id).map(({ type }) => type);

const order = (api: Pick<ApiUnderTest, 'ask'>, idempotencyKey: string, body: object = link) =>
  api.ask('POST', '/v1/collections', { key, body, headers: { 'idempotency-key': idempotencyKey } });

const notify = (api: Pick<ApiUnderTest, 'ask'>, { id, transId }: Made, status = 'SUCCESSFUL') =>
  api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: { transId, status, externalId: id } });

/** Takes a payment's workflow out of Temporal, as a backup that is behind does not have it. */
async function lose(client: Client, workflowId: string): Promise<void> {
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
  });
  await eventually(
    () =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .catch((error) => error),
    (found) => found instanceof WorkflowNotFoundError,
  );
}

const untilStatus = (id: string, status: string) =>
  eventually(
    () => stack.read(id),
    ({ body }) => body.status === status,
  );

const unmatched = async (transId: string) => {
  const { body } = await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator });
  return body.data.filter((one: { transId: string }) => one.transId === transId);
};

/** An API whose starts of workflows fail as long as it is told to, before or after Temporal has taken them. */
function apiWithFailingStarts() {
  const failing: { when: 'before' | 'after' | 'never' } = { when: 'before' };
  const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });
  const started = stack.startMore({
    interceptor: {
      async start(input, next) {
        if (failing.when === 'before') throw new ServiceError('Temporal is away', { cause });
        const runId = await next(input);
        if (failing.when === 'after') throw new ServiceError('Temporal is away', { cause });
        return runId;
      },
    },
  });
  return started.then((api) => ({ api, failing }));
}

describe('a link whose payment Temporal has lost', () => {
  it('is followed again when the provider notifies the process that has made it, and its merchant is told', async () => {
    const payment: Made = (await order(stack.api, 'lost-and-paid')).body;
    await lose(stack.api.client, payment.id);
    await stack.visit(payment, 'pay');
    expect((await notify(stack.api, payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    await eventually(
      async () => told(payment.id),
      ({ length }) => length > 0,
    );
    expect(told(payment.id)).toEqual(['payment.succeeded']);
    expect((await order(stack.api, 'lost-and-paid')).body).toMatchObject({
      id: payment.id,
      transId: payment.transId,
      status: 'SUCCESSFUL',
    });
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('is followed again when it was lost after it had begun', async () => {
    const payment: Made = (await order(stack.api, 'begun-and-lost')).body;
    await stack.visit(payment, 'decline');
    await notify(stack.api, payment, 'FAILED');
    await untilStatus(payment.id, 'FAILED');
    await lose(stack.api.client, payment.id);
    await stack.visit(payment, 'pay');
    expect((await notify(stack.api, payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
  });

  it('is the same for its merchant, who repeats the request, however often', async () => {
    const payment: Made = (await order(stack.api, 'lost-and-repeated')).body;
    await lose(stack.api.client, payment.id);
    for (let count = 0; count < 3; count++) {
      const again = await order(stack.api, 'lost-and-repeated');
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      expect(again.body).toMatchObject({ id: payment.id, transId: payment.transId, link: payment.link });
    }
    expect(stack.transactionsOf(payment.id)).toMatchObject([{ status: 'CREATED' }]);
    await stack.visit(payment, 'pay');
    await notify(stack.api, payment);
    await untilStatus(payment.id, 'SUCCESSFUL');
  });

  it('is kept from another order with the same key', async () => {
    const payment: Made = (await order(stack.api, 'lost-and-changed')).body;
    await lose(stack.api.client, payment.id);
    const other = await order(stack.api, 'lost-and-changed', { ...link, amount: link.amount + 1 });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('is shown to an operator when the provider notifies another process, whose repetitions make one link', async () => {
    const other = await stack.startMore();
    const payment: Made = (await order(stack.api, 'lost-elsewhere')).body;
    await lose(stack.api.client, payment.id);
    await stack.visit(payment, 'pay');
    expect((await notify(other, payment)).status).toBe(200);
    expect(await unmatched(payment.transId)).toMatchObject([{ externalId: payment.id, status: 'SUCCESSFUL' }]);

    const again = await order(other, 'lost-elsewhere');
    expect(again.status).toBe(201);
    expect((await order(other, 'lost-elsewhere')).body.transId).toBe(again.body.transId);
    expect(stack.transactionsOf(payment.id)).toHaveLength(2);
    // The provider's next notification of what was paid leads to a person, who is told which transaction it was, and
    // matches it.
    await notify(other, payment);
    await untilStatus(payment.id, 'REVIEW');
    const { reason } = (await stack.read(payment.id)).body;
    expect(reason).toContain(payment.transId);
    const matched = { action: 'match', transId: payment.transId, why: 'the first of two links was paid' };
    expect(await stack.decide(payment.id, matched)).toMatchObject({
      status: 200,
      body: { status: 'SUCCESSFUL', transId: payment.transId },
    });
  });

  it('is followed though it is lost in the very moment in which another process wakes it', async () => {
    const other = await stack.startMore({
      interceptor: {
        async signalWithStart(input, next) {
          if (input.options.workflowId === idOf('lost-meanwhile')) {
            await lose(stack.api.client, input.options.workflowId);
          }
          return await next(input);
        },
      },
    });
    const payment: Made = (await order(stack.api, 'lost-meanwhile')).body;
    await stack.visit(payment, 'pay');
    expect((await notify(other, payment)).status).toBe(200);
    await untilStatus(payment.id, 'SUCCESSFUL');
    const { body } = await order(other, 'lost-meanwhile');
    expect(body).toMatchObject({ transId: payment.transId, status: 'SUCCESSFUL' });
  });
});

describe('a link whose payment could not be started', () => {
  it('is the one that the merchant gets for the repeated request', async () => {
    const { api, failing } = await apiWithFailingStarts();
    for (let count = 0; count < 3; count++) expect((await order(api, 'away')).status).toBe(503);
    const [made, ...others] = stack.transactionsOf(idOf('away'));
    expect(others).toEqual([]);
    failing.when = 'never';
    const { body } = await eventually(
      () => order(api, 'away'),
      ({ status }) => status < 300,
    );
    expect(body.transId).toBe(made?.transId);
    await stack.visit(body, 'pay');
    await notify(api, body);
    await untilStatus(body.id, 'SUCCESSFUL');
  });

  it('has its payment started later by itself', async () => {
    const { api, failing } = await apiWithFailingStarts();
    expect((await order(api, 'later')).status).toBe(503);
    failing.when = 'never';
    const { body } = await eventually(
      () => stack.read(idOf('later')),
      ({ status }) => status === 200,
    );
    expect(stack.transactionsOf(idOf('later'))).toMatchObject([{ transId: body.transId, status: 'CREATED' }]);
  });

  it('stays as it is when its start was taken, and only the answer was lost', async () => {
    const { api, failing } = await apiWithFailingStarts();
    failing.when = 'after';
    expect((await order(api, 'answer-lost')).status).toBe(503);
    failing.when = 'never';
    const { body } = await order(stack.api, 'answer-lost');
    await stack.visit(body, 'pay');
    await notify(stack.api, body);
    await untilStatus(body.id, 'SUCCESSFUL');
    expect(stack.transactionsOf(body.id)).toHaveLength(1);
  });

  it('is expired when the process stops', async () => {
    const { api } = await apiWithFailingStarts();
    expect((await order(api, 'stops')).status).toBe(503);
    await api.stop();
    await eventually(
      async () => stack.transactionsOf(idOf('stops')),
      ([made]) => made?.status === 'EXPIRED',
    );
  });

  it('is not made at all while a workflow that is no payment has its id', async () => {
    const workflowId = idOf('taken');
    const options = { workflowId, taskQueue: 'nobody', args: [] };
    await stack.api.client.workflow.start('somethingElse', options);
    for (let count = 0; count < 2; count++) expect((await order(stack.api, 'taken')).status).toBe(503);
    expect(stack.transactionsOf(workflowId)).toEqual([]);
  });
});
