import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { downloadWithSdk } from '../../../stack/temporal/sdk-download.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

/** The SDK reaches for a fixed address on the internet; a proxy of our own decides what becomes of that. */
describe("the SDK's download", () => {
  let scratch: ScratchFolder;
  let proxy: Server;
  let asked: string[];
  let answer: string | undefined;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    asked = [];
    answer = undefined;
    proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.on('error', () => undefined);
      if (answer !== undefined) socket.end(answer);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric address');
    env = { PATH: '/usr/bin:/bin', HTTPS_PROXY: `http://127.0.0.1:${address.port}` };
  });

  afterEach(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await scratch.remove();
  });

  it.each(['temporal', 'temporal-test-server'] as const)(
    'of %s is refused at once when the network refuses it',
    async (executable) => {
      answer = 'HTTP/1.1 403 Forbidden\r\n\r\n';

      const outcome = await downloadWithSdk(executable, { folder: scratch.path, env });

      expect(outcome.kind).toBe('refused');
      expect(asked[0]).toBe('temporal.download:443');
    },
  );

  it('is given up when nothing comes', async () => {
    // On a busy machine, its process takes seconds until it asks.
    const outcome = await downloadWithSdk('temporal', { folder: scratch.path, env, stallLimitMs: 15_000 });

    expect(asked).toEqual(['temporal.download:443']);
    expect(outcome).toEqual({ kind: 'refused', reason: 'nothing came for 15 s' });
  });
});
