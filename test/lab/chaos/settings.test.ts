import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { steadyPort } from '../../../lab/chaos/settings.js';

describe('a steady port', () => {
  it('can be listened on, and is none that systems hand out by themselves', async () => {
    const port = await steadyPort();
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  });
});
