import { afterEach, describe, expect, it } from '@jest/globals';
import { Breaker, MAX_TIMEOUTS, PAUSE_MS } from '../../src/provider/breaker.js';
import type { ProviderClientOptions } from '../../src/provider/calls.js';
import type { ProviderClient } from '../../src/provider/client.js';
import type { Exchange } from '../../src/provider/http.js';
import {
  CLOSED_URL,
  clientOf,
  closeServers,
  type HttpServer,
  json,
  type Reply,
  serveHttp,
} from '../support/local-servers.js';

const answered: Exchange = { kind: 'answered', statusCode: 502, body: undefined };
const timedOut: Exchange = { kind: 'failed', sent: 'perhaps', timedOut: true, reason: 'no answer' };
const refused: Exchange = { kind: 'failed', sent: 'no', timedOut: false, reason: 'refused' };

function breakerAt(startMs: number) {
  let time = startMs;
  const breaker = new Breaker(() => time);
  let sent = 0;
  return {
    breaker,
    sent: () => sent,
    pass: (ms: number) => {
      time += ms;
    },
    /** Asks questions one after the other, which come to these ends. `true` for each that was sent. */
    async ask(...ends: readonly Exchange[]): Promise<boolean[]> {
      const sendings: boolean[] = [];
      for (const end of ends) {
        const before = sent;
        const result = await breaker.call(async () => {
          sent++;
          return end;
        });
        expect(result).toBe(sent > before ? end : undefined);
        sendings.push(sent > before);
      }
      return sendings;
    },
  };
}

const inARow = (length: number): Exchange[] => Array.from({ length }, () => timedOut);

describe('a breaker', () => {
  it('lets questions through until so many in a row have timed out', async () => {
    const { ask } = breakerAt(0);
    expect(await ask(...inARow(MAX_TIMEOUTS - 1), answered)).not.toContain(false);
    expect(await ask(...inARow(MAX_TIMEOUTS))).not.toContain(false);
    expect(await ask(answered)).toEqual([false]);
  });

  it('neither counts failures that are no time-outs, nor takes them for an answer', async () => {
    const { ask } = breakerAt(0);
    expect(await ask(...inARow(MAX_TIMEOUTS - 1), refused, refused)).not.toContain(false);
    expect(await ask(timedOut, answered)).toEqual([true, false]);
  });

  it('lets one question through after its pause, and all others when that is answered', async () => {
    const { ask, pass } = breakerAt(-50_000);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS - 1);
    expect(await ask(answered)).toEqual([false]);
    pass(1);
    expect(await ask(answered, ...inARow(MAX_TIMEOUTS - 1), answered)).not.toContain(false);
  });

  it('pauses again when its trial times out', async () => {
    const { ask, pass } = breakerAt(0);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS);
    expect(await ask(timedOut, answered)).toEqual([true, false]);
    pass(PAUSE_MS - 1);
    expect(await ask(answered)).toEqual([false]);
    pass(1);
    expect(await ask(answered, answered)).toEqual([true, true]);
  });

  it('takes the next question for its trial when one has failed without a time-out', async () => {
    const { ask, pass } = breakerAt(0);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS);
    expect(await ask(refused, timedOut, answered)).toEqual([true, true, false]);
  });

  it('takes the next question for its trial when one could not be sent at all', async () => {
    const { breaker, ask, pass } = breakerAt(0);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS);
    await expect(breaker.call(() => Promise.reject(new TypeError('wrong call')))).rejects.toThrow('wrong call');
    expect(await ask(answered, answered)).toEqual([true, true]);
  });

  it('has but one trial at a time', async () => {
    const { breaker, ask, pass } = breakerAt(0);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS);
    let end: (exchange: Exchange) => void = () => {};
    const trial = breaker.call(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    pass(10 * PAUSE_MS);
    expect(await ask(answered)).toEqual([false]);
    end(answered);
    expect(await trial).toBe(answered);
    expect(await ask(answered)).toEqual([true]);
  });

  it('is closed by an answer to something else, and its trial then counts as any other question', async () => {
    const { breaker, ask, pass } = breakerAt(0);
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS);
    let end: (exchange: Exchange) => void = () => {};
    const trial = breaker.call(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    breaker.answered();
    end(timedOut);
    await trial;
    expect(await ask(...inARow(MAX_TIMEOUTS - 1), answered)).toEqual([true, true, true, true, false]);
  });

  it('does not pause for longer when questions that were sent before time out after it has opened', async () => {
    const { breaker, ask, pass } = breakerAt(0);
    let end: (exchange: Exchange) => void = () => {};
    const late = breaker.call(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    await ask(...inARow(MAX_TIMEOUTS));
    pass(PAUSE_MS - 1);
    end(timedOut);
    await late;
    pass(1);
    expect(await ask(answered)).toEqual([true]);
  });
});

