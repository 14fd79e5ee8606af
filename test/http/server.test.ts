import { get, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { serve, type UnparsedRequest } from '../../src/http/server.js';
import { Shutdown } from '../../src/process/shutdown.js';

interface Limits {
  readonly maxConnections?: number;
  readonly maxOfAddress?: number;
  readonly trustedProxies?: number;
  readonly onUnparsed?: (request: UnparsedRequest) => void;
}

async function start(app: RequestListener, graceMs?: number, more: Limits = {}) {
  const shutdown = new Shutdown();
  const options = {
    host: '127.0.0.1',
    port: 0,
    shutdown,
    ...(graceMs !== undefined && { graceMs }),
    ...more,
  };
  const serving = await serve(app, options);
  return { ...serving, shutdown, url: `http://127.0.0.1:${serving.port}` };
}

describe('a server that is told to stop', () => {
  it('lets a request in flight finish, takes no more, and then is gone', async () => {
    let finish = () => {};
    let arrived = () => {};
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const server = await start((_, response) => {
      finish = () => response.end('done');
      arrived();
    });
    const answer = fetch(server.url).then((response) => response.text());
    await inFlight;
    const stopped = server.stop();
    await expect(fetch(server.url)).rejects.toThrow();
    finish();
    expect(await answer).toBe('done');
    await stopped;
  });

  it('ends reads that wait, at once', async () => {
    const server = await start((_, response) => {
      const wait = (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve());
          arrived();
        });
      server.shutdown.reads.within(60_000, wait).then(() => response.end('as it stands'));
    });
    let arrived = () => {};
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const answer = fetch(server.url).then((response) => response.text());
    await waiting;
    await server.stop();
    expect(await answer).toBe('as it stands');
  });

  it('cuts what does not finish within the grace period', async () => {
    const server = await start(() => {}, 50);
    const request = get(server.url);
    const cut = new Promise((resolve) => request.once('error', resolve));
    await new Promise((resolve) => request.once('socket', (socket) => socket.once('connect', resolve)));
    await server.stop();
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  });

  it('is not held up by a connection that is kept alive', async () => {
    const server = await start((_, response) => response.end('done'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await server.stop();
    socket.destroy();
  });

  it('says that an address is taken', async () => {
    const server = await start((_, response) => response.end());
    const again = serve(() => {}, { host: '127.0.0.1', port: server.port, shutdown: new Shutdown() });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await server.stop();
  });
});

describe('a server', () => {
  it('closes a connection whose headers are not there after 10 s, and a request that is not after 30 s', async () => {
    const server = await start((request, response) => request.resume().on('end', () => response.end()));
    const openedAt = performance.now();
    const closedAfter = (begin: string) =>
      new Promise<number>((resolve) => {
        const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
        socket.write(begin);
        socket.resume().once('close', () => resolve(performance.now() - openedAt));
      });
    const [headers, body] = await Promise.all([
      closedAfter('GET / HTTP/1.1\r\nHost: x\r\n'),
      closedAfter('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n1'),
    ]);
    // Node itself looks every 30 s, so that they acted after 30 and 60.
    expect(headers).toBeGreaterThan(9_000);
    expect(headers).toBeLessThan(25_000);
    expect(body).toBeGreaterThan(29_000);
    expect(body).toBeLessThan(55_000);
    await server.stop();
  });

  it('answers the requests of one connection one at a time, in their order', async () => {
    let underWay = 0;
    const together: number[] = [];
    const server = await start((request, response) => {
      together.push(++underWay);
      setImmediate(() => response.end(`${request.url};`));
      response.once('finish', () => underWay--);
    });
    const socket = connect(server.port, '127.0.0.1');
    const answers = textOf(socket);
    const last = '/9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    socket.write(`${Array.from({ length: 9 }, (_, index) => asked(`/${index}`)).join('')}GET ${last}`);
    expect((await answers).match(/\/\d;/g)).toEqual(Array.from({ length: 10 }, (_, index) => `/${index};`));
    expect(together).toEqual(Array(10).fill(1));
    await server.stop();
  });

  it.each([
    ['400 Bad Request', 'HPE_INVALID_METHOD', 'NONSENSE / HTTP/1.1\r\n\r\n'],
    ['400 Bad Request', 'HPE_INVALID_HEADER_TOKEN', 'GET / HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n'],
    ['431 Request Header', 'HPE_HEADER_OVERFLOW', `GET / HTTP/1.1\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`],
  ])('answers %s to what is no request, ends the connection, and says so: %s', async (status, code, sent) => {
    const unparsed: UnparsedRequest[] = [];
    const server = await start(() => undefined, undefined, {
      onUnparsed: (request) => void unparsed.push(request),
    });
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    const answers = textOf(socket);
    socket.write(sent);
    expect(await answers).toContain(`HTTP/1.1 ${status}`);
    expect(unparsed).toMatchObject([{ code, address: '127.0.0.1' }]);
    expect(unparsed[0]?.packet.toString('latin1')).toContain(sent.slice(0, 20));
    await server.stop();
  });

  it('writes nothing into the middle of an answer', async () => {
    const server = await start((_, response) => void response.write('half'));
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    const answers = textOf(socket);
    socket.write(asked('/'));
    socket.once('data', () => socket.write('NONSENSE\r\n\r\n'));
    expect(await answers).not.toContain('400');
    await server.stop();
  });

  it('ends a connection on which a flood of requests waits, and makes no answers for it', async () => {
    let calls = 0;
    const server = await start(() => {
      calls++;
    });
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.write(asked('/').repeat(1_600));
    await closed(socket);
    expect(calls).toBe(1);
    await server.stop();
  });
});

const asked = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

const closed = (socket: Socket) => new Promise((resolve) => socket.resume().once('close', resolve));

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

describe("a server's limit of connections", () => {
  /** A server that answers `/`, and never anything else. */
  async function startLimited(limits: Limits) {
    let arrived = () => {};
    const app: RequestListener = ({ url }, response) => (url === '/' ? response.end('done') : arrived());
    const server = await start(app, 50, limits);
    const opened: Socket[] = [];
    return {
      async stop() {
        for (const socket of opened) socket.destroy();
        await server.stop();
      },
      /** Asks on a connection of its own, and says what came of it first. */
      async ask(localAddress = '127.0.0.1') {
        const socket = this.open('/', localAddress);
        const answered = new Promise((resolve) => socket.once('data', () => resolve('answered')));
        const outcome = await Promise.race([answered, closed(socket).then(() => 'closed')]);
        return { socket, outcome };
      },
      /** Keeps a connection busy. */
      async occupy() {
        const taken = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        this.open('/long', '127.0.0.1');
        await taken;
      },
      open(path: string, localAddress: string) {
        const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
        opened.push(socket.on('error', () => undefined));
        socket.write(asked(path));
        return socket;
      },
    };
  }

  it('refuses one more when all are busy', async () => {
    const server = await startLimited({ maxConnections: 2 });
    await server.occupy();
    await server.occupy();
    expect((await server.ask()).outcome).toBe('closed');
    await server.stop();
  });

  it('ends the connection that has been idle for longest in favour of a new one', async () => {
    const server = await startLimited({ maxConnections: 3 });
    await server.occupy();
    const first = await server.ask();
    const second = await server.ask();
    const ended = closed(first.socket);
    expect((await server.ask()).outcome).toBe('answered');
    await ended;
    expect(second.socket.destroyed).toBe(false);
    await server.stop();
  });

  it('leaves other addresses their part', async () => {
    const server = await startLimited({ maxConnections: 4, maxOfAddress: 2 });
    await server.occupy();
    await server.occupy();
    expect((await server.ask()).outcome).toBe('closed');
    expect((await server.ask('127.0.0.2')).outcome).toBe('answered');
    await server.stop();
  });

  it('takes an idle connection from the address that has the most', async () => {
    const server = await startLimited({ maxConnections: 3 });
    const other = await server.ask('127.0.0.2');
    const flood = await server.ask();
    await server.ask();
    const ended = closed(flood.socket);
    expect((await server.ask('127.0.0.3')).outcome).toBe('answered');
    await ended;
    expect(other.socket.destroyed).toBe(false);
    await server.stop();
  });
});
