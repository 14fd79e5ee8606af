import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  createMerchantNotifier,
  type MerchantEndpoint,
  type MerchantNotification,
} from '../../src/delivery/merchant.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import { expectDocumentedWebhook } from '../support/documented.js';
import { closeServers, serveTls } from '../support/local-servers.js';
import { begun, HOUR, linkOrder, MINUTE } from '../support/orders.js';
import { selfSigned } from '../support/self-signed.js';

/** Time limit of a try that isn't meant to time out, in ms. */
const PATIENCE_MS = 30_000;

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const notification: MerchantNotification = {
  id: 'evt_col_1_1',
  type: 'payment.succeeded',
  timestamp: '2026-01-01T00:00:00.000Z',
  merchant: 'shop',
  payment: toPayment(begun(linkOrder)),
};

interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const NOTHING: Got = { path: '', headers: {}, body: '' };
const got: Got[] = [];
let answer:
  | number
  | { redirect: string }
  | { status: number; retryAfter: string }
  | 'nothing'
  | ((got: Got) => number) = 200;
const merchant = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { url: path = '', headers } = request;
  const one = { path, headers, body: Buffer.concat(chunks).toString() };
  got.push(one);
  if (typeof answer === 'function') {
    response.writeHead(answer(one)).end();
    return;
  }
  if (answer === 'nothing') return;
  if (typeof answer === 'number') response.writeHead(answer).end();
  else if ('retryAfter' in answer) {
    response.writeHead(answer.status, { 'retry-after': answer.retryAfter }).end();
  } else response.writeHead(307, { location: answer.redirect }).end();
});
const url = () => `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/hook`;
/** A notifier with these endpoints for every merchant. */
const notifierOf = (...endpoints: readonly MerchantEndpoint[]) =>
  createMerchantNotifier({ endpointsOf: () => endpoints, timeoutMs: PATIENCE_MS, allowPrivate: true });

const notify = () => notifierOf({ url: url(), secrets: [SECRET] }).notifyMerchant(notification);

const notifyAt = (url: string, timeoutMs: number) => {
  const endpoint = { url, secrets: [SECRET] };
  return createMerchantNotifier({
    endpointsOf: () => [endpoint],
    timeoutMs,
    allowPrivate: true,
  }).notifyMerchant(notification);
};

const MEBIBYTE = 1024 * 1024;

