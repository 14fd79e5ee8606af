import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectClient, lazyConnection, loadTemporalTarget, probeTemporal } from '../../../src/temporal/connection.js';
import { freePort } from '../../../stack/processes/ports.js';
import { bringUpTemporal } from '../../../stack/temporal/bring-up-temporal.js';
import { type DevServer, startDevServer } from '../../../stack/temporal/start-dev-server.js';
import { testEncryption } from '../../support/test-encryption.js';

const withoutTemporal = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')),
);

describe('bringing up Temporal with TEMPORAL_ADDRESS', () => {
  let running: DevServer;
  let lines: string[];

  beforeAll(async () => {
    running = await startDevServer({ ui: false, report: () => undefined });
  });

  afterAll(async () => {
    await running.stop();
  });

  async function bringUp(settings: Record<string, string>) {
    lines = [];
    return await bringUpTemporal({
      env: { ...withoutTemporal, ...settings },
      report: (line) => lines.push(line),
      find: async () => {
        throw new Error('no executable may be looked for');
      },
    });
  }

  it('uses that server, says so, and leaves it running', async () => {
    const server = await bringUp({ TEMPORAL_ADDRESS: running.address, TEMPORAL_UI_URL: 'http://ui.example' });

    expect(server).toMatchObject({
      kind: 'external',
      target: { address: running.address, namespace: 'default' },
      env: { TEMPORAL_ADDRESS: running.address, TEMPORAL_NAMESPACE: 'default' },
      uiUrl: 'http://ui.example',
    });
    expect(lines).toEqual([`temporal: using ${running.address}, namespace default, because TEMPORAL_ADDRESS is set`]);

    await server.stop();
    const connection = lazyConnection(running);
    await probeTemporal(connection, 'default');
    await connection.close();
  });

  it('registers the search attributes there', async () => {
    const connection = lazyConnection(running);
    await connection.operatorService.removeSearchAttributes({
      namespace: 'default',
      searchAttributes: ['TransId'],
    });

    await bringUp({ TEMPORAL_ADDRESS: running.address });

    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    expect(Object.keys(customAttributes)).toContain('TransId');
    await connection.close();
  });

  it('fails at once when nothing answers there', async () => {
    const address = `127.0.0.1:${await freePort()}`;

    await expect(bringUp({ TEMPORAL_ADDRESS: address })).rejects.toThrow(
      new RegExp(`${address} does not answer for the namespace default: .*ECONNREFUSED.*TEMPORAL_ADDRESS`),
    );
  });

  it('fails when that server does not know the namespace', async () => {
    const attempt = bringUp({ TEMPORAL_ADDRESS: running.address, TEMPORAL_NAMESPACE: 'elsewhere' });

    await expect(attempt).rejects.toThrow(
      /namespace elsewhere doesn't exist\.\n.*\n {2}temporal operator namespace create --namespace elsewhere --retention 30d\n(?: {2}.*\n)+Or unset TEMPORAL_ADDRESS, /,
    );
  });
});

describe('bringing up Temporal without TEMPORAL_ADDRESS', () => {
  it('starts a server that a child process finds by its environment', async () => {
    const lines: string[] = [];
    const server = await bringUpTemporal({
      env: { ...withoutTemporal, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: 'payments' },
      report: (line) => lines.push(line),
    });

    expect(server.kind).toBe('embedded');
    expect(lines.some((line) => /^temporal: using .* because /.test(line))).toBe(true);
    expect(server.env).toMatchObject({ TEMPORAL_UI_URL: server.uiUrl });
    const target = loadTemporalTarget({ ...withoutTemporal, ...server.env });
    expect(target).toMatchObject({ address: server.target.address, namespace: 'payments' });
    const { workflow, connection } = connectClient(target, testEncryption);
    expect((await workflow.count("PaymentStatus = 'PENDING'")).count).toBe(0);
    await connection.close();

    await server.stop();
    expect(() => process.kill(server.pid ?? 0, 0)).toThrow(/ESRCH/);
  });
});
