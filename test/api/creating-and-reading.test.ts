import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import type { Query } from '../../src/book/database.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { clientOf, closeServers, serveHttp } from '../support/local-servers.js';
import { link, payout, useStack } from '../support/payment-stack.js';
import { testEncryption } from '../support/test-encryption.js';

const stack = useStack();
afterAll(closeServers);

const key = KEYS.shop;

describe('a new payment', () => {
  it('by link is answered 201 with its link', async () => {
    const { status, headers, body } = await stack.post('/v1/collections', {
      ...link,
      externalId: 'o-17',
      expiresIn: '1h',
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/payments/${body.id}`);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^col_[0-9a-f]{32}$/),
      object: 'payment',
      kind: 'collection',
      method: 'link',
      status: 'CREATED',
      final: false,
      amount: 500,
      currency: 'XAF',
      link: expect.stringMatching(/^http/),
      transId: expect.any(String),
      externalId: 'o-17',
      metadata: {},
    });
    expect(body).not.toHaveProperty('temporalUrl');
    expect((await stack.read(body.id, '', KEYS.operator)).body).toEqual({
      ...body,
      merchant: 'shop',
      temporalUrl: `http://127.0.0.1:8233/namespaces/default/workflows/${body.id}`,
    });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBeLessThan(3_700_000);
    expect(stack.transactionsOf(body.id)).toHaveLength(1);
  });

  it('can be a payout', async () => {
    const { id } = await stack.begun('/v1/payouts', payout);
    expect(id).toMatch(/^pay_/);
    expect(stack.transactionsOf(id)).toMatchObject([{ method: 'payout', amount: 700 }]);
  });

  it('that the provider rejects is answered 422 with its words and the payment', async () => {
    stack.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout' });
    const { status, body } = await stack.post('/v1/payouts', payout);
    expect([status, body.code]).toEqual([422, 'rejected_by_provider']);
    expect(body.payment).toMatchObject({ status: 'FAILED', final: true, reason: body.detail });
    expect(body.detail).toMatch(/balance/i);
    const later = await stack.read(body.payment.id);
    expect([later.status, later.body.status]).toEqual([200, 'FAILED']);
  });

  it('whose provider is slow is answered 202 with the payment as it stands, and goes on', async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_000 });
    const { status, headers, body } = await stack.hasty.post('/v1/payouts', payout);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/v1/payments/${body.id}`);
    expect(body).toMatchObject({ status: 'CREATED', final: false });
    expect(body.transId).toBeUndefined();
    await eventually(
      () => stack.read(body.id),
      (later) => later.body.transId !== undefined,
    );
  });

  it("by a link that takes long to make is answered 202 as well, though the payment can't answer till then", async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'initiate-pay', delayMs: 6_000 });
    const { status, body } = await stack.hasty.post('/v1/collections', link);
    expect([status, body.status, body.final]).toEqual([202, 'CREATED', false]);
    const later = await stack.read(body.id, '?wait=1');
    expect(later.status).toBe(200);
  });

  it('by link is not asked for in vain, once the provider has let five wait for as long as a merchant can', async () => {
    const hanging = await serveHttp(() => undefined);
    const collection = clientOf(hanging.url, { timeoutMs: 60_000 });
    // Of the 15 seconds the provider has twelve: on a busy machine, too, the rest is enough for the order itself.
    const api = await stack.startMore({ providers: { collection }, answerWithinMs: 15_000 });
    const ask = () =>
      api.ask('POST', '/v1/collections', { key, body: link, headers: { 'idempotency-key': randomUUID() } });
    const answers = await Promise.all(Array.from({ length: 5 }, ask));
    // The worker asks another address, and may be done in what is left.
    for (const { status } of answers) expect([201, 202]).toContain(status);
    expect(hanging.seen).toHaveLength(5);
    await ask();
    expect(hanging.seen).toHaveLength(5);
  });

  it('carries no personal data where operators list payments', async () => {
    const { id } = await stack.begun('/v1/payouts', {
      ...payout,
      email: 'jane@example.org',
      name: 'Jane Doe',
      message: 'for the roses',
      userId: 'u-1',
      externalId: 'o-1',
    });
    const described = await stack.api.client.workflow.getHandle(id).describe();
    const { userMetadata } = described.raw.executionConfig ?? {};
    const shown = [
      described.memo,
      described.typedSearchAttributes,
      await described.staticSummary(),
      await described.staticDetails(),
    ];
    expect(userMetadata).toBeDefined();
    expect(JSON.stringify(shown)).not.toMatch(/677000000|jane|roses/i);
    expect(await described.staticSummary()).toBe('Payout of 700 XAF');
    expect(await described.staticDetails()).toContain('`o-1`');
    const attributes = described.typedSearchAttributes.getAll();
    expect(Object.fromEntries(attributes.map((pair) => [pair.key.name, pair.value]))).toMatchObject({
      PaymentStatus: expect.any(String),
      PaymentKind: 'payout',
      ExternalId: 'o-1',
    });
  });
});

describe('a payment that is read', () => {
  it('is found whether it runs or has ended', async () => {
    const running = await stack.begun('/v1/collections', link);
    expect((await stack.read(running.id)).body).toEqual(running);
    const ended = await stack.paid();
    expect((await stack.read(ended.id)).body).toMatchObject({ status: 'SUCCESSFUL', final: true });
  });

  it("is nobody else's business, whatever one tries", async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const unknown = await stack.read(`col_${'0'.repeat(32)}`, '', KEYS.rival);
    const answers = [
      await stack.read(id, '', KEYS.rival),
      await stack.read(id, '?wait=5', KEYS.rival),
      await stack.post(`/v1/payments/${id}/refresh`, undefined, undefined, KEYS.rival),
      await stack.post(`/v1/collections/${id}/expire`, undefined, undefined, KEYS.rival),
    ];
    for (const { status, body } of [unknown, ...answers]) {
      expect(status).toBe(404);
      expect(body).toEqual({ ...unknown.body, requestId: body.requestId });
    }
    expect((await stack.read(id)).body.status).toBe('CREATED');
  });

  it('may be read by an operator', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await stack.read(id, '', KEYS.operator)).status).toBe(200);
  });

  it('must be a payment: no other workflow is one', async () => {
    const other = `col_${randomUUID()}`;
    await stack.api.client.workflow.start('something', { workflowId: other, taskQueue: 'elsewhere' });
    expect((await stack.read(other, '', KEYS.operator)).status).toBe(404);
    await stack.api.client.workflow.getHandle(other).terminate();
  });
});

describe("the provider's notification", () => {
  it('makes the payment ask the provider, and is not believed', async () => {
    const payment = await stack.begun('/v1/collections', link);
    expect((await stack.hint(payment)).status).toBe(200);
    await pause(500);
    expect((await stack.read(payment.id)).body.status).toBe('CREATED');
  });

  it('is acknowledged when it is too late or belongs to nobody, and counted', async () => {
    const { id, transId } = await stack.paid();
    expect((await stack.hint({ id, transId })).status).toBe(200);
    expect((await stack.hint({ id: `pay_${'0'.repeat(32)}`, transId: 'T' })).status).toBe(200);
    for (const result of ['agrees', 'unmatched', 'taken']) {
      expect(await stack.counted(result)).toBeGreaterThan(0);
    }
  });
});

describe('the API with Temporal', () => {
  it('is ready', async () => {
    expect((await stack.api.ask('GET', '/readyz')).status).toBe(200);
  });

  it('looks once whether it is ready for all who ask within a second', async () => {
    let looks = 0;
    const query: Query = async (text) => {
      if (text.includes('FROM payments')) looks++;
      return [];
    };
    const book = { query, now: Date.now, close: async () => undefined } as unknown as Book;
    const api = await stack.startMore({ book });
    const ask = () => Promise.all(Array.from({ length: 20 }, () => api.ask('GET', '/readyz')));
    const begun = performance.now();
    expect(new Set((await ask()).map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks).toBeLessThanOrEqual(Math.ceil((performance.now() - begun) / 1_000));
    const before = looks;
    await pause(1_100);
    await ask();
    expect(looks).toBeGreaterThan(before);
  });

  it('passes the balance on', async () => {
    const { body } = await stack.api.ask('GET', '/v1/balance?service=payout', { key });
    expect(body).toMatchObject({ service: 'payout', balance: expect.any(Number), currency: 'XAF' });
  });

  it("gives no link into a Web UI that it doesn't know", async () => {
    const other = await stack.startMore({ temporalUiUrl: undefined });
    const { body } = await other.ask('POST', '/v1/collections', { key, body: link });
    const seen = await other.ask('GET', `/v1/payments/${body.id}`, { key: KEYS.operator });
    await other.stop();
    expect(seen.body).toMatchObject({ id: body.id, merchant: 'shop' });
    expect(seen.body).not.toHaveProperty('temporalUrl');
  });
});

/** A book that counts how often it was asked for changes of payments that somebody waits for. */
function watchedBook() {
  const book = new Book(stack.bookUrl, testEncryption);
  const { query } = book;
  let count = 0;
  const value: Query = (text, values) => {
    if (text.includes('SELECT id, version FROM states')) count++;
    return query(text, values);
  };
  return { book: Object.defineProperty(book, 'query', { value }), looks: async () => count };
}

describe('a read that waits', () => {
  /** Less than a read takes that waits for `?wait=50`, and far more than one that doesn't. */
  const SOON_MS = 48_000;

  /** A read of this payment, at another API, that has come to wait for its outcome. */
  async function waitingFor(id: string, options: { signal?: AbortSignal; headers?: Record<string, string> } = {}) {
    const { book, looks } = watchedBook();
    const api = await stack.startMore({ book });
    const answer = api.ask('GET', `/v1/payments/${id}?wait=50`, { key, ...options });
    answer.catch(() => undefined);
    await eventually(looks, (count) => count > 0);
    return { api, answer };
  }

  it('is answered as soon as the payment is final', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    const { answer } = await waitingFor(payment.id);
    await stack.hint(payment);
    const { body, ms } = await answer;
    expect(body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('is answered with the payment as it stands when the time is over', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const { status, body, ms } = await stack.read(id, '?wait=1');
    expect([status, body.status]).toEqual([200, 'CREATED']);
    expect(ms).toBeGreaterThan(950);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('is answered at once for a payment that has ended', async () => {
    const { id } = await stack.paid();
    const { body, ms } = await stack.read(id, '?wait=50');
    expect(body.final).toBe(true);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('is left when the caller hangs up', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const hangUp = new AbortController();
    const { api, answer } = await waitingFor(id, {
      signal: hangUp.signal,
      headers: { 'x-request-id': `gone-${id}` },
    });
    hangUp.abort();
    await expect(answer).rejects.toThrow();
    expect(await api.lineOf(`gone-${id}`)).toMatchObject({ hungUp: true });
  });

  it('is answered early by a process that stops', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const { api, answer } = await waitingFor(id);
    await api.stop();
    const { body, ms } = await answer;
    expect(body.status).toBe('CREATED');
    expect(ms).toBeLessThan(SOON_MS);
  });
});

describe('without a worker', () => {
  it('a payment is taken, and goes on with the next one', async () => {
    const { id } = await stack.withoutWorker(async () => {
      const { status, body } = await stack.hasty.post('/v1/payouts', payout, 'no-worker');
      expect([status, body.status, body.amount]).toEqual([202, 'CREATED', 700]);
      return body;
    });
    const { status, body } = await stack.post('/v1/payouts', payout, 'no-worker');
    expect([status, body.id]).toEqual([200, id]);
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('payments that run, and those that have ended, are read', async () => {
    const [open, ended] = [await stack.asked(), await stack.paid()];
    const read = await stack.withoutWorker(async () => [await stack.read(open.id), await stack.read(ended.id)]);
    expect(read.map(({ status, body }) => [status, body.status])).toEqual([
      [200, 'CREATED'],
      [200, 'SUCCESSFUL'],
    ]);
  });
});
