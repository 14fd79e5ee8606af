import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RequestLimits } from '../../src/http/request-limits.js';
import { type Answered, type ApiUnderTest, KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();
let api: ApiUnderTest;
const sockets: Socket[] = [];

/** Less than an installation has by default, for the sake of machines that run all of this at once. */
const ALLOWANCE = { perMinute: 6_000, concurrent: 40, active: 4, failures: 20 };
const MAX_WAITS = 20;
const MORE = 10;

beforeAll(async () => {
  api = await stack.startMore({ allowance: ALLOWANCE, answerWithinMs: 10_000 });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const GREEDY = KEYS.rival;
const POLITE = KEYS.shop;
const times = <T>(count: number, run: (number: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, number) => run(number)));
const get = (key: string, path: string) => api.ask('GET', path, { key });
const post = (key: string, path: string, body: unknown) => api.ask('POST', path, { key, body });
const isMade = ({ status }: Answered) => status === 201 || status === 202;
const statusOf = ({ status }: Answered) => status;

/** A payment that waits for its payer. */
async function unpaid(key: string) {
  const { body } = await post(key, '/v1/collections', link);
  const { body: payment } = await eventually(
    () => get(key, `/v1/payments/${body.id}`),
    (read) => read.body.link !== undefined,
  );
  return payment;
}

/** A payout and a link of a polite merchant's at such a moment, both made. */
async function politeMakes(): Promise<readonly Answered[]> {
  const made = await Promise.all([post(POLITE, '/v1/payouts', payout), post(POLITE, '/v1/collections', link)]);
  expect(made.filter(isMade)).toHaveLength(2);
  return made;
}

/** Checks that the polite merchant is served: a payout, a link, a payment, a wait for it, and a list. */
async function politeIsServed(made?: readonly Answered[]): Promise<void> {
  const paths = (made ?? (await politeMakes())).map(({ body }) => `/v1/payments/${body.id}`);
  const reads = [...paths, ...paths.map((path) => `${path}?wait=1`), '/v1/payments?limit=5'];
  // On a machine that runs other suites, too, a worker may take a payment's task two seconds late: that is no
  // merchant's doing.
  const served = (path: string) =>
    eventually(
      () => get(POLITE, path),
      ({ status }) => status !== 503,
    );
  const answers = await Promise.all(reads.map(served));
  expect(answers.map(statusOf)).toEqual([200, 200, 200, 200, 200]);
}

/** A connection on which the beginning of a request was sent; the rest never comes. */
async function begin(headers: readonly string[], body = ''): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write([...headers, 'Host: api', ''].join('\r\n') + body);
  return socket;
}

/** JSON that gives a field again and again, deep inside. */
const deep = `${'{"a":'.repeat(3_000)}{"a":1${',"a":1'.repeat(4_500)}}${'}'.repeat(3_000)}`;

describe('of the requests that a key can have in progress', () => {
  it('half can wait for an outcome, which leaves the others to all other calls', async () => {
    const limits = new RequestLimits({ ...ALLOWANCE, concurrent: 200 });
    const hold = new AbortController();
    const ended = new Promise((resolve) => hold.signal.addEventListener('abort', resolve));
    const waits = times(100, () => limits.whileWaiting('greedy', () => ended));
    const another = (key: string) => limits.whileWaiting(key, async () => 'waited');
    await expect(another('greedy')).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await another('polite')).toBe('waited');
    hold.abort();
    await waits;
    expect(await another('greedy')).toBe('waited');
  });
});

