import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createKeepAliveAgents } from '../../src/provider/keep-alive-agents.js';
import { closeServers, json, serveHttp } from './local-servers.js';

afterEach(closeServers);

const IDLE_MS = 60;

function ask(
  url: string,
  agent: ReturnType<typeof createKeepAliveAgents>['http'],
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

describe('a kept connection', () => {
  it('serves the next request', async () => {
    const server = await serveHttp(json(200, {}));
    const { http } = createKeepAliveAgents({ connectMs: 100 });
    await ask(server.url, http);
    await ask(server.url, http);
    expect(server.connections()).toBe(1);
    http.destroy();
  });

  it('is given up when nothing used it for a while', async () => {
    const server = await serveHttp(json(200, {}));
    const { http } = createKeepAliveAgents({ connectMs: 100, idleMs: IDLE_MS });
    await ask(server.url, http);
    await pause(3 * IDLE_MS);
    await ask(server.url, http);
    expect(server.connections()).toBe(2);
    http.destroy();
  });

  it('is not given up while an answer is awaited', async () => {
    const server = await serveHttp((response) => setTimeout(() => response.end('{}'), 3 * IDLE_MS));
    const { http } = createKeepAliveAgents({ connectMs: 100, idleMs: IDLE_MS });
    await expect(ask(server.url, http)).resolves.toBe(200);
    expect(server.connections()).toBe(1);
    http.destroy();
  });
});
