import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Shutdown } from './shutdown.js';

/** A server that takes requests. */
export interface Serving {
  /** The port it listens on: the one asked for, or the one the system chose for 0. */
  readonly port: number;
  /**
   * Takes no more requests, lets those in flight finish for some seconds, and resolves when every connection is
   * closed. Calling it again waits for the same end.
   */
  stop(): Promise<void>;
}

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly shutdown: Shutdown;
  /** ms that requests in flight may still take. */
  readonly graceMs?: number;
}

/** How long, in ms, a caller may take to send its headers, and its whole request: slower ones are not merchants. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;

/** Longer, in ms, than the minute for which load balancers commonly keep an idle connection, so that they end it first. */
const KEEP_ALIVE = 65_000;

/**
 * Serves an app over HTTP.
 *
 * @throws Error of the system when the address is taken.
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<Serving> {
  const { host, port, shutdown, graceMs = 8_000 } = options;
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT, requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE },
    app,
  );
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`not listening on ${host}:${port}`);
  return address;
}

async function close(server: Server, shutdown: Shutdown, graceMs: number): Promise<void> {
  shutdown.begin();
  // A connection that is kept alive after an answer begun before the shutdown would hold the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 100);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(force);
}