describe('the requests of a merchant', () => {
  const limits = () => new RequestLimits({ ...ALLOWANCE, active: 2 });
  /** Requests that go on until they are ended, and those that have begun, in their order. */
  const requests = (of: RequestLimits) => {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const send = (name: string, merchant = 'greedy') =>
      of.inTurn(merchant, () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      });
    return { begun, send, end: (name: string) => ends.get(name)?.() };
  };

  it('are carried out a few at a time, in their order, and no other merchant waits for them', async () => {
    const { begun, send, end } = requests(limits());
    const names = ['a', 'b', 'c', 'd'];
    const sent = names.map((name) => send(name));
    const other = send('other', 'polite');
    expect(begun).toEqual(['a', 'b', 'other']);
    end('other');
    expect(await other).toBe('other');
    expect(begun).toEqual(['a', 'b', 'other']);
    for (const [number, name] of names.entries()) {
      end(name);
      expect(await sent[number]).toBe(name);
      expect(begun).toEqual(['a', 'b', 'other', 'c', 'd'].slice(0, number + 4));
    }
  });

  it('are refused when their turn does not come, and then never carried out', async () => {
    jest.useFakeTimers();
    try {
      const { begun, send, end } = requests(limits());
      const [first, , late] = ['a', 'b', 'c'].map((name) => send(name));
      const refused = expect(late).rejects.toMatchObject({
        code: 'rate_limited',
        message: expect.stringMatching(/^Nothing was done: 2 requests/),
        headers: { 'Retry-After': '1' },
      });
      await jest.advanceTimersByTimeAsync(10_000);
      await refused;
      end('a');
      expect(await first).toBe('a');
      await jest.advanceTimersByTimeAsync(10_000);
      expect(begun).toEqual(['a', 'b']);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('beside a merchant', () => {
  it('who waits for as many payments as possible, others are served, and it is by all other calls', async () => {
    const { id, link: address } = await unpaid(GREEDY);
    const path = `/v1/payments/${id}`;
    const refused: Answered[] = [];
    const waits = times(MAX_WAITS + MORE, async () => {
      const answer = await get(GREEDY, `${path}?wait=60`);
      if (answer.status === 429) refused.push(answer);
      return answer;
    });
    await eventually(
      async () => refused.length,
      (count) => count === MORE,
    );
    expect(refused.map(({ body }) => body.code)).toEqual(Array(MORE).fill('rate_limited'));
    expect(refused[0]?.body.detail).toContain(`${MAX_WAITS}`);

    await politeIsServed();
    expect((await get(GREEDY, path)).status).toBe(200);
    expect((await get(GREEDY, `${path}?wait=1`)).status).toBe(429);

    await stack.visit({ link: address }, 'pay');
    expect((await post(GREEDY, `${path}/refresh`, undefined)).status).toBe(200);
    const outcomes = (await waits).filter(({ status }) => status === 200);
    expect(outcomes.map(({ body }) => body.status)).toEqual(Array(MAX_WAITS).fill('SUCCESSFUL'));
    const another = await unpaid(GREEDY);
    expect((await get(GREEDY, `/v1/payments/${another.id}?wait=1`)).status).toBe(200);
  });

  it('whose bodies never come, others are served, and it is again once it has hung up', async () => {
    const headers = [
      'POST /v1/payouts HTTP/1.1',
      `Authorization: Bearer ${GREEDY}`,
      'Content-Type: application/json',
      'Idempotency-Key: slow',
      'Content-Length: 1000',
      '',
    ];
    // Those that come while requests of before are being ended are refused.
    await eventually(
      async () => {
        await times(ALLOWANCE.concurrent, () => begin(headers.slice(0, -1), '\r\n{"amount":'));
        return (await get(GREEDY, '/v1/payments?limit=1')).status;
      },
      (status) => status === 429,
    );
    await politeIsServed();
    for (const socket of sockets) socket.destroy();
    await eventually(
      async () => (await get(GREEDY, '/v1/payments?limit=1')).status,
      (status) => status === 200,
    );
  });

  it('whose headers never come, others are served', async () => {
    await times(100, () => begin(['GET /v1/payments HTTP/1.1', 'X-More: ']));
    await politeIsServed();
  });

  it('whose bodies are too big, others are served', async () => {
    const body = JSON.stringify({ ...payout, message: 'x'.repeat(4 * 1024 * 1024) });
    const headers = {
      authorization: `Bearer ${GREEDY}`,
      'content-type': 'application/json',
      'idempotency-key': 'big',
    };
    // The API hangs up before it has read everything, which may hide its answer.
    const asked = times(20, () =>
      fetch(`${api.url}/v1/payouts`, { method: 'POST', headers, body }).then(
        ({ status }) => status,
        () => 413,
      ),
    );
    await politeIsServed();
    expect(new Set(await asked)).toEqual(new Set([413]));
  });

  it('whose bodies take long to read, others are served', async () => {
    const asked = times(30, () => post(GREEDY, '/v1/payouts', deep));
    await politeIsServed();
    expect(new Set((await asked).map(({ body }) => body.errors[0].message))).toEqual(
      new Set(['must have at most 16 levels']),
    );
  });

  it('who sends many payouts at once, others are served before it, at the first try', async () => {
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', rate: 1, delayMs: 500 });
    const slowed = () => stack.sandbox.faults.totals.get('slow') ?? 0;
    const before = slowed();
    let made = 0;
    const asked = times(ALLOWANCE.concurrent + MORE, async () => {
      const answer = await post(GREEDY, '/v1/payouts', payout);
      if (isMade(answer)) made++;
      return answer;
    });
    await eventually(
      async () => slowed(),
      (count) => count > before,
    );
    const polite = await politeMakes();
    expect(made).toBeLessThan(ALLOWANCE.concurrent / 2);
    await politeIsServed(polite);

    const answers = await asked;
    expect(answers.filter(isMade).length).toBeGreaterThan(0);
    const others = answers.filter((answer) => !isMade(answer)).map(({ body }) => body.code);
    expect(others.filter((code) => code !== 'rate_limited')).toEqual([]);
  });
});
