import { afterEach, describe, expect, it } from '@jest/globals';
import {
  ConflictError,
  IncompleteListError,
  NotFoundError,
  type Payment,
  Sanaga,
  WaitTimeoutError,
} from '../../client/index.js';
import { closeServers, type HttpServer, type Seen, serveHttp } from '../support/local-servers.js';

afterEach(closeServers);

const payment = (number: number, changes: Partial<Payment> = {}): Payment => ({
  id: `col_${number}`,
  object: 'payment',
  kind: 'collection',
  status: 'CREATED',
  final: false,
  amount: 500,
  currency: 'XAF',
  metadata: {},
  createdAt: `2026-11-21T08:00:0${number}.000Z`,
  updatedAt: '2026-11-21T09:00:00.000Z',
  ...changes,
});

/** A server that answers each request as told; `undefined` breaks the connection. */
const serve = (answer: (request: Seen, count: number) => readonly [number, unknown] | undefined) =>
  serveHttp((response, request, count) => {
    const [status, body] = answer(request, count) ?? [];
    if (status === undefined) return response.destroy();
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(body));
  });
const clientOf = ({ url }: HttpServer) => new Sanaga({ apiKey: 'sk_test', baseUrl: url, maxRetries: 0 });
const unavailable = [503, { code: 'temporarily_unavailable', detail: 'Not now.' }] as const;

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('refunding a collection', () => {
  const params = { amount: 300, reason: 'out of stock' };
  const refund = payment(2, { id: 'pay_2', kind: 'payout', refundOf: 'col_1', refundReason: 'out of stock' });

  it('is asked for under the collection, with the key', async () => {
    const server = await serve(() => [201, refund]);
    const created = await clientOf(server).collections.refund('col_1', params, { idempotencyKey: 'refund-1' });
    expect(created).toEqual({ ...refund, idempotencyKey: 'refund-1', replayed: false });
    expect(server.seen).toMatchObject([{ method: 'POST', path: '/v1/collections/col_1/refunds' }]);
    expect(server.seen[0]?.headers['idempotency-key']).toBe('refund-1');
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual(params);
  });

  it('is in doubt without an answer: the error has the key to repeat it with', async () => {
    const server = await serve(() => undefined);
    const asked = clientOf(server).collections.refund('col_1', params, { idempotencyKey: 'refund-1' });
    await expect(asked).rejects.toMatchObject({ name: 'OutcomeUnknownError', idempotencyKey: 'refund-1' });
  });

  it.each(['not_refundable', 'refundable_mismatch'])('is a conflict when the API answers %s', async (code) => {
    const server = await serve(() => [409, { code, detail: 'No.' }]);
    await expect(clientOf(server).collections.refund('col_1', params)).rejects.toBeInstanceOf(ConflictError);
  });

  it('is told what is left when it is more than that', async () => {
    const sums = { collected: 500, refunded: 0, refunding: 300, refundable: 200 };
    const server = await serve(() => [422, { code: 'more_than_refundable', detail: 'No.', ...sums }]);
    await expect(clientOf(server).collections.refund('col_1', params)).rejects.toMatchObject({
      name: 'LimitError',
      refundable: 200,
    });
  });

  it('is listed with the figures', async () => {
    const figures = { object: 'refunds', collection: 'col_1', collected: 500, refunded: 0, refunding: 300 };
    const listed = { ...figures, refundable: 200, data: [refund] };
    const server = await serve(() => [200, listed]);
    expect(await clientOf(server).collections.refunds('col_1')).toEqual(listed);
    expect(server.seen).toMatchObject([{ method: 'GET', path: '/v1/collections/col_1/refunds' }]);
  });

  it('is refused for what is no collection', async () => {
    expect(() => clientOf({ url: 'http://127.0.0.1:1' } as HttpServer).collections.refund('../x', params)).toThrow(
      "not a payment's id",
    );
  });
});

describe('waiting for an outcome', () => {
  const paid = payment(1, { status: 'SUCCESSFUL', final: true });

  it('asks the API to wait, until the payment is final', async () => {
    const server = await serve((_, count) => [200, count < 4 ? payment(1) : paid]);
    expect(await clientOf(server).payments.waitForOutcome('col_1', { timeoutMs: 20_000 })).toEqual(paid);
    expect(server.seen[0]?.path).toBe('/v1/payments/col_1');
    expect(server.seen[1]?.path).toMatch(/^\/v1\/payments\/col_1\?wait=(1\d|20)$/);
  });

  it('returns at once for a payment that is final', async () => {
    const server = await serve(() => [200, paid]);
    await clientOf(server).payments.waitForOutcome('col_1', { timeoutMs: 0 });
    expect(server.seen).toHaveLength(1);
  });

  it('does not call an attempt that failed an outcome', async () => {
    const failed = payment(1, { status: 'FAILED', final: false });
    const server = await serve((_, count) => [200, count < 3 ? failed : paid]);
    expect(await clientOf(server).payments.waitForOutcome('col_1')).toEqual(paid);
  });

  it('goes on while Sanaga is unavailable', async () => {
    const server = await serve((_, count) => {
      if (count === 2) return undefined;
      if (count === 3) return unavailable;
      return [200, count === 1 ? payment(1) : paid];
    });
    expect(await clientOf(server).payments.waitForOutcome('col_1')).toEqual(paid);
  });

  it('ends with the last reading when the time is over', async () => {
    const server = await serve(() => [200, payment(1, { status: 'PENDING' })]);
    const error: unknown = await clientOf(server)
      .payments.waitForOutcome('col_1', { timeoutMs: 100 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ payment: { id: 'col_1', status: 'PENDING' }, timeoutMs: 100 });
  });

  it('ends at once when there is no such payment', async () => {
    const server = await serve(() => [404, { code: 'not_found', detail: 'No.' }]);
    await expect(clientOf(server).payments.waitForOutcome('col_1')).rejects.toThrow(NotFoundError);
    expect(server.seen).toHaveLength(1);
  });

  it('ends when it is stopped', async () => {
    const server = await serveHttp((response, _, count) => {
      if (count === 1) response.end(JSON.stringify(payment(1)));
    });
    const stop = new AbortController();
    const waiting = clientOf(server).payments.waitForOutcome('col_1', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('closing time')), 100);
    await expect(waiting).rejects.toThrow('closing time');
  });
});