afterEach(closeServers);

/**
 * ms that a provider that hangs for good may take here: a third of them for the connection, which a busy machine takes
 * its time for.
 */
const LIMIT_MS = 900;
/** ms that one may take that recovers: it answers within it on a busy machine too. */
const RECOVERY_LIMIT_MS = 3_000;
let time = 0;

/** A client that waits no longer than `timeoutMs`, by the clock of these tests. */
function impatient(url: string, options: Partial<ProviderClientOptions> = {}): ProviderClient {
  return clientOf(url, { timeoutMs: LIMIT_MS, now: () => time, ...options });
}

/** A provider that hangs until it is told otherwise. */
async function hanging(reply: Reply = json(200, [])): Promise<{ server: HttpServer; recover: () => void }> {
  let hangs = true;
  const server = await serveHttp((...of) => {
    if (!hangs) reply(...of);
  });
  return {
    server,
    recover: () => {
      hangs = false;
    },
  };
}

const questions: [string, (client: ProviderClient) => Promise<unknown>][] = [
  ['a status', (client) => client.paymentStatus('T1')],
  ['an expiry', (client) => client.expirePay('T1')],
  ['a list', (client) => client.transactionsOf('col_1', false)],
  ['a search', (client) => client.search({})],
  ['the balance', (client) => client.balance()],
];

const timeOut = (client: ProviderClient, times: number) =>
  Promise.all(Array.from({ length: times }, () => client.paymentStatus('T1')));

const heldBack = { kind: 'unavailable', reason: expect.stringContaining('not asked') };
const notSent = {
  kind: 'notSent',
  reason: 'the provider is slow to answer the last requests, or leaves them without an answer',
};
const linked = json(200, { transId: 'T1', link: 'https://pay.example.com/T1' });