/** A merchant who answers the first bytes of a request as told; `closed` ends it once the connection has ended. */
async function answerRaw(answerOn: (socket: Socket) => void) {
  let connection: Socket | undefined;
  const server = createTcpServer((socket) => {
    connection = socket;
    socket.on('error', () => undefined);
    socket.once('data', () => answerOn(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async closed() {
      server.close();
      const open = connection?.closed === false ? connection : undefined;
      // Not `once`, which rejects when the other side has reset the connection.
      await new Promise<void>((resolve) => {
        if (open === undefined) resolve();
        else open.once('close', () => resolve());
      });
    },
  };
}

beforeAll(() => new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  merchant.closeAllConnections();
  merchant.close();
});
beforeEach(() => {
  got.length = 0;
  answer = 200;
});

describe('a notification to the merchant', () => {
  it('is a Standard Webhook that the merchant can verify, with the payment as its data', async () => {
    expect(await notify()).toEqual({ kind: 'delivered' });
    const [{ headers, body } = NOTHING] = got;
    const verified = new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(verified).toEqual({
      type: 'payment.succeeded',
      timestamp: notification.timestamp,
      merchant: 'shop',
      data: JSON.parse(JSON.stringify(notification.payment)),
    });
    expect(headers['webhook-id']).toBe('evt_col_1_1');
    expectDocumentedWebhook({ text: body, headers: new Headers(headers as Record<string, string>) });
  });

  it('carries the headers of a trace, which replace none of its own', async () => {
    const endpoints = [{ url: url(), secrets: [SECRET] }];
    const headers = () => ({ traceparent: '00-trace', 'webhook-id': 'another' });
    const options = { endpointsOf: () => endpoints, timeoutMs: PATIENCE_MS, allowPrivate: true, headers };
    await createMerchantNotifier(options).notifyMerchant(notification);
    expect(got.at(-1)?.headers).toMatchObject({ traceparent: '00-trace', 'webhook-id': notification.id });
  });

  it('is signed with both secrets during a rotation, so that either verifies it', async () => {
    const next = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    await notifierOf({ url: url(), secrets: [SECRET, next] }).notifyMerchant(notification);
    const [{ headers, body } = NOTHING] = got;
    for (const secret of [SECRET, next]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
    }
  });

  it("can't be verified with another secret", async () => {
    await notify();
    const [{ headers, body } = NOTHING] = got;
    const other = new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(() => other.verify(body, headers as Record<string, string>)).toThrow();
  });

  it.each([204, 299])('is delivered when the merchant answers %d', async (status) => {
    answer = status;
    expect(await notify()).toEqual({ kind: 'delivered' });
  });

  it.each([301, 400, 410, 500, 503])(
    'is not delivered when the merchant answers %d, and is tried once',
    async (status) => {
      answer = status;
      expect(await notify()).toEqual({ kind: 'failed', reason: `answered ${status}` });
      expect(got).toHaveLength(1);
    },
  );

  it.each([
    ['in seconds', () => '7200', 2 * HOUR, 2 * HOUR],
    ['as a date', () => new Date(Date.now() + 2 * HOUR).toUTCString(), 2 * HOUR - MINUTE, 2 * HOUR + 2_000],
    ['in seconds, a day at most', () => '999999999', 24 * HOUR, 24 * HOUR],
  ])('passes on for how long the merchant asks to be left alone, %s', async (_, value, least, most) => {
    for (const status of [429, 503]) {
      answer = { status, retryAfter: value() };
      const outcome = await notify();
      expect(outcome).toEqual({
        kind: 'failed',
        reason: `answered ${status}`,
        retryAfterMs: expect.any(Number),
      });
      const { retryAfterMs } = outcome as { retryAfterMs: number };
      expect(retryAfterMs).toBeGreaterThanOrEqual(least);
      expect(retryAfterMs).toBeLessThanOrEqual(most);
    }
  });

  it('follows no redirect', async () => {
    answer = { redirect: url() };
    expect(await notify()).toMatchObject({ kind: 'failed' });
    expect(got).toHaveLength(1);
  });

  it("goes to no address whose certificate isn't trusted, whatever the environment says", async () => {
    const server = await serveTls(selfSigned, (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    // Node's own environment: a suite has a copy of it.
    const env: NodeJS.ProcessEnv = runInThisContext('process.env');
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = env;
    env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await notifyAt(server.url, PATIENCE_MS)).toEqual({
        kind: 'failed',
        reason: 'no answer (DEPTH_ZERO_SELF_SIGNED_CERT)',
      });
    } finally {
      if (before === undefined) delete env.NODE_TLS_REJECT_UNAUTHORIZED;
      else env.NODE_TLS_REJECT_UNAUTHORIZED = before;
      await closeServers();
    }
    expect(server.requests()).toBe(0);
  });

  it('is not delivered when the merchant does not answer in time', async () => {
    answer = 'nothing';
    expect(await notifyAt(url(), 300)).toEqual({ kind: 'failed', reason: 'timed out' });
  });

  describe('with an answer', () => {
    /** Bytes of a body that were handed to the connection. */
    let sent = 0;
    /** Answers with the head, and then with chunks for as long as somebody takes them. */
    const answerForever = (head: string, chunk: Buffer) =>
      answerRaw(async (socket) => {
        sent = 0;
        socket.write(`HTTP/1.1 ${head}\r\ntransfer-encoding: chunked\r\n\r\n`);
        const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
        while (!socket.destroyed) {
          sent += chunk.length;
          socket.write(framed);
          // A write to this machine itself may be done at once, so that nothing else would ever get its turn.
          await pause(1);
        }
      });

    it.each([
      ['of 200 OK', { kind: 'delivered' }],
      ['of 500 Oh no', { kind: 'failed', reason: 'answered 500' }],
    ])('%s that never ends is judged by its status, and not read on', async (head, delivery) => {
      const raw = await answerForever(head.slice(3), Buffer.alloc(65_536, 'x'));
      expect(await notifyAt(raw.url, PATIENCE_MS)).toEqual(delivery);
      // Beyond what is read, there is only what the connection's buffers hold.
      expect(sent).toBeLessThan(8 * MEBIBYTE);
      await raw.closed();
    });

    it('that is a gzip bomb is delivered, and nothing is unpacked', async () => {
      // A gzip file may consist of many, so that the whole of it is never in memory here.
      const bomb = Buffer.concat(Array<Buffer>(512).fill(gzipSync(Buffer.alloc(MEBIBYTE))));
      const raw = await answerRaw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.end(bomb);
      });
      const before = process.memoryUsage();
      let peak = 0;
      const sampling = setInterval(() => {
        const { arrayBuffers } = process.memoryUsage();
        peak = Math.max(peak, arrayBuffers - before.arrayBuffers);
      }, 1);
      expect(await notifyAt(raw.url, PATIENCE_MS)).toEqual({ kind: 'delivered' });
      clearInterval(sampling);
      expect(peak).toBeLessThan(16 * MEBIBYTE);
      await raw.closed();
    });

    it('that breaks off in its body is judged by its status', async () => {
      const raw = await answerRaw((socket) => {
        socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 1000\r\n\r\nhalf');
        setTimeout(() => socket.destroy(), 50);
      });
      expect(await notifyAt(raw.url, PATIENCE_MS)).toEqual({ kind: 'delivered' });
      await raw.closed();
    });

    it('that trickles is not waited for beyond the time limit', async () => {
      const raw = await answerRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n');
        const drip = setInterval(() => socket.write('x'), 20);
        socket.once('close', () => clearInterval(drip));
      });
      // The whole of it would take weeks.
      expect(await notifyAt(raw.url, 2_000)).toEqual({ kind: 'delivered' });
      await raw.closed();
    });

    it.each([
      ['that switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
      ['that is not HTTP', 'nonsense\r\n\r\n'],
      ['that is cut off before its status', 'HTTP/1.'],
    ])('%s is not delivered', async (_, words) => {
      const raw = await answerRaw((socket) => socket.end(words));
      expect(await notifyAt(raw.url, PATIENCE_MS)).toMatchObject({ kind: 'failed' });
      await raw.closed();
    });
  });

  it('has nowhere to go without an address', async () => {
    expect(await notifierOf().notifyMerchant(notification)).toEqual({ kind: 'noAddress' });
  });

  it('says that a connection was refused, without the address', async () => {
    const raw = await answerRaw((socket) => socket.end());
    await raw.closed();
    expect(await notifyAt(raw.url, PATIENCE_MS)).toEqual({
      kind: 'failed',
      reason: 'refused the connection',
    });
  });
});

