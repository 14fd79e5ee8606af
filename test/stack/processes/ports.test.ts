import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort, isPortFree, listens, steadyPort, untilPortsAreFree } from '../../../stack/processes/ports.js';

describe('a free port', () => {
  it('can be listened on, and is not handed out twice', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, freePort));

    expect(new Set(ports).size).toBe(ports.length);
    for (const port of ports) expect(await isPortFree(port)).toBe(true);
  });

  it('is told from one that is taken', async () => {
    const port = await freePort();
    expect(await listens(port)).toBe(false);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

    expect([await isPortFree(port), await listens(port)]).toEqual([false, true]);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a steady port', () => {
  it('can be listened on, and is none that systems hand out by themselves', async () => {
    const port = await steadyPort();
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  });

  it('is chosen once, though nothing listens on it yet', async () => {
    // That as many random ones all differ by chance happens once in 12,000,000 times.
    const ports = await Promise.all(Array.from({ length: 700 }, steadyPort));
    expect(new Set(ports).size).toBe(ports.length);
  });
});

const PATIENCE_MS = 1_000;

describe('waiting for free ports', () => {
  const open: Server[] = [];

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  async function listenOn(port: number): Promise<Server> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    open.push(server);
    return server;
  }

  const wanted = (port: number) => ({ port, of: 'the API', advice: 'set PORT to another port' });
  const quiet = () => undefined;

  it('is done at once when they are free', async () => {
    const lines: string[] = [];
    await untilPortsAreFree([wanted(await freePort())], (line) => lines.push(line));
    expect(lines).toEqual([]);
  });

  it('says of each one that stays taken what it is for and what to do', async () => {
    const taken = await freePort();
    await listenOn(taken);
    const waiting = untilPortsAreFree([wanted(await freePort()), wanted(taken)], quiet, PATIENCE_MS);
    await expect(waiting).rejects.toThrow(
      `start: port ${taken} for the API is taken: stop what listens there, or set PORT to another port`,
    );
  });

  it('waits for those that are about to be free', async () => {
    const port = await freePort();
    const server = await listenOn(port);
    await untilPortsAreFree([wanted(port)], () => server.close(), 10_000);
    expect(server.listening).toBe(false);
  });
});
