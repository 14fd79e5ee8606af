import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The plainest HTTP client of Node: the benchmark itself must take little of the machine. */

const agent = new Agent({ keepAlive: true });

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** An answer that doesn't come within this time is none, in ms: nothing here takes as long. */
const ANSWER_LIMIT_MS = 60_000;

/**
 * Sends a JSON body, once; again if a kept connection was closed under it, as servers do to those that are idle for
 * some seconds.
 *
 * @throws Error of the network, or when there is no answer in time.
 */
export async function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const content = JSON.stringify(body);
  const sent = request(url, {
    agent,
    method: 'POST',
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(content)),
      ...headers,
    },
  });
  sent.end(content);
  let response: IncomingMessage | undefined;
  try {
    [response] = await once(sent, 'response');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (sent.reusedSocket && code === 'ECONNRESET') return await post(url, body, headers);
    throw error;
  }
  if (response === undefined) throw new Error('no response');
  return { status: response.statusCode ?? 0, body: await text(response) };
}

export interface Incoming {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answer to a request. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export interface Serving {
  readonly port: number;
  /** Ends every connection, too. */
  close(): void;
}

/** Serves on a free port of 127.0.0.1. */
export async function serve(answer: (request: Incoming) => Answer | Promise<Answer>): Promise<Serving> {
  const take = async (message: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = message;
    const { status, json } = await answer({ method, path: url, headers, body: await text(message) });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  const server: Server = createServer((message, response) => {
    take(message, response).catch(() => response.destroy());
  });
  // Clients decide when connections end: one that is closed under a request would be counted as the system's failure.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
