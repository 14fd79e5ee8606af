import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Shutdown } from '../process/shutdown.js';
import { Connections } from './connections.js';

/** Time limits for a caller to send its headers, and its whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Interval between two checks of these limits, and the most that they act late. Node's default is 30 s. */
const CHECKED_EVERY_MS = 1_000;

/** Connections at a time, far more than callers need: a stranger could otherwise take all that the process may open. */
const MAX_CONNECTIONS = 5_000;

/** Connections of one address at a time, where no proxy stands before the server: a proxy's are everybody's. */
const MAX_OF_ADDRESS = 1_000;

/** The longest silence on a connection in the middle of a request: longer than the API ever waits. */
const SILENT_MS = 90_000;

/** Longer than the minute for which load balancers usually keep an idle connection: they should end it. */
const KEEP_ALIVE_MS = 65_000;

/** The error of Node's parser for a request that it refuses. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The statuses of requests that aren't just wrong. */
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export interface RunningServer {
  /** The port it listens on: the one asked for, or the one the system chose for 0. */
  readonly port: number;
  /**
   * Accepts no more requests, lets those in flight finish for some seconds, and resolves when every
   * connection is closed. Further calls wait for the same end.
   */
  stop(): Promise<void>;
}

/** A request that Node's parser has refused, so that no app sees it. */
export interface UnparsedRequest {
  /** Node's name for what is wrong, such as `HPE_INVALID_METHOD`. */
  readonly code: string | undefined;
  /** The bytes in which it is; none where they never came. */
  readonly packet: Buffer;
  readonly address: string | undefined;
}

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly shutdown: Shutdown;
  /** ms for which requests in flight may go on after {@link RunningServer.stop}. */
  readonly graceMs?: number;
  /** Called with each request that can't be parsed. */
  readonly onUnparsed?: (request: UnparsedRequest) => void;
  /** Proxies before the server. Their connections aren't limited by address. */
  readonly trustedProxies?: number;
  /** Connections at a time; {@link MAX_CONNECTIONS} by default. */
  readonly maxConnections?: number;
  /** Connections of one address at a time; {@link MAX_OF_ADDRESS} by default, and without limit behind a proxy. */
  readonly maxOfAddress?: number;
}

/**
 * Serves an app over HTTP.
 *
 * @throws {Error} of the system when the address is in use.
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<RunningServer> {
  const { host, port, shutdown, graceMs = 8_000, trustedProxies = 0, onUnparsed } = options;
  const { maxConnections: max = MAX_CONNECTIONS } = options;
  const { maxOfAddress: ofAddress = trustedProxies > 0 ? max : MAX_OF_ADDRESS } = options;
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECKED_EVERY_MS,
  });
  const connections = new Connections(app, { max, ofAddress });
  connections.watch(server);
  server.on('clientError', (error: ParserError, socket: Socket) => {
    onUnparsed?.({
      code: error.code,
      packet: error.rawPacket ?? Buffer.alloc(0),
      address: socket.remoteAddress,
    });
    // As Node does without a listener.
    if (connections.isAnswerable(socket)) {
      socket.write(`HTTP/1.1 ${REFUSALS[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroy();
  });
  server.timeout = SILENT_MS;
  const listening = await listen(server, host, port);
  let stopped: Promise<void> | undefined;
  return {
    port: listening.port,
    stop() {
      stopped ??= close(server, shutdown, graceMs);
      return stopped;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`not listening on ${host}:${port}`);
  return address;
}

async function close(server: Server, shutdown: Shutdown, graceMs: number): Promise<void> {
  shutdown.begin();
  // Responses begun before the shutdown keep their connections, and so the server, open.
  const sweep = setInterval(() => server.closeIdleConnections(), 100);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(force);
}