describe('a provider that hangs', () => {
  it.each(questions)('is not asked for %s after five questions without an answer', async (_, ask) => {
    const { server } = await hanging();
    const client = impatient(server.url);
    for (const answer of await timeOut(client, 5))
      expect(answer).toEqual({ kind: 'unavailable', reason: `no answer within ${LIMIT_MS} ms` });
    expect(await ask(client)).toEqual(heldBack);
    expect(server.seen).toHaveLength(5);
  });

  it.each(questions)('is found to hang by %s', async (_, ask) => {
    const { server } = await hanging();
    const client = impatient(server.url);
    await Promise.all(Array.from({ length: 5 }, () => ask(client)));
    expect(await ask(client)).toEqual(heldBack);
    expect(server.seen).toHaveLength(5);
  });

  it('is sent every order that moves money all the same, each once', async () => {
    const { server, recover } = await hanging(json(200, { transId: 'T1' }));
    const [client, payouts] = [
      impatient(server.url, { timeoutMs: RECOVERY_LIMIT_MS }),
      impatient(server.url, { service: 'payout', timeoutMs: RECOVERY_LIMIT_MS }),
    ];
    await Promise.all([timeOut(client, 5), timeOut(payouts, 5)]);
    recover();
    const order = { amount: 500, phone: '670000001' };
    expect(await client.directPay(order)).toMatchObject({ kind: 'accepted' });
    expect(await payouts.payout(order)).toMatchObject({ kind: 'accepted' });
    expect(server.seen.slice(10).map(({ path }) => path)).toEqual(['/direct-pay', '/payout']);
  });

  describe.each([
    ['direct-pay', 'collection'],
    ['payout', 'payout'],
  ] as const)('is sent no more of %s than leave a quarter of the slots', (path, service) => {
    const SLOTS = 12;
    const order = { amount: 500, phone: '670000001' };
    const sendOne = (client: ProviderClient, signal?: AbortSignal) =>
      path === 'payout' ? client.payout(order, { signal }) : client.directPay(order, { signal });
    const sending = (client: ProviderClient, count: number, signal?: AbortSignal) =>
      Array.from({ length: count }, async () => (await sendOne(client, signal)).kind);
    const each = (kind: string, length: number) => Array<string>(length).fill(kind);

    it('once five have timed out, until one is answered', async () => {
      const { server, recover } = await hanging(json(200, { transId: 'T1' }));
      const client = impatient(server.url, { service, timeoutMs: RECOVERY_LIMIT_MS, orderSlots: SLOTS });
      const send = (count: number) => Promise.all(sending(client, count));
      expect(await send(SLOTS)).toEqual(each('ambiguous', SLOTS));
      expect(await send(SLOTS)).toEqual([...each('ambiguous', 9), ...each('notSent', 3)]);
      expect(server.seen).toHaveLength(SLOTS + 9);
      recover();
      expect(await send(SLOTS)).toEqual([...each('accepted', 9), ...each('notSent', 3)]);
      expect(await send(SLOTS)).toEqual(each('accepted', SLOTS));
    });

    it('once five have had no answer for five seconds, whoever gave them up then', async () => {
      const { server } = await hanging();
      const client = impatient(server.url, { service, timeoutMs: RECOVERY_LIMIT_MS, orderSlots: SLOTS });
      const gaveUp = new AbortController();
      const first = sending(client, SLOTS, gaveUp.signal);
      time += 5_000;
      gaveUp.abort();
      expect(await Promise.all(first)).toEqual(each('ambiguous', SLOTS));
      expect(await Promise.all(sending(client, SLOTS))).toEqual([...each('ambiguous', 9), ...each('notSent', 3)]);
    });

    it('once five have had no answer for five seconds', async () => {
      const { server, recover } = await hanging(json(200, { transId: 'T1' }));
      const client = impatient(server.url, { service, timeoutMs: RECOVERY_LIMIT_MS, orderSlots: SLOTS });
      const first = sending(client, 9);
      time += 4_999;
      const last = sending(client, 1);
      time += 1;
      expect(await sendOne(client)).toEqual(notSent);
      expect(await Promise.all([...first, ...last])).toEqual(each('ambiguous', 10));
      recover();
      expect(await Promise.all(sending(client, 1))).toEqual(['accepted']);
      expect(await Promise.all(sending(client, SLOTS))).toEqual(each('accepted', SLOTS));
    });
  });

  it('is not found to hang by orders that move money', async () => {
    const { server } = await hanging();
    const client = impatient(server.url);
    const order = { amount: 500, phone: '670000001' };
    await timeOut(client, 4);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => client.directPay(order)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'ambiguous' });
    expect(await client.paymentStatus('T1')).toMatchObject({ reason: `no answer within ${LIMIT_MS} ms` });
    expect(await client.paymentStatus('T1')).toEqual(heldBack);
  });

  it('is not sent a link while it hangs', async () => {
    const { server } = await hanging();
    const client = impatient(server.url);
    await timeOut(client, 5);
    expect(await client.initiatePay({ amount: 500 })).toEqual(notSent);
    expect(server.seen).toHaveLength(5);
  });

  it('is sent one link when the pause is over, and all of them once that is answered', async () => {
    const { server, recover } = await hanging(linked);
    const client = impatient(server.url, { timeoutMs: RECOVERY_LIMIT_MS });
    await timeOut(client, 5);
    expect(await client.initiatePay({ amount: 500 })).toEqual(notSent);
    recover();
    time += PAUSE_MS;
    const both = [client.initiatePay({ amount: 500 }), client.initiatePay({ amount: 500 })];
    expect(await Promise.all(both)).toEqual([expect.objectContaining({ kind: 'accepted' }), notSent]);
    expect(await client.initiatePay({ amount: 500 })).toMatchObject({ kind: 'accepted' });
    expect(server.seen).toHaveLength(7);
  });

  it('is sent no link after five links without an answer, and is still asked', async () => {
    const { server } = await hanging();
    const client = impatient(server.url);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => client.initiatePay({ amount: 500 })));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'ambiguous' });
    expect(await client.initiatePay({ amount: 500 })).toEqual(notSent);
    expect(await client.paymentStatus('T1')).toMatchObject({ reason: `no answer within ${LIMIT_MS} ms` });
    expect(server.seen.map(({ path }) => path)).toEqual([
      ...Array<string>(5).fill('/initiate-pay'),
      '/payment-status/T1',
    ]);
  });

  it('is sent no link either after five that their senders have waited for as long as they could', async () => {
    const { server } = await hanging();
    const client = impatient(server.url, { timeoutMs: 60_000 });
    const ask = () => client.initiatePay({ amount: 500 }, { withinMs: 1_000 });
    const outcomes = await Promise.all(Array.from({ length: 5 }, ask));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: 'ambiguous', reason: 'no answer within 1 s' });
    expect(await ask()).toEqual(notSent);
  });

  it('is asked for a list while a link is tried', async () => {
    const { server } = await hanging();
    const client = impatient(server.url);
    await timeOut(client, 5);
    await client.initiatePay({ amount: 500 });
    time += PAUSE_MS;
    const [link, list] = await Promise.all([
      client.initiatePay({ amount: 500 }),
      client.transactionsOf('col_1', false),
    ]);
    expect(link).toMatchObject({ kind: 'ambiguous' });
    expect(list).toMatchObject({ reason: `no answer within ${LIMIT_MS} ms` });
    expect(await client.initiatePay({ amount: 500 })).toEqual(notSent);
    expect(server.seen).toHaveLength(7);
  });

  it('is asked again as soon as it has answered an order, even by a refusal', async () => {
    const { server, recover } = await hanging(json(400, { message: 'no' }));
    const client = impatient(server.url, { timeoutMs: RECOVERY_LIMIT_MS });
    await timeOut(client, 5);
    recover();
    expect(await client.paymentStatus('T1')).toEqual(heldBack);
    await client.directPay({ amount: 500, phone: '670000001' });
    expect(await client.paymentStatus('T1')).toMatchObject({ kind: 'unknown' });
  });

  it('is asked one question after ten seconds, and all of them once that is answered', async () => {
    const { server, recover } = await hanging();
    const client = impatient(server.url, { timeoutMs: RECOVERY_LIMIT_MS });
    await timeOut(client, 5);
    recover();
    time += 9_999;
    expect(await client.transactionsOf('col_1', false)).toEqual(heldBack);
    time += 1;
    const both = [client.transactionsOf('col_1', false), client.transactionsOf('col_2', false)];
    expect(await Promise.all(both)).toEqual([{ kind: 'listed', transactions: [] }, heldBack]);
    expect(await client.transactionsOf('col_2', false)).toEqual({ kind: 'listed', transactions: [] });
  });

  it('is still asked by the client of the other service', async () => {
    const { server } = await hanging();
    await timeOut(impatient(server.url), 5);
    const other = await impatient(server.url, { service: 'payout' }).paymentStatus('T1');
    expect(other).toMatchObject({ reason: `no answer within ${LIMIT_MS} ms` });
  });

  it('is not taken for one that refuses connections: that one is asked each time', async () => {
    const client = impatient(CLOSED_URL);
    const answers = await timeOut(client, 8);
    for (const answer of answers) expect(answer).toMatchObject({ reason: 'the connection was refused' });
  });
});
