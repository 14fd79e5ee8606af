import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, startApi } from '../api-under-test.js';

describe('while Temporal is down', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  it('the process is up', async () => {
    expect((await api.ask('GET', '/healthz')).body).toEqual({ status: 'ok' });
  });

  it('it is not ready, and says so soon', async () => {
    const { status, headers, body, ms } = await api.ask('GET', '/readyz');
    expect([status, body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(ms).toBeLessThan(4_000);
  });
});

describe('a Temporal that swallows what it is sent', () => {
  it('makes it not ready within seconds', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const api = await startApi({ address: `127.0.0.1:${port}` });
    const { status, ms } = await api.ask('GET', '/readyz');
    await api.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(status).toBe(503);
    expect(ms).toBeLessThan(6_000);
  });
});

describe('a process that is about to stop', () => {
  it('is not ready', async () => {
    const api = await startApi();
    api.shutdown.begin();
    const { status, body } = await api.ask('GET', '/readyz');
    await api.stop();
    expect(status).toBe(503);
    expect(body.detail).toMatch(/stop/);
  });
});
