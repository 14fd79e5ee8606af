import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { freePort, isPortFree } from '../../../stack/temporal/free-port.js';

describe('a free port', () => {
  it('can be listened on, and is not handed out twice', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, freePort));

    expect(new Set(ports).size).toBe(ports.length);
    for (const port of ports) expect(await isPortFree(port)).toBe(true);
  });

  it('is told from one that is taken', async () => {
    const port = await freePort();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

    expect(await isPortFree(port)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });
});
