import { get, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Shutdown, serve } from '../../../src/api/http/server.js';

async function start(app: RequestListener, graceMs?: number, more: { maxConnections?: number } = {}) {
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
    expect(headers).toBeLessThan(20_000);
    expect(body).toBeGreaterThan(29_000);
    expect(body).toBeLessThan(45_000);
    await server.stop();
  });

  it('has a limit of connections, and closes one more at once', async () => {
    const server = await start((_, response) => response.end('done'), undefined, { maxConnections: 2 });
    const open = () => connect(server.port, '127.0.0.1').on('error', () => undefined);
    const held = [open(), open()];
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const third = open();
    await new Promise((resolve) => third.resume().once('close', resolve));
    for (const socket of held) socket.destroy();
    await server.stop();
  });
});
