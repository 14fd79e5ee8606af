import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach } from '@jest/globals';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface MerchantHook {
  readonly url: string;
  readonly received: Received[];
  /** Its next answers; the last one is repeated. */
  readonly answers: number[];
  /** The statuses received, in order. */
  statuses(): unknown[];
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A merchant's webhook address: keeps what it gets, answers what it is told to. Closed after the test. */
export async function startMerchantHook(...answers: number[]): Promise<MerchantHook> {
  const received: Received[] = [];
  const next = answers.length > 0 ? answers : [200];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const bytes = Buffer.concat(chunks);
      received.push({ method, path, headers, text: bytes.toString(), bytes });
      const status = (next.length > 1 ? next.shift() : next[0]) ?? 200;
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The hook has no port');
  return {
    url: `http://127.0.0.1:${address.port}/hooks/secret-token`,
    received,
    answers: next,
    statuses: () => received.map(({ text }) => Reflect.get(JSON.parse(text), 'status')),
  };
}
