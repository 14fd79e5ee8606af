import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy before a page, which sets these headers, and remembers what it was asked. */
export async function startHttpProxy(target: string, headers: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const proxy = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const options = { method: incoming.method, headers: { ...incoming.headers, ...headers } };
    incoming.pipe(
      request(new URL(incoming.url ?? '/', target), options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    port,
    asked,
    async stop() {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    },
  };
}
