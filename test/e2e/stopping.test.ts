import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { newBook, type TestBook } from '../support/books.js';
import { machine, PROJECT, startToRun } from '../support/built.js';
import { eventually } from '../support/eventually.js';

/**
 * Far less than the half minute for which Temporal's native library tries to connect, and waits for Temporal to hear of
 * a worker's end.
 */
const SOON_MS = 20_000;

let book: TestBook;
beforeAll(async () => {
  book = await newBook();
});
afterAll(() => book.drop());

/**
 * Starts a program, sends it a SIGTERM at some time after its first line, and says how it ended, and how many ms it
 * took.
 */
async function terminate(
  program: string,
  address: string,
  when: (said: () => string) => Promise<unknown>,
  settings: NodeJS.ProcessEnv = {},
) {
  const usual = stackSettings({ api: 0, sandbox: 1 }, makeSecrets());
  const env = { ...machine(), ...usual, DATABASE_URL: book.url, ...settings, TEMPORAL_ADDRESS: address };
  const { child, printed, said } = startToRun(program, [], env, PROJECT);
  const exit = once(child, 'exit');
  await printed;
  await when(said);
  const begun = performance.now();
  child.kill('SIGTERM');
  const [code] = await exit;
  return { code, ms: performance.now() - begun };
}

describe('a process whose Temporal takes connections and says nothing', () => {
  const sockets = new Set<Socket>();
  let silent: Server;

  beforeAll(async () => {
    silent = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });

  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it.each(['lib/worker.js', 'lib/server.js'])('%s ends soon after a SIGTERM all the same', async (program) => {
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const connected = once(silent, 'connection');
    const { code, ms } = await terminate(program, address, () => connected);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(SOON_MS);
  });
});

describe('a worker whose Temporal falls silent while it runs', () => {
  let server: DevServer;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
  });
  afterAll(async () => {
    process.kill(server.pid, 'SIGCONT');
    await server.stop();
  });

  it('ends soon after its grace period', async () => {
    const fallSilent = async (said: () => string) => {
      await eventually(
        async () => said(),
        (all) => all.includes('"state":"RUNNING"'),
      );
      process.kill(server.pid, 'SIGSTOP');
    };
    const grace = { WORKER_SHUTDOWN_GRACE: '1s' };
    const { code, ms } = await terminate('lib/worker.js', server.address, fallSilent, grace);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(SOON_MS);
  });
});

describe('a worker that is still starting', () => {
  let server: DevServer;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
  });
  afterAll(() => server.stop());

  it.each([0, 100, 200, 300, 400])('ends soon after a SIGTERM %d ms after its first line', async (delayMs) => {
    const { code, ms } = await terminate('lib/worker.js', server.address, () => pause(delayMs));
    expect(code).toBe(0);
    expect(ms).toBeLessThan(SOON_MS);
  });
});
