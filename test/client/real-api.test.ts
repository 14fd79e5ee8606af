import { describe, expect, it } from '@jest/globals';
import {
  ConflictError,
  IdempotencyError,
  InvalidRequestError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  Sanaga,
  UnavailableError,
} from '../../client/index.js';
import { KEYS, useApi } from '../support/api-under-test.js';
import { documentedFetch } from '../support/documented.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { payout, useStack } from '../support/payment-stack.js';

const stack = useStack();
/** Without Temporal. */
const lonely = useApi();

const clientOf = (key: keyof typeof KEYS = 'shop') =>
  new Sanaga({ apiKey: KEYS[key], baseUrl: stack.api.url, fetch: documentedFetch });
const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A link once the provider has made it: that can take longer than creating the payment. */
const withLink = (id: string) =>
  eventually(
    () => clientOf().payments.retrieve(id),
    ({ link }) => link !== undefined,
  );

describe('the client and the API', () => {
  it('create a payment once for a key, and find it again', async () => {
    const sanaga = clientOf();
    const params = { method: 'link', amount: 5_000, externalId: 'order-1', metadata: { cart: '7' } } as const;
    const options = { idempotencyKey: 'client-order-1' };
    const created = await sanaga.collections.create(params, options);
    expect(created).toMatchObject({
      object: 'payment',
      kind: 'collection',
      amount: 5_000,
      externalId: 'order-1',
      metadata: { cart: '7' },
      idempotencyKey: 'client-order-1',
      replayed: false,
    });
    expect(await sanaga.collections.create(params, options)).toMatchObject({
      id: created.id,
      replayed: true,
    });
    const payment = await withLink(created.id);
    expect(payment).toMatchObject({ id: created.id, link: expect.stringContaining('/pay/') });
    expect(payment).not.toHaveProperty('idempotencyKey');
  });

  it('refuse a key that was used for something else, and name its payment', async () => {
    const sanaga = clientOf();
    const options = { idempotencyKey: 'client-order-2' };
    const { id } = await sanaga.payouts.create(payout, options);
    const error = await thrownBy(sanaga.payouts.create({ ...payout, amount: 900 }, options));
    expect(error).toBeInstanceOf(IdempotencyError);
    expect(error).toMatchObject({ status: 409, paymentId: id, requestId: expect.any(String) });
  });

  it('say what is wrong with which field', async () => {
    const error = await thrownBy(clientOf().payouts.create({ amount: 5 }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({
      errors: expect.arrayContaining([{ field: 'amount', message: 'must be at least 100 XAF' }]),
    });
  });

  it('wait for the outcome of a payment', async () => {
    const sanaga = clientOf();
    const { id } = await sanaga.collections.create({ method: 'link', amount: 500 });
    const { link = '' } = await withLink(id);
    const waiting = sanaga.payments.waitForOutcome(id, { timeoutMs: PATIENCE_MS });
    await stack.visit({ link }, 'pay');
    await sanaga.payments.refresh(id);
    expect(await waiting).toMatchObject({ id, status: 'SUCCESSFUL', final: true });
  });

  it('expire a link, and refuse to withdraw what was sent', async () => {
    const sanaga = clientOf();
    const { id } = await sanaga.collections.create({ method: 'link', amount: 500 });
    await withLink(id);
    // 202 when the provider is slow: then the payment isn't final yet.
    expect(await sanaga.collections.expire(id)).toMatchObject({ id });
    expect(await sanaga.payments.waitForOutcome(id, { timeoutMs: PATIENCE_MS })).toMatchObject({
      status: 'EXPIRED',
    });

    const sent = await sanaga.payouts.create(payout);
    await eventually(
      () => sanaga.payments.retrieve(sent.id),
      ({ transId }) => transId !== undefined,
    );
    const error = await thrownBy(sanaga.payouts.cancel(sent.id));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ code: 'not_cancelable', payment: { id: sent.id } });
  });

  it('list payments over several pages', async () => {
    const sanaga = clientOf();
    const userId = 'client-pages';
    const made: string[] = [];
    for (let number = 0; number < 3; number++) {
      made.unshift((await sanaga.payouts.create({ ...payout, userId })).id);
    }
    const listed = await eventually(
      async () => {
        const ids: string[] = [];
        for await (const { id } of sanaga.payments.list({ userId, limit: 1 })) ids.push(id);
        return ids;
      },
      ({ length }) => length === 3,
    );
    expect(listed).toEqual(made);
    const page = await sanaga.payments.list({ userId, created: { lt: new Date(0) } });
    expect(page.data).toEqual([]);
  });

  it('list the notifications of a payment, and send one again', async () => {
    const sanaga = clientOf();
    const { id } = await sanaga.collections.create({ method: 'link', amount: 500 });
    await withLink(id);
    await sanaga.collections.expire(id);
    const notifications = await eventually(
      () => sanaga.notifications.list(id),
      ([first]) => first?.delivery.status === 'no_address',
    );
    expect(notifications).toEqual([
      {
        number: 1,
        id: `evt_${id}_expired_1`,
        type: 'payment.expired',
        at: expect.any(String),
        delivery: { status: 'no_address', at: expect.any(String) },
      },
    ]);
    expect(await sanaga.notifications.resend(id, 1)).toMatchObject({ id });
    const error = await thrownBy(sanaga.notifications.resend(id, 2));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'no_such_notification' });
  });

  it("tell a payment's timeline, while it runs and after its end", async () => {
    const sanaga = clientOf();
    const { id } = await sanaga.collections.create({ method: 'link', amount: 500 });
    await withLink(id);
    const running = await sanaga.payments.events(id);
    expect(running.map(({ type }) => type)).toEqual(expect.arrayContaining(['created', 'sending', 'accepted']));
    expect(running[0]).toEqual({
      at: expect.any(String),
      type: 'created',
      source: 'merchant',
      status: 'CREATED',
      summary: expect.any(String),
    });
    await sanaga.collections.expire(id);
    await sanaga.payments.waitForOutcome(id, { timeoutMs: PATIENCE_MS });
    const ended = await sanaga.payments.events(id);
    expect(ended.slice(0, running.length)).toEqual(running);
    expect(ended).toContainEqual(expect.objectContaining({ type: 'status_changed', status: 'EXPIRED', final: true }));
    expect(await thrownBy(clientOf('rival').payments.events(id))).toBeInstanceOf(NotFoundError);
  });

  it('tell an operator of notifications that match no payment', async () => {
    const transId = 'client-unmatched';
    await stack.notify({ transId, status: 'SUCCESSFUL', externalId: `col_${'0'.repeat(32)}` });
    const unmatched = await eventually(
      () => clientOf('operator').notifications.listUnmatched(),
      (all) => all.some((one) => one.transId === transId),
    );
    expect(unmatched.find((one) => one.transId === transId)).toEqual({
      transId,
      status: 'SUCCESSFUL',
      externalId: `col_${'0'.repeat(32)}`,
      at: expect.any(String),
    });
  });

  it('have balances, and what an operator may see', async () => {
    expect(await clientOf().balance.retrieve({ service: 'payout' })).toEqual({
      object: 'balance',
      service: 'payout',
      serviceName: expect.any(String),
      balance: expect.any(Number),
      currency: 'XAF',
      asOf: expect.any(String),
    });
    expect(await clientOf('operator').notifications.listUnmatched()).toEqual(expect.any(Array));
    expect(await thrownBy(clientOf().notifications.listUnmatched())).toBeInstanceOf(PermissionError);
  });

  it('refuse a decision on a payment that is not in REVIEW', async () => {
    const { id } = await clientOf().payouts.create(payout);
    const decision = { action: 'fail', review: 1, why: 'absent' } as const;
    const error = await thrownBy(clientOf('operator').payments.resolve(id, decision));
    expect(error).toMatchObject({ code: 'not_under_review', payment: { id } });
  });

  it('know nothing of another merchant', async () => {
    const { id } = await clientOf().payouts.create(payout);
    expect(await thrownBy(clientOf('rival').payments.retrieve(id))).toBeInstanceOf(NotFoundError);
  });
});

describe('without Temporal', () => {
  const sanaga = () => new Sanaga({ apiKey: KEYS.shop, baseUrl: lonely.url, maxRetries: 0 });

  it('the client does not take a payment for one that was not created', async () => {
    const error = await thrownBy(sanaga().payouts.create(payout, { idempotencyKey: 'k' }));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      idempotencyKey: 'k',
      cause: expect.any(UnavailableError),
    });
  });

  it("the provider's balance is unavailable when the provider is", async () => {
    const error = await thrownBy(sanaga().balance.retrieve({ service: 'payout' }));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ code: 'provider_unavailable', retryAfterMs: 5_000 });
  });
});