describe('a list of payments', () => {
  const pages = (request: Seen): readonly [number, unknown] => {
    const cursor = new URL(request.path, 'http://x').searchParams.get('cursor');
    if (cursor === null) return [200, { data: [payment(5), payment(4)], unreadable: [], nextCursor: 'two' }];
    return [200, { data: [payment(3)], unreadable: [] }];
  };

  it('is one page when it is awaited', async () => {
    const server = await serve(pages);
    const page = await clientOf(server).payments.list({ status: 'CREATED', limit: 2 });
    expect(page).toEqual({ data: [payment(5), payment(4)], unreadable: [], nextCursor: 'two' });
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/payments?status=CREATED&limit=2']);
  });

  it('is every payment of every page when it is iterated over', async () => {
    const server = await serve(pages);
    const payments = await collected(clientOf(server).payments.list({ status: 'CREATED' }));
    expect(payments.map(({ id }) => id)).toEqual(['col_5', 'col_4', 'col_3']);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/v1/payments?status=CREATED',
      '/v1/payments?status=CREATED&cursor=two',
    ]);
  });

  it('asks for no page that is not needed', async () => {
    const server = await serve(pages);
    for await (const { id } of clientOf(server).payments.list()) if (id === 'col_4') break;
    expect(server.seen).toHaveLength(1);
  });

  describe('with a payment that could not be read', () => {
    const withGap = (later: (id: string) => readonly [number, unknown]) => (request: Seen) => {
      const { pathname } = new URL(request.path, 'http://x');
      if (pathname !== '/v1/payments') return later(pathname.split('/').at(-1) ?? '');
      return [200, { data: [payment(5), payment(3)], unreadable: [{ id: 'col_4' }] }] as const;
    };

    it('reads it again, and has it in its place', async () => {
      const server = await serve(withGap(() => [200, payment(4)]));
      const payments = await collected(clientOf(server).payments.list());
      expect(payments.map(({ id }) => id)).toEqual(['col_5', 'col_4', 'col_3']);
    });

    it('leaves it out when it has another status', async () => {
      const server = await serve(withGap(() => [200, payment(4, { status: 'SUCCESSFUL' })]));
      const payments = await collected(clientOf(server).payments.list({ status: 'CREATED' }));
      expect(payments.map(({ id }) => id)).toEqual(['col_5', 'col_3']);
    });

    it('never misses it silently', async () => {
      const server = await serve(withGap(() => unavailable));
      const error: unknown = await collected(clientOf(server).payments.list()).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IncompleteListError);
      expect(error).toMatchObject({ paymentId: 'col_4' });
    });

    it('goes on without it for a caller who wants to know', async () => {
      const server = await serve(withGap(() => unavailable));
      const missed: string[] = [];
      const list = clientOf(server).payments.list({}, { onUnreadable: (id) => missed.push(id) });
      expect((await collected(list)).map(({ id }) => id)).toEqual(['col_5', 'col_3']);
      expect(missed).toEqual(['col_4']);
    });
  });
});

describe('the list of events', () => {
  const event = (number: number) => ({
    id: `evt_col_${number}_succeeded_1`,
    type: 'payment.succeeded',
    timestamp: '2026-11-21T08:20:34.191Z',
    paymentId: `col_${number}`,
    data: payment(number, { status: 'SUCCESSFUL', final: true }),
  });

  it('is a page with the cursor to go on from, or all that is recorded', async () => {
    const server = await serve(({ path }) => [
      200,
      path.includes('cursor=MQ')
        ? { data: [event(2)], hasMore: false, nextCursor: 'Mg' }
        : { data: [event(1)], hasMore: true, nextCursor: 'MQ' },
    ]);
    const { events } = clientOf(server);
    expect(await events.list({ limit: 1 })).toEqual({ data: [event(1)], hasMore: true, nextCursor: 'MQ' });
    expect(await collected(events.list({ since: new Date('2026-11-14') }))).toEqual([event(1), event(2)]);
    expect(server.seen.at(-1)?.path).toBe('/v1/events?cursor=MQ&since=2026-11-14T00%3A00%3A00.000Z');
    expect((await events.list({ cursor: 'MQ' })).nextCursor).toBe('Mg');
  });
});

describe('a payout whose record can not be read', () => {
  it('may have been paid: it is in doubt, and not repeated', async () => {
    const problem = { code: 'record_unreadable', detail: 'It may have been paid.', paymentId: 'pay_1' };
    const server = await serve(() => [500, problem]);
    const create = clientOf(server).payouts.create(
      { amount: 700, phone: '677000000' },
      { idempotencyKey: 'refund-79' },
    );
    await expect(create).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
      idempotencyKey: 'refund-79',
      paymentId: 'pay_1',
      cause: { name: 'ServerError', code: 'record_unreadable' },
    });
    expect(server.seen).toHaveLength(1);
  });
});
