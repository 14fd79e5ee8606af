import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  OutcomeUnknownError,
  type Payment,
  PaymentRejectedError,
  RateLimitError,
  Sanaga,
  TimeoutError,
  UnavailableError,
  UnexpectedResponseError,
} from '../../client/index.js';
import { closeServers, type HttpServer, type Reply, serveHttp, serveSockets } from '../support/local-servers.js';

afterEach(closeServers);

const payment: Payment = {
  id: 'pay_1',
  object: 'payment',
  kind: 'payout',
  status: 'CREATED',
  final: false,
  amount: 500,
  currency: 'XAF',
  metadata: {},
  createdAt: '2026-11-21T08:20:32.843Z',
  updatedAt: '2026-11-21T08:20:32.843Z',
};
const order = { amount: 500, phone: '677000000' };
const FAST = { 'retry-after': '0' };

const clientOf = ({ url }: { readonly url: string }, options: Partial<ConstructorParameters<typeof Sanaga>[0]> = {}) =>
  new Sanaga({ apiKey: 'sk_test', baseUrl: url, ...options });

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];
const problem = (status: number, code: string, extras: object = {}): Answer => [
  status,
  { code, detail: `Because of ${code}.`, requestId: 'req-1', ...extras },
  FAST,
];

/** A server that gives these answers one after the other, and the last one for ever. */
function serve(...answers: readonly (Answer | 'reset')[]): Promise<HttpServer> {
  const reply: Reply = (response, _, count) => {
    const answer = answers[Math.min(count, answers.length) - 1];
    if (answer === undefined || answer === 'reset') return response.destroy();
    const [status, body, headers] = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  return serveHttp(reply);
}

/** Returns the error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}

const keysOf = ({ seen }: HttpServer) => seen.map(({ headers }) => headers['idempotency-key']);

describe('a request', () => {
  it('carries the key, says what it accepts and who it is, and sends JSON', async () => {
    const server = await serve([201, payment]);
    await clientOf(server).payouts.create(order, { idempotencyKey: 'refund-77' });
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/v1/payouts',
        headers: {
          authorization: 'Bearer sk_test',
          'content-type': 'application/json',
          'idempotency-key': 'refund-77',
          'user-agent': expect.stringMatching(/^sanaga-client\/\d/),
        },
        body: JSON.stringify(order),
      },
    ]);
  });

  it.each(['', '/', '/v1', '/v1/'])('goes to a base address that ends with "%s"', async (end) => {
    const server = await serve([200, payment]);
    await clientOf({ url: `${server.url}${end}` }).payments.retrieve('pay_1');
    expect(server.seen[0]?.path).toBe('/v1/payments/pay_1');
  });

  it('goes below the path of a base address', async () => {
    const server = await serve([200, payment]);
    await clientOf({ url: `${server.url}/pay/` }).payments.retrieve('pay_1');
    expect(server.seen[0]?.path).toBe('/pay/v1/payments/pay_1');
  });

  it.each(['', '..', 'pay_1/resolve', 'pay_1?x', 'order-1'])(
    'is not sent for "%s", which is no payment',
    async (id) => {
      const server = await serve([200, payment]);
      expect(() => clientOf(server).payments.retrieve(id)).toThrow(TypeError);
      expect(server.seen).toEqual([]);
    },
  );

  it('is not followed where it is redirected to, so that the key goes nowhere else', async () => {
    const elsewhere = await serve([200, payment]);
    const server = await serve([302, '', { location: `${elsewhere.url}/v1/payments/pay_1` }]);
    const error = await errorOf(clientOf(server).payments.retrieve('pay_1'));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ message: expect.stringContaining('baseUrl') });
    expect(elsewhere.seen).toEqual([]);
  });

  it.each([
    { apiKey: '', baseUrl: 'http://127.0.0.1' },
    { apiKey: 'sk_a b', baseUrl: 'http://127.0.0.1' },
    { apiKey: 'sk_a', baseUrl: 'sanaga.example' },
    { apiKey: 'sk_a', baseUrl: 'ftp://sanaga.example' },
    { apiKey: 'sk_a', baseUrl: 'https://sanaga.example?x=1' },
  ])('is not possible with $apiKey and $baseUrl', (options) => {
    expect(() => new Sanaga(options)).toThrow(TypeError);
  });
});

describe('the key of a creation', () => {
  it('is made by the client when none is given, one for each payment, and returned', async () => {
    const server = await serve([201, payment]);
    const sanaga = clientOf(server);
    const one = await sanaga.payouts.create(order);
    const other = await sanaga.payouts.create(order);
    expect(keysOf(server)).toEqual([one.idempotencyKey, other.idempotencyKey]);
    expect(one.idempotencyKey).not.toBe(other.idempotencyKey);
  });

  it.each([
    ['an answer that never comes', ['reset', [201, payment]]],
    ['503', [problem(503, 'temporarily_unavailable'), [201, payment]]],
    ['429', [problem(429, 'rate_limited'), [201, payment]]],
    [
      "a proxy's 502",
      [
        [502, '<html>', FAST],
        [201, payment],
      ],
    ],
  ] as const)('stays the same when it is repeated after %s', async (_, answers) => {
    const server = await serve(...answers);
    const created = await clientOf(server).payouts.create(order);
    expect(keysOf(server)).toEqual([created.idempotencyKey, created.idempotencyKey]);
    expect(server.seen[0]?.body).toBe(server.seen[1]?.body);
  });

  it.each(['', ' ', 'clé', 'a\nb', 'x'.repeat(256)])(
    'is refused when it is %j, before anything is sent',
    async (key) => {
      const server = await serve([201, payment]);
      await expect(clientOf(server).payouts.create(order, { idempotencyKey: key })).rejects.toThrow(TypeError);
      expect(server.seen).toEqual([]);
    },
  );

  it('tells whether the payment was there before', async () => {
    const server = await serve([201, payment], [200, payment, { 'idempotent-replayed': 'true' }]);
    const sanaga = clientOf(server);
    const options = { idempotencyKey: 'k' };
    expect((await sanaga.payouts.create(order, options)).replayed).toBe(false);
    expect((await sanaga.payouts.create(order, options)).replayed).toBe(true);
  });
});

describe('an outcome that nobody knows', () => {
  it.each([
    ['there is no answer', ['reset'], ConnectionError],
    ['Sanaga is unavailable', [problem(503, 'temporarily_unavailable')], UnavailableError],
    ['Sanaga fails', [problem(500, 'internal_error')], ApiError],
    ['a proxy fails', [[502, '<html>', FAST]], UnexpectedResponseError],
    ['the answer is not a payment', [[200, '<html>welcome']], UnexpectedResponseError],
    ["the answer is another server's", [[200, { ok: true }]], UnexpectedResponseError],
  ] as const)('is what %s means for a creation, with the key', async (_, answers, cause) => {
    const server = await serve(...answers);
    const error = await errorOf(clientOf(server).payouts.create(order, { maxRetries: 1 }));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      idempotencyKey: keysOf(server)[0],
      cause: expect.any(cause),
      message: expect.stringContaining(`Idempotency-Key ${keysOf(server)[0]}`),
    });
  });

  it('has the payment that the API names', async () => {
    const server = await serve(problem(503, 'temporarily_unavailable', { paymentId: 'pay_9' }));
    const error = await errorOf(clientOf(server).payouts.create(order, { maxRetries: 0 }));
    expect(error).toMatchObject({ paymentId: 'pay_9' });
  });

  it('stays unknown when the repeated request is refused for a reason of its own', async () => {
    const server = await serve('reset', problem(401, 'unauthenticated'));
    const error = await errorOf(clientOf(server).payouts.create(order));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ cause: expect.any(AuthenticationError) });
  });

  it('is settled by a repeated request that is answered with the payment', async () => {
    const rejected = { ...payment, status: 'FAILED', final: true };
    const server = await serve('reset', problem(422, 'rejected_by_provider', { payment: rejected }));
    const error = await errorOf(clientOf(server).payouts.create(order));
    expect(error).toBeInstanceOf(PaymentRejectedError);
    expect(error).toMatchObject({ payment: rejected, paymentId: 'pay_1' });
  });

  it('is what stopping a request means, once it may have been sent', async () => {
    const server = await serveHttp(() => undefined);
    const stop = new AbortController();
    const creating = clientOf(server).payouts.create(order, { signal: stop.signal });
    while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(new Error('closing time'));
    const error = await errorOf(creating);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ cause: new Error('closing time') });
  });

  it('is not what stopping it before it begins means', async () => {
    const server = await serve([201, payment]);
    const signal = AbortSignal.abort(new Error('closing time'));
    await expect(clientOf(server).payouts.create(order, { signal })).rejects.toThrow('closing time');
    expect(server.seen).toEqual([]);
  });

  it.each([
    ['collections', 'expire', 'col_1'],
    ['payouts', 'cancel', 'pay_1'],
  ] as const)('names the payment that %s.%s was about', async (resource, call, id) => {
    const server = await serve('reset');
    const sanaga = clientOf(server, { maxRetries: 1 });
    const error = await errorOf(resource === 'payouts' ? sanaga.payouts.cancel(id) : sanaga.collections.expire(id));
    expect(server.seen).toHaveLength(2);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      paymentId: id,
      idempotencyKey: undefined,
      message: expect.stringContaining(`Read the payment ${id}`),
    });
    expect(call).toBeTruthy();
  });

  it('is never guessed at for a decision: it is sent once', async () => {
    const server = await serve('reset', [200, payment]);
    const decision = { action: 'resend', review: 1, why: 'absent' } as const;
    const error = await errorOf(clientOf(server).payments.resolve('pay_1', decision));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(server.seen).toHaveLength(1);
  });

  it.each(['approve', 'reject'] as const)('is never guessed at for a payout to %s: it is sent once', async (call) => {
    const server = await serve('reset', [200, payment]);
    const { payouts } = clientOf(server);
    const sent = call === 'approve' ? payouts.approve('pay_1', { digest: 'd' }) : payouts.reject('pay_1', { why: 'w' });
    expect(await errorOf(sent)).toMatchObject({ name: 'OutcomeUnknownError', paymentId: 'pay_1' });
    expect(server.seen.map(({ path }) => path)).toEqual([`/v1/payouts/pay_1/${call}`]);
  });
});

describe('a refusal', () => {
  it.each([
    [400, 'invalid_request', InvalidRequestError],
    [401, 'unauthenticated', AuthenticationError],
    [409, 'idempotency_key_reused', IdempotencyError],
  ] as const)('%i %s is an error of its own, and not repeated', async (status, code, Class) => {
    const errors = [{ field: 'amount', message: 'must be at least 100 XAF' }];
    const server = await serve(problem(status, code, { errors, paymentId: 'pay_7' }));
    const error = await errorOf(clientOf(server).payouts.create(order));
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({
      status,
      code,
      requestId: 'req-1',
      errors,
      paymentId: 'pay_7',
      message: `Because of ${code}.`,
    });
    expect(server.seen).toHaveLength(1);
  });

  it('with a code of a later version has the class of its status', async () => {
    const server = await serve(problem(429, 'daily_limit'));
    const error = await errorOf(clientOf(server).payouts.create(order, { maxRetries: 0 }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: 'daily_limit' });
  });

  it('never shows the API key', async () => {
    const server = await serve(problem(401, 'unauthenticated'));
    const sanaga = clientOf(server, { apiKey: 'sk_very_secret' });
    const { inspect } = await import('node:util');
    const error = await errorOf(sanaga.payouts.create(order));
    expect(inspect([error, sanaga], { depth: 9, showHidden: true })).not.toContain('sk_very_secret');
  });
});

describe('a repetition', () => {
  it('waits as long as Retry-After says', async () => {
    const server = await serve(
      [503, problem(503, 'temporarily_unavailable')[1], { 'retry-after': '1' }],
      [200, payment],
    );
    const begun = performance.now();
    await clientOf(server).payments.retrieve('pay_1');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
  });

  it('is left to the caller when Retry-After is long', async () => {
    const server = await serve([429, problem(429, 'rate_limited')[1], { 'retry-after': '3600' }]);
    const error = await errorOf(clientOf(server).payments.retrieve('pay_1'));
    expect(error).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(server.seen).toHaveLength(1);
  });

  it('reads a Retry-After that is a date', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    const server = await serve([429, problem(429, 'rate_limited')[1], { 'retry-after': inAnHour }]);
    const error = await errorOf(clientOf(server).payments.retrieve('pay_1'));
    expect(error).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(Math.abs(Number((error as RateLimitError).retryAfterMs) - 3_600_000)).toBeLessThan(10_000);
  });

  it.each([
    [undefined, 3],
    [0, 1],
    [1, 2],
  ])('happens as often as maxRetries says: %p, %i requests', async (maxRetries, requests) => {
    const server = await serve(problem(503, 'temporarily_unavailable'));
    const options = maxRetries === undefined ? {} : { maxRetries };
    const error = await errorOf(clientOf(server, options).payments.retrieve('pay_1'));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(server.seen).toHaveLength(requests);
  });

  it('ends with the time limit of each attempt', async () => {
    const server = await serveHttp(() => undefined);
    const error = await errorOf(clientOf(server, { timeoutMs: 1_000, maxRetries: 1 }).payments.retrieve('pay_1'));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ timeoutMs: 1_000 });
    expect(server.seen).toHaveLength(2);
  });

  it('has 75 s for each attempt unless the options say otherwise', async () => {
    jest.useFakeTimers();
    try {
      const neverAnswers: typeof globalThis.fetch = (_, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      const options = {
        apiKey: 'key',
        baseUrl: 'https://sanaga.example',
        maxRetries: 0,
        fetch: neverAnswers,
      };
      const failed = errorOf(new Sanaga(options).payments.retrieve('pay_1'));
      await jest.advanceTimersByTimeAsync(74_999);
      expect(jest.getTimerCount()).toBe(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(await failed).toMatchObject({ name: 'TimeoutError', timeoutMs: 75_000 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('ends when the caller stops it between two attempts', async () => {
    const server = await serve([503, problem(503, 'temporarily_unavailable')[1], { 'retry-after': '20' }]);
    const stop = new AbortController();
    const reading = clientOf(server).payments.retrieve('pay_1', {}, { signal: stop.signal });
    while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    setTimeout(() => stop.abort(new Error('closing time')), 500);
    await expect(reading).rejects.toThrow('closing time');
    expect(server.seen).toHaveLength(1);
  });
});

describe('no connection', () => {
  it('is not in doubt: nothing was sent', async () => {
    const server = await serveSockets(() => undefined);
    await server.close();
    const error = await errorOf(clientOf(server, { maxRetries: 0 }).payouts.create(order));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false, message: expect.stringContaining(server.url) });
  });

  it('that breaks in the middle of an answer is repeated', async () => {
    const server = await serveSockets((socket, count) => {
      const body = JSON.stringify(payment);
      socket.once('data', () => {
        const sent = count === 1 ? body.slice(0, 20) : body;
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${sent}`);
      });
    });
    expect(await clientOf(server).payments.retrieve('pay_1')).toEqual(payment);
    expect(server.connections()).toBe(2);
  });
});

describe("a client's number", () => {
  const client = (options: object) => () =>
    new Sanaga({ baseUrl: 'http://127.0.0.1:9', apiKey: 'sk_test', ...options });

  it.each([
    { timeoutMs: Number.NaN },
    { timeoutMs: -1 },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 2 ** 31 },
    { maxRetries: Number.NaN },
    { maxRetries: Number.POSITIVE_INFINITY },
    { maxRetries: 1.5 },
    { maxRetries: -1 },
  ])('that would switch a limit off is refused: %p', async (options) => {
    expect(client(options)).toThrow(TypeError);
    await expect(client({})().payments.retrieve('pay_1', {}, options)).rejects.toThrow(TypeError);
  });

  it.each([Number.NaN, -1, 1.5, 61, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    'of seconds to wait is not %d',
    (wait) => {
      expect(() => client({})().payments.retrieve('pay_1', { wait })).toThrow(TypeError);
    },
  );

  it.each([
    ['a page', () => client({})().payments.list({ limit: Number.NaN })],
    ['a page of events', () => client({})().events.list({ limit: Number.POSITIVE_INFINITY })],
    ['a page of statements', () => client({})().statements.list({ limit: 1.5 })],
    ['a version', () => client({})().statements.retrieve('2026-11-21', { version: Number.NaN })],
    ['an amount', () => client({})().collections.create({ method: 'link', amount: Number.NaN })],
    ['a review', () => client({})().payments.resolve('pay_1', { action: 'fail', review: Number.NaN, why: 'x' })],
  ])('that is none is refused before anything is sent, as %s', async (_, call) => {
    await expect(call()).rejects.toThrow(/^(limit|version|amount|review) must be a .*number, and not/);
    await expect(call()).rejects.toThrow(TypeError);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1.5])('of a notification is not %d', (number) => {
    expect(() => client({})().notifications.resend('pay_1', number)).toThrow(TypeError);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5000' as unknown as number])(
    'of ms to wait for an outcome is not %s',
    async (timeoutMs) => {
      await expect(client({})().payments.waitForOutcome('pay_1', { timeoutMs })).rejects.toThrow(TypeError);
    },
  );
});

describe('what a caller gets wrong before anything is sent', () => {
  const seen: string[] = [];
  const client = new Sanaga({
    baseUrl: 'http://127.0.0.1',
    apiKey: 'sk_test',
    fetch: async (address) => {
      seen.push(String(address));
      throw new Error('was sent');
    },
  });
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const bare = Object.create(null);
  // biome-ignore lint/suspicious/noExplicitAny: what a caller without types can give
  const wrong = (value: unknown) => value as any;
  const link = (given: object) => client.collections.create(wrong({ method: 'link', amount: 500, ...given }));

  it.each([
    ['amount', () => link({ amount: 500n })],
    ['amount', () => link({ amount: Number.NaN })],
    ['externalId', () => link({ externalId: () => '1' })],
    ['externalId', () => link({ externalId: Symbol('1') })],
    ['metadata', () => link({ metadata: circular })],
    ['metadata', () => link({ metadata: { toJSON: () => JSON.parse('{') } })],
    ['count', () => link({ metadata: { count: 1n } })],
    ['params', () => client.collections.create(wrong(null))],
    ['params', () => client.payouts.create(wrong('500'))],
    ['options', () => client.payouts.create(wrong({}), wrong(null))],
    ['idempotencyKey', () => client.payouts.create(wrong({}), wrong({ idempotencyKey: null }))],
    ['idempotencyKey', () => client.payouts.create(wrong({}), wrong({ idempotencyKey: { of: 'order' } }))],
    ['params', async () => client.payments.list(wrong(null))],
    ['options', async () => client.payments.list({}, wrong(null))],
    ['onUnreadable', async () => client.payments.list({}, wrong({ onUnreadable: 'id' }))],
    ['created.gte', () => client.payments.list({ created: { gte: new Date('x') } })],
    ['status', () => client.payments.list({ status: bare })],
    ['params', async () => client.events.list(wrong(null))],
    ['options', () => client.events.list({}, wrong(null))],
    ['since', () => client.events.list({ since: new Date('x') })],
    ['params', async () => client.payments.retrieve('pay_1', wrong(null))],
    ['options', async () => client.payments.retrieve('pay_1', {}, wrong(null))],
    ['signal', async () => client.payments.retrieve('pay_1', {}, wrong({ signal: {} }))],
    ['timeoutMs', async () => client.payments.retrieve('pay_1', {}, wrong({ timeoutMs: '5' }))],
    ['timeoutMs', async () => client.payments.retrieve('pay_1', {}, wrong({ timeoutMs: Symbol('5') }))],
    ['wait', async () => client.payments.retrieve('pay_1', wrong({ wait: Symbol('5') }))],
    ["payment's id", async () => client.payments.retrieve(wrong(1n))],
    ["payment's id", async () => client.payments.retrieve(wrong(['pay_1']))],
    ['options', () => client.payments.waitForOutcome('pay_1', wrong(null))],
    ['signal', () => client.payments.waitForOutcome('pay_1', wrong({ signal: true }))],
    ['decision', async () => client.payments.resolve('pay_1', wrong(null))],
    ['review', async () => client.payments.resolve('pay_1', wrong({ action: 'fail', review: 1n, why: 'x' }))],
    ['rejection', async () => client.payments.rejectDecision('pay_1', wrong(undefined))],
    ['params', async () => client.balance.retrieve(wrong(undefined))],
    ['params', async () => client.statements.list(wrong(null))],
    ['params', async () => client.statements.retrieve('2026-11-21', wrong(null))],
    ['day', async () => client.statements.retrieve(wrong(1n))],
    ['notification', async () => client.notifications.resend('pay_1', wrong(Symbol('1')))],
  ])('is a plain TypeError that names %s: %#', async (name, call) => {
    const error = await (async (): Promise<unknown> => await call())().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: expect.stringContaining(name) });
    expect(error).not.toMatchObject({
      message: expect.stringMatching(/undefined \(|of null|Cannot|is not a function/),
    });
    expect(seen).toEqual([]);
  });

  it.each([null, 'x', { baseUrl: 'http://a', apiKey: 'k', fetch: 5 }, { baseUrl: 1n, apiKey: 'k' }])(
    'is told of the client, too: %#',
    (options) => {
      expect(() => new Sanaga(wrong(options))).toThrow(/^(options|fetch|baseUrl) must be/);
    },
  );

  it('is no payment in doubt when it is a port that nothing connects to', async () => {
    const blocked = new Sanaga({ baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_test', maxRetries: 0 });
    const error = await blocked.collections.create({ method: 'link', amount: 500 }).catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false });
  });
});
