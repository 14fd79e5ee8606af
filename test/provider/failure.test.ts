import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import got, { type OptionsOfTextResponseBody, RequestError } from 'got';
import { classifyFailure, type Failure } from '../../src/provider/failure.js';
import { createKeepAliveAgents } from '../../src/provider/http.js';
import {
  CLOSED_URL,
  closeServers,
  type OnSocket,
  serveHttp,
  serveSockets,
  serveTls,
} from '../support/local-servers.js';
import { selfSigned } from '../support/self-signed.js';

afterEach(closeServers);

/** For what doesn't end by itself, in ms. */
const SHORT = { lookup: 500, connect: 500, secureConnect: 500, request: 900 };
/** For what does: a machine that is busy takes its time. */
const LONG = { lookup: 10_000, connect: 10_000, secureConnect: 10_000, request: 20_000 };

const client = got.extend({ method: 'POST', retry: { limit: 0 }, timeout: LONG, throwHttpErrors: false });

/** The time limits for a failure with such a reason. */
const limitsFor = (reason: RegExp) => ({ timeout: reason.source.includes('within') ? SHORT : LONG });

async function failureOf(
  url: string,
  options: OptionsOfTextResponseBody = {},
): Promise<Failure & { error: RequestError }> {
  const error = await client(url, { body: '{"amount":500}', ...options }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RequestError)) throw new Error('The request did not fail', { cause: error });
  return { ...classifyFailure(error), error };
}

/** A name that leads to the given addresses, without asking anyone. */
function leadsTo(...addresses: string[]): OptionsOfTextResponseBody {
  const found: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
  return {
    // biome-ignore lint/suspicious/noExplicitAny: the type of a lookup has an overload for each of its two forms
    dnsLookup: (_name: string, options: any, callback: any) => {
      if (options.all) callback(null, found);
      else callback(null, found[0]?.address, 4);
    },
  };
}

const trusted: OptionsOfTextResponseBody = { https: { certificateAuthority: selfSigned.cert } };
const reset = (socket: Socket) => socket.resetAndDestroy();

