import { afterEach, describe, expect, it } from '@jest/globals';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { connectClient, connectWorker, probeTemporal } from '../../src/temporal/connect.js';
import { freePort } from '../../stack/processes/ports.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';

const UNAVAILABLE = 14;

describe('a client of a Temporal server that is down', () => {
  let connection: Connection | undefined;
  let server: DevServer | undefined;

  afterEach(async () => {
    await connection?.close();
    await server?.stop();
  });

  it('is made without it, fails a call as UNAVAILABLE within 2 s, and works once the server is back', async () => {
    const port = await freePort();
    const client = connectClient({ address: `127.0.0.1:${port}`, namespace: 'default' });
    connection = client.connection;

    const startedAt = Date.now();
    const failure = await client.workflow.start('any', { workflowId: 'w', taskQueue: 'q' }).catch((e) => e);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    const cause: unknown = failure.cause;
    expect(isGrpcServiceError(cause) && cause.code).toBe(UNAVAILABLE);
    await expect(probeTemporal(client.connection, 'default')).rejects.toMatchObject({ code: UNAVAILABLE });

    server = await startDevServer({ port, ui: false, report: () => undefined });
    // The longest wait before gRPC tries the connection anew.
    const deadline = Date.now() + 3_000;
    let isBack = false;
    while (!isBack && Date.now() < deadline) {
      isBack = await probeTemporal(client.connection, 'default').then(
        () => true,
        () => false,
      );
    }
    expect(isBack).toBe(true);
    await client.workflow.start('any', { workflowId: 'w', taskQueue: 'q' });
  }, 60_000);
});

describe('a worker', () => {
  it('does not connect to a server that is down', async () => {
    const port = await freePort();

    await expect(connectWorker({ address: `127.0.0.1:${port}`, namespace: 'default' })).rejects.toThrow();
  }, 30_000);
});