describe("a merchant's endpoints", () => {
  const SECOND = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const first = () => ({ url: url(), secrets: [SECRET] });
  const second = () => ({ url: `${url()}/second`, secrets: [SECOND] });

  it('each get the notification, signed with their own secret', async () => {
    expect(await notifierOf(first(), second()).notifyMerchant(notification)).toEqual({ kind: 'delivered' });
    expect(got).toHaveLength(2);
    const verified = got.map(({ headers, body, path }) =>
      new Webhook(path === '/hook' ? SECRET : SECOND).verify(body, headers as Record<string, string>),
    );
    expect(verified).toEqual([
      expect.objectContaining({ merchant: 'shop' }),
      expect.objectContaining({ merchant: 'shop' }),
    ]);
  });

  it('get the types alone that they take', async () => {
    const failures = { ...second(), types: ['payment.failed'] as const };
    expect(await notifierOf(first(), failures).notifyMerchant(notification)).toEqual({ kind: 'delivered' });
    expect(got.map(({ path }) => path)).toEqual(['/hook']);
    expect(await notifierOf(failures).notifyMerchant(notification)).toEqual({ kind: 'noAddress' });
  });

  it('that have not taken it get it again, and no others', async () => {
    answer = ({ path }) => (path === '/hook' ? 500 : 204);
    const { notifyMerchant } = notifierOf(first(), second());
    const failed = await notifyMerchant(notification);
    expect(failed).toEqual({
      kind: 'failed',
      reason: 'address 1: answered 500',
      takenBy: [expect.stringMatching(/^[0-9a-f]{12}$/)],
    });
    got.length = 0;
    answer = 200;
    const again = { ...notification, takenBy: failed.kind === 'failed' ? failed.takenBy : [] };
    expect(await notifyMerchant(again)).toEqual({ kind: 'delivered' });
    expect(got.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('that can not be sent to are told of, and hold up no others either', async () => {
    const faults: unknown[] = [];
    const endpoints = [first(), { ...second(), secrets: ['whsec_not-base64-but-base64url__-_'] }];
    const { notifyMerchant } = createMerchantNotifier({
      endpointsOf: () => endpoints,
      timeoutMs: PATIENCE_MS,
      allowPrivate: true,
      onFault: (error, name) => faults.push([name, error]),
    });
    const failed = await notifyMerchant(notification);
    expect(failed).toEqual({
      kind: 'failed',
      reason: 'address 2: not sent: the worker could not sign or send it, and its log says why',
      takenBy: [expect.stringMatching(/^[0-9a-f]{12}$/)],
    });
    expect(faults).toEqual([['shop', expect.any(Error)]]);
    const again = { ...notification, takenBy: failed.kind === 'failed' ? failed.takenBy : [] };
    expect(await notifyMerchant(again)).toMatchObject({ kind: 'failed', takenBy: again.takenBy });
    expect(got.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('of one merchant are never sent what belongs to another', async () => {
    const theirs = first();
    const { notifyMerchant } = createMerchantNotifier({
      endpointsOf: (merchant) => (merchant === 'rival' ? [theirs] : undefined),
      timeoutMs: PATIENCE_MS,
      allowPrivate: true,
    });
    expect(await notifyMerchant(notification)).toEqual({
      kind: 'failed',
      reason: 'not sent: the merchant is not known to the worker',
    });
    expect(got).toEqual([]);
  });
});

describe("a merchant's notifications", () => {
  it('are sent at once, however long its server took for those before', async () => {
    const slow = createServer((_request, response) => {
      setTimeout(() => response.writeHead(204).end(), 1_100);
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const { port } = slow.address() as AddressInfo;
    const { notifyMerchant } = notifierOf({ url: `http://127.0.0.1:${port}/`, secrets: [SECRET] });
    for (let round = 0; round < 2; round++) {
      const tries = Array.from({ length: 3 }, () => notifyMerchant(notification));
      expect(await Promise.all(tries)).toEqual(tries.map(() => ({ kind: 'delivered' })));
    }
    slow.close();
  });
});
