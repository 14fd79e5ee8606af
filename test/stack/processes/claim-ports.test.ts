import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { claimPorts } from '../../../stack/processes/claim-ports.js';
import { freePort } from '../../../stack/temporal/free-port.js';

const PATIENCE_MS = 1_000;

describe('claiming ports', () => {
  const open: Server[] = [];

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  async function listenOn(port: number): Promise<Server> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    open.push(server);
    return server;
  }

  const wanted = (port: number) => ({ port, of: 'the API', advice: 'set PORT to another port' });
  const quiet = () => undefined;

  it('is done at once when they are free', async () => {
    const lines: string[] = [];
    await claimPorts([wanted(await freePort())], (line) => lines.push(line));
    expect(lines).toEqual([]);
  });

  it('says of each one that stays taken what it is for and what to do', async () => {
    const taken = await freePort();
    await listenOn(taken);
    const claim = claimPorts([wanted(await freePort()), wanted(taken)], quiet, PATIENCE_MS);
    await expect(claim).rejects.toThrow(
      `start: port ${taken} for the API is taken: stop what listens there, or set PORT to another port`,
    );
  });

  it('waits for those that are about to be free', async () => {
    const port = await freePort();
    const server = await listenOn(port);
    await claimPorts([wanted(port)], () => server.close(), 10_000);
    expect(server.listening).toBe(false);
  });
});
