import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { post } from '../../bench/load/http.js';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

let server: Server;
afterEach(() => void server.close());

/** Answers so many requests of each connection, and resets it under the next one. */
async function resetsAfter(answers: number): Promise<{ url: string; seen: { requests: number } }> {
  const seen = { requests: 0 };
  server = createServer((socket) => {
    let answered = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      seen.requests++;
      if (answered++ < answers) socket.write(ANSWER);
      else socket.resetAndDestroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

it('sends again what met a kept connection that was being closed', async () => {
  const { url, seen } = await resetsAfter(1);
  expect(await post(url, {})).toEqual({ status: 200, body: '{}' });
  expect(await post(url, {})).toEqual({ status: 200, body: '{}' });
  expect(seen.requests).toBe(3);
});

it('sends nothing again over a connection of its own', async () => {
  const { url, seen } = await resetsAfter(0);
  await expect(post(url, {})).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(seen.requests).toBe(1);
});
