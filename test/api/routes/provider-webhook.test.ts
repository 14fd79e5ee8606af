import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { useApi, WEBHOOK_TOKEN } from '../../support/api-under-test.js';

const address = `/webhooks/provider/${WEBHOOK_TOKEN}`;
const notification = { transId: 'T1', status: 'SUCCESSFUL', externalId: 'col_0123' };

describe("the provider's notification", () => {
  const api = useApi();

  it.each(['wrong', `${WEBHOOK_TOKEN}x`, WEBHOOK_TOKEN.slice(0, -1), WEBHOOK_TOKEN.toUpperCase()])(
    'with the token %p finds what any unknown address finds',
    async (token) => {
      const unknown = await api.ask('POST', '/nowhere', { headers: { 'x-request-id': 'r' } });
      const answer = await api.ask('POST', `/webhooks/provider/${token}`, {
        body: notification,
        headers: { 'x-request-id': 'r' },
      });
      expect(answer.status).toBe(404);
      expect(answer.text).toBe(unknown.text);
    },
  );

  it.each([
    ['no JSON', 'nonsense'],
    ['an empty body', ''],
    ['a list', []],
    ['nothing that names a payment', { status: 'SUCCESSFUL', amount: 500 }],
    ['a transId that an address would swallow', { transId: '.' }],
  ])('is not acknowledged while it can be kept nowhere: with %s', async (_, body) => {
    const { status } = await api.ask('POST', address, { body });
    expect(status).toBe(503);
  });

  it.each(['a/b', 'a\\b', 'a?b#c', '100%', '...', 'a\u0000b', 'é', 'x'.repeat(200)])(
    "is passed on with the transId %p: the provider's ids are its own affair",
    async (transId) => {
      expect((await api.ask('POST', address, { body: { ...notification, transId } })).status).toBe(503);
    },
  );

  it.each(['col_0123', undefined, null, 'order-17', 'col_', 'col_a b', '../col_1'])(
    'is answered 503 while Temporal cannot take it, so that it comes again: for %p',
    async (externalId) => {
      const { status, headers } = await api.ask('POST', address, { body: { ...notification, externalId } });
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    },
  );

  it('is read whatever its content type, and whatever else it holds', async () => {
    const body = JSON.stringify({ ...notification, email: 5, amount: 'many', more: {} });
    const { status } = await api.ask('POST', address, { body, headers: { 'content-type': 'text/plain' } });
    expect(status).toBe(503);
  });

  it('is refused when it is above 64 KiB', async () => {
    const { status } = await api.ask('POST', address, {
      body: { ...notification, reason: 'x'.repeat(70_000) },
    });
    expect(status).toBe(413);
    expect(await api.metrics()).toContain('result="too_large"} 1');
  });

  it('is taken by POST, PUT, PATCH and GET', async () => {
    const send = async (method: string, query: string, body?: string) =>
      (await fetch(`${api.url}${address}${query}`, { method, ...(body && { body }) })).status;
    expect(await send('PUT', '', JSON.stringify(notification))).toBe(503);
    expect(await send('PATCH', '', JSON.stringify(notification))).toBe(503);
    expect(await send('GET', '?transId=T1')).toBe(503);
  });

  it('is a POST, if there is nothing in it', async () => {
    for (const method of ['OPTIONS', 'DELETE', 'QUERY']) {
      expect((await api.ask(method, `${address}?transId=T1`)).status).toBe(405);
    }
    for (const [method, body] of [['PUT'], ['GET'], ['PUT', null], ['PATCH', {}]] as const) {
      const { status, headers } = await api.ask(method, address, { body });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
    const { status, headers } = await api.ask('GET', `${address}wrong?transId=T1`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    expect(await api.metrics()).toContain('result="malformed"} 0');
  });
});

describe('a notification that is no HTTP', () => {
  const api = useApi();
  const send = async (bytes: string) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.end(bytes);
    return await text(socket);
  };
  const counted = async (result: string) =>
    Number(new RegExp(`sanaga_provider_webhooks_total{result="${result}"} (\\d+)`).exec(await api.metrics())?.[1]);

  it.each([
    ['a header with a space in its name', `POST ${address} HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n{}`],
    ['a method that nobody knows', `NOTIFY-ME ${address} HTTP/1.1\r\nHost: x\r\n\r\n{}`],
    ['another version', `POST ${address} HTTP/9.9\r\nHost: x\r\n\r\n{}`],
    ['two lengths', `POST ${address} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['headers of 20 kB', `POST ${address} HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n{}`],
    ['a whole address', `post  http://sanaga.example${address} HTTP/1.1\r\nHost: x\r\n\r\n{}`],
  ])('is counted as unread, and logged without its address: %s', async (_, bytes) => {
    const before = await counted('malformed');
    expect(await send(bytes)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await counted('malformed')).toBe(before + 1);
    const line = JSON.parse(api.lines.findLast((one) => one.includes('read as HTTP')) ?? '{}');
    expect(line).toMatchObject({
      caller: '127.0.0.1',
      result: 'malformed',
      code: expect.stringMatching(/^HPE_/),
    });
    expect(JSON.stringify(line)).not.toContain(WEBHOOK_TOKEN);
  });

  it('to another address, or with a wrong token, raises no alarm of unread ones', async () => {
    const [before, wrong] = [await counted('malformed'), await counted('wrong_token')];
    for (const path of ['/v1/payments', `${address}x`, '/webhooks/provider/', '/']) {
      await send(`POST ${path} HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n{}`);
    }
    expect([await counted('malformed'), await counted('wrong_token')]).toEqual([before, wrong + 1]);
  });
});