describe('a failure before the request left', () => {
  it('is a refused connection', async () => {
    const { sent, reason, error } = await failureOf(CLOSED_URL);
    expect({ sent, reason }).toEqual({ sent: 'no', reason: 'the connection was refused' });
    expect(error.code).toBe('ECONNREFUSED');
  });

  it('is a refusal by every address of a host', async () => {
    const url = CLOSED_URL.replace('127.0.0.1', 'provider.invalid');
    const { sent, reason, error } = await failureOf(url, leadsTo('127.0.0.1', '127.0.0.2'));
    expect({ sent, reason }).toEqual({ sent: 'no', reason: 'the connection was refused' });
    expect(error.cause).toHaveProperty('errors.length', 2);
  });

  it('is a name that does not exist', async () => {
    const { sent, reason } = await failureOf('http://provider.invalid/', { timeout: SHORT });
    expect(sent).toBe('no');
    expect(reason).toMatch(/address was not found|address could not be looked up|no connection within 500 ms/);
  });

  it('is a look-up of the name that takes too long', async () => {
    const { sent, timedOut, reason } = await failureOf('http://provider.invalid/', {
      dnsLookup: () => {},
      timeout: SHORT,
    });
    const limit = 'no connection within 500 ms';
    expect({ sent, timedOut, reason }).toEqual({ sent: 'no', timedOut: true, reason: limit });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('is a certificate that nobody vouches for (%s)', async (version) => {
    const server = await serveTls({ ...selfSigned, minVersion: version, maxVersion: version }, () => {});
    const { sent, reason } = await failureOf(server.url);
    expect({ sent, reason }).toEqual({
      sent: 'no',
      reason: 'no secure connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    await server.close();
    expect(server.received()).toBe('');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('is a certificate of another name (%s)', async (version) => {
    const server = await serveTls({ ...selfSigned, minVersion: version, maxVersion: version }, () => {});
    const url = server.url.replace('127.0.0.1', 'provider.invalid');
    const { sent, reason } = await failureOf(url, { ...leadsTo('127.0.0.1'), ...trusted });
    expect({ sent, reason }).toEqual({
      sent: 'no',
      reason: 'no secure connection could be made (ERR_TLS_CERT_ALTNAME_INVALID)',
    });
    await server.close();
    expect(server.received()).toBe('');
  });

  it.each<[string, OnSocket, RegExp]>([
    [
      'is answered in plain HTTP',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /^no secure .+\(E[A-Z_]+\)$/,
    ],
    ['is reset', reset, /^the connection was reset$|^no secure .+ \(ECONNRESET\)$/],
    ['is ended', (socket) => socket.end(), /^no secure connection could be made \(ECONNRESET\)$/],
    ['gets no answer', () => {}, /^no connection within 500 ms$/],
  ])('is a TLS handshake that %s', async (_, onSocket, expected) => {
    const server = await serveSockets(onSocket);
    const { sent, timedOut, reason } = await failureOf(server.url.replace('http:', 'https:'), limitsFor(expected));
    expect(sent).toBe('no');
    expect(reason).toMatch(expected);
    expect(timedOut).toBe(reason.startsWith('no connection'));
    expect(server.requests()).toBe(0);
  });
});

describe('a failure after the request may have left', () => {
  it.each<[string, OnSocket, RegExp]>([
    [
      'a connection reset after the request',
      (socket) => socket.on('data', () => reset(socket)),
      /^the connection was reset$/,
    ],
    [
      'a connection closed after the request',
      (socket) => socket.on('data', () => socket.end()),
      /^the connection was reset$/,
    ],
    ['silence', () => {}, /^no answer within 900 ms$/],
    [
      'an answer that is not HTTP',
      (socket) => socket.end('SMTP ready\r\n'),
      /^the answer was not valid HTTP \(HPE_[A-Z_]+\)$/,
    ],
    [
      'an answer cut off in its headers',
      (socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-')),
      /^the (connection was reset|answer was not valid HTTP)/,
    ],
    [
      'an answer cut off in its body',
      (socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"transId":"T1"')),
      /^the connection was reset$|ERR_HTTP_CONTENT_LENGTH_MISMATCH/,
    ],
    [
      'an answer that drips',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{');
        const drip = setInterval(() => socket.write(' '), 20);
        socket.on('close', () => clearInterval(drip));
      },
      /^no answer within 900 ms$/,
    ],
  ])('is %s', async (_, onSocket, expected) => {
    const server = await serveSockets(onSocket);
    const { sent, timedOut, reason } = await failureOf(server.url, limitsFor(expected));
    expect(sent).toBe('perhaps');
    expect(reason).toMatch(expected);
    expect(timedOut).toBe(reason.startsWith('no answer'));
    expect(server.connections()).toBe(1);
  });

  it.each(['http', 'https'])('is a reset in the middle of the request (%s)', async (scheme) => {
    const onSocket: OnSocket = (socket) => socket.on('data', () => socket.destroy());
    const server = await (scheme === 'http' ? serveSockets(onSocket) : serveTls(selfSigned, onSocket));
    const body = 'x'.repeat(20_000_000);
    const { sent, reason, error } = await failureOf(server.url, { ...trusted, body });
    expect(error.timings?.upload).toBeUndefined();
    expect({ sent, reason }).toEqual({
      sent: 'perhaps',
      reason: expect.stringMatching(/^the connection was (reset|closed while)/),
    });
  });

  it('is a reset after a request over TLS', async () => {
    const server = await serveTls(selfSigned, (socket) => socket.on('data', () => socket.destroy()));
    const { sent, reason } = await failureOf(server.url, trusted);
    expect({ sent, reason }).toEqual({ sent: 'perhaps', reason: 'the connection was reset' });
    expect(server.requests()).toBe(1);
  });

  it.each<[string, boolean]>([
    ['while', false],
    ['just before', true],
  ])('is a kept connection that ends %s the next request is sent', async (_, before) => {
    const sockets: Socket[] = [];
    const server = await serveSockets((socket) => {
      sockets.push(socket);
      let answered = false;
      socket.on('data', () => {
        if (answered) return reset(socket);
        answered = true;
        return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
      });
    });
    const agent = createKeepAliveAgents({ connectMs: 10_000 });
    await client(server.url, { agent, body: '{}' });
    // No turn of the event loop lies between this and the request, so the client can't know of it.
    if (before) sockets[0]?.resetAndDestroy();
    const { sent, reason, error } = await failureOf(server.url, { agent });
    expect(error.request?.reusedSocket).toBe(true);
    expect(sent).toBe('perhaps');
    expect(reason).toMatch(/^the connection was (reset|closed while)/);
    expect(server.connections()).toBe(1);
    agent.http.destroy();
  });

  it.each(['its caller', 'a time limit of its caller'])('is a request cancelled by %s', async (by) => {
    const caller = new AbortController();
    const server = await serveSockets((socket) => socket.on('data', () => caller.abort()));
    const signal = by === 'its caller' ? caller.signal : AbortSignal.timeout(1_000);
    const { sent, timedOut, reason } = await failureOf(server.url, { signal });
    const cancelled = 'cancelled while waiting for the answer';
    expect({ sent, timedOut, reason }).toEqual({ sent: 'perhaps', timedOut: false, reason: cancelled });
  });
});

describe('a reset of a fresh connection', () => {
  it('counts as unsent only when it was the connecting that failed', async () => {
    const server = await serveSockets(reset);
    const { sent, error } = await failureOf(server.url);
    expect(error.code).toBe('ECONNRESET');
    const duringConnect = Object(error.cause).syscall === 'connect';
    expect(sent).toBe(duringConnect ? 'no' : 'perhaps');
  });
});

describe("a failure's reason", () => {
  it('shows neither address, nor body, nor headers', async () => {
    const server = await serveHttp((response) => response.destroy());
    const url = server.url.replace('//', '//someone:hidden@');
    const { reason } = await failureOf(`${url}/hidden`, { headers: { apikey: 'hidden' }, body: 'hidden' });
    expect(reason).toBe('the connection was reset');
  });

  it('tells a time limit of a second and more in seconds', async () => {
    const server = await serveSockets(() => {});
    const { reason } = await failureOf(server.url, { timeout: { request: 1_000 } });
    expect(reason).toBe('no answer within 1 s');
  });
});
