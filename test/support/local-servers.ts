import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { ProviderClientOptions } from '../../src/provider/calls.js';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.js';

/** A request as a server on 127.0.0.1 saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LocalServer {
  readonly port: number;
  readonly url: string;
  /** Connections taken so far. */
  connections(): number;
  close(): Promise<void>;
}

export interface HttpServer extends LocalServer {
  /** Requests read to their end, oldest first. */
  readonly seen: readonly Seen[];
}

export interface SocketServer extends LocalServer {
  /** Everything received, joined; over TLS, decrypted. */
  received(): string;
  /** Returns the number of request lines received. */
  requests(): number;
}

export type Reply = (response: ServerResponse, request: Seen, count: number) => void;
export type OnSocket = (socket: Socket, count: number) => void;

/** A real HTTP server that records every request and then replies as told. */
export async function serveHttp(reply: Reply): Promise<HttpServer> {
  const seen: Seen[] = [];
  const server = createHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      reply(response, one, seen.length);
    });
  });
  return { ...(await listen(server, 'http')), seen };
}

/** A bare TCP server, for what no HTTP server would do. It reads all that comes. */
export async function serveSockets(onSocket: OnSocket): Promise<SocketServer> {
  const { record, ...records } = recorder(onSocket);
  return { ...(await listen(createNetServer(record), 'http')), ...records };
}

/** A bare TLS server; `onSocket` is given each socket once its handshake is done. */
export async function serveTls(options: TlsOptions, onSocket: OnSocket): Promise<SocketServer> {
  const { record, ...records } = recorder(onSocket);
  const server = createTlsServer(options, record);
  // A client that mistrusts the certificate hangs up: that is the client's good right.
  server.on('tlsClientError', () => {});
  return { ...(await listen(server, 'https')), ...records };
}

const open = new Set<LocalServer>();

const clients: ProviderClient[] = [];

/**
 * A client of the collecting service at this address, unless the options say otherwise; {@link closeServers} closes it.
 */
export function clientOf(url: string, options: Partial<ProviderClientOptions> = {}): ProviderClient {
  const client = createProviderClient({
    service: 'collection',
    url,
    apiUser: 'user-of-shop',
    apiKey: 'key-of-shop',
    timeoutMs: 120_000,
    ...options,
  });
  clients.push(client);
  return client;
}

/** Closes what a test left open, whether it passed or not: for `afterEach`. */
export async function closeServers(): Promise<void> {
  for (const client of clients.splice(0)) client.close();
  await Promise.all([...open].map((server) => server.close()));
}

/** Answers with JSON. */
export function json(statusCode: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return text(statusCode, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

/** Answers with text of any kind. */
export function text(statusCode: number, body: string, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(statusCode, headers).end(body);
  };
}

/** Address where nothing listens, now or later: the port is reserved, and never handed out. */
export const CLOSED_URL = 'http://127.0.0.1:1';

function recorder(onSocket: OnSocket) {
  let count = 0;
  let received = '';
  return {
    record(socket: Socket) {
      count += 1;
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      onSocket(socket, count);
    },
    received: () => received,
    requests: () => received.match(/(?:GET|POST) \S+ HTTP\/1\.1\r\n/g)?.length ?? 0,
  };
}

async function listen(server: Server, scheme: string): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const local: LocalServer = {
    port: address.port,
    url: `${scheme}://127.0.0.1:${address.port}`,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        open.delete(local);
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  open.add(local);
  return local;
}
