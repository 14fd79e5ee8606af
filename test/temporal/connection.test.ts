import { getEventListeners, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { ConfigError } from '../../src/settings/config-error.js';
import { withTemporalApiKey } from '../../src/settings/secret-files.js';
import {
  connectClient,
  connectWorker,
  endingWith,
  loadTemporalTarget,
  plainTargetEnvironment,
  probeTemporal,
} from '../../src/temporal/connection.js';
import { freePort } from '../../stack/processes/ports.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { eventually } from '../support/eventually.js';
import { testEncryption } from '../support/test-encryption.js';

const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

describe('a client of a Temporal server that is down', () => {
  let connection: Connection | undefined;
  let server: DevServer | undefined;

  afterEach(async () => {
    await connection?.close();
    await server?.stop();
  });

  it('is made without it, fails a call as UNAVAILABLE, and works once the server is back', async () => {
    const port = await freePort();
    const client = connectClient({ address: `127.0.0.1:${port}`, namespace: 'default' }, testEncryption);
    connection = client.connection;

    const failure = await client.workflow.start('any', { workflowId: 'w', taskQueue: 'q' }).catch((e) => e);
    const cause: unknown = failure.cause;
    expect(isGrpcServiceError(cause) && cause.code).toBe(UNAVAILABLE);
    await expect(probeTemporal(client.connection, 'default')).rejects.toMatchObject({ code: UNAVAILABLE });

    server = await startDevServer({ port, ui: false, report: () => undefined });
    const isBack = () =>
      probeTemporal(client.connection, 'default').then(
        () => true,
        () => false,
      );
    await eventually(isBack, (is) => is);
    await client.workflow.start('any', { workflowId: 'w', taskQueue: 'q' });
  });

  it('tries a call three times, and not ten as the SDK would', async () => {
    let tries = 0;
    const refusing = createServer();
    refusing.on('stream', (stream) => {
      tries += 1;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAVAILABLE },
        { endStream: true },
      );
    });
    refusing.listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    const { port } = refusing.address() as AddressInfo;
    const client = connectClient({ address: `127.0.0.1:${port}`, namespace: 'default' }, testEncryption);
    connection = client.connection;
    const call = client.connection.workflowService.getSystemInfo({});
    await expect(call).rejects.toMatchObject({ code: UNAVAILABLE });
    expect(tries).toBe(3);
    refusing.close();
  });
});

describe('a client that is closed', () => {
  it('lets a call that is yet to be tried again fail, and no error escape', async () => {
    const server = createServer();
    server.on('session', (session) => session.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = connectClient({ address: `127.0.0.1:${port}`, namespace: 'default' }, testEncryption);

    const call = client.connection.workflowService.getSystemInfo({}).catch((error) => error);
    await once(server, 'session');
    // The first try fails now, and the second is due in about 100 ms.
    await pause(50);
    await client.connection.close();
    expect((await call).code).toBe(CANCELLED);
    const later = await client.connection.workflowService.getSystemInfo({}).catch((error) => error);
    expect(later.code).toBe(CANCELLED);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a call that ends with a signal', () => {
  it('is given up when the signal is aborted, and leaves nothing on it', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = connectClient({ address, namespace: 'default' }, testEncryption);
    const stop = new AbortController();
    const call = () => client.connection.workflowService.getSystemInfo({});
    try {
      const limited = () => client.withDeadline(Date.now() + 100, call);
      for (let calls = 0; calls < 3; calls++) {
        await expect(endingWith(client, stop.signal, limited)).rejects.toMatchObject({
          code: DEADLINE_EXCEEDED,
        });
      }
      expect(getEventListeners(stop.signal, 'abort')).toEqual([]);

      const unlimited = endingWith(client, stop.signal, call);
      setTimeout(() => stop.abort(), 50);
      await expect(unlimited).rejects.toMatchObject({ code: CANCELLED });
      expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    } finally {
      await client.connection.close();
      silent.close();
    }
  });
});

describe('a worker', () => {
  it('does not connect to a server that is down', async () => {
    const port = await freePort();

    await expect(connectWorker({ address: `127.0.0.1:${port}`, namespace: 'default' })).rejects.toThrow();
  });
});

describe('the Temporal target', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'sanaga-target-'));
  });

  afterEach(async () => {
    await rm(home, { recursive: true, force: true });
  });

  it('is the default namespace of a server on this machine when nothing is set', () => {
    expect(loadTemporalTarget({ HOME: home })).toEqual({ address: '127.0.0.1:7233', namespace: 'default' });
  });

  it('takes the API key from a file, without the line break at its end', async () => {
    const file = join(home, 'api-key');
    await writeFile(file, 'a-key-of-a-file\n');
    const env = { HOME: home, TEMPORAL_API_KEY: '', TEMPORAL_API_KEY_FILE: file };
    expect(loadTemporalTarget(withTemporalApiKey(env))).toMatchObject({ apiKey: 'a-key-of-a-file' });
    expect(loadTemporalTarget(withTemporalApiKey({ ...env, TEMPORAL_API_KEY_FILE: '' }))).not.toHaveProperty('apiKey');
  });

  it.each([
    [{ TEMPORAL_API_KEY: 'a-key', TEMPORAL_API_KEY_FILE: '/nowhere' }, /can't be set together with TEMPORAL_API_KEY/],
    [{ TEMPORAL_API_KEY_FILE: '/nowhere' }, /^TEMPORAL_API_KEY_FILE can't be read: ENOENT$/],
    [{ TEMPORAL_API_KEY_FILE: '/dev/null' }, /^TEMPORAL_API_KEY_FILE is empty$/],
  ])('takes it for a mistake: %j', (env, message) => {
    expect(() => withTemporalApiKey(env)).toThrow(ConfigError);
    expect(() => withTemporalApiKey(env)).toThrow(message);
  });

  it('takes address, namespace and credentials from the environment', () => {
    const target = loadTemporalTarget({
      HOME: home,
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'payments',
      TEMPORAL_API_KEY: 'a-key',
    });

    expect(target).toMatchObject({
      address: 'temporal.example:7233',
      namespace: 'payments',
      apiKey: 'a-key',
      tls: true,
    });
  });

  it('counts an empty variable as not set', () => {
    const target = loadTemporalTarget({ HOME: home, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' });

    expect(target).toEqual({ address: '127.0.0.1:7233', namespace: 'default' });
  });

  it("reads Temporal's configuration file", async () => {
    const file = join(home, 'temporal.toml');
    await writeFile(file, '[profile.default]\naddress = "from.file:1"\nnamespace = "filed"\n');

    expect(loadTemporalTarget({ HOME: home, TEMPORAL_CONFIG_FILE: file })).toEqual({
      address: 'from.file:1',
      namespace: 'filed',
    });
  });

  it('can be handed to a child process so that no configuration file or key changes it', async () => {
    const file = join(home, 'temporal.toml');
    await writeFile(file, '[profile.default]\napi_key = "for another server"\n[profile.default.tls]\n');
    const inherited = {
      HOME: home,
      TEMPORAL_CONFIG_FILE: file,
      TEMPORAL_API_KEY: 'k',
      TEMPORAL_API_KEY_FILE: '/nowhere',
      TEMPORAL_PROFILE: 'p',
    };

    const env = { ...inherited, ...plainTargetEnvironment({ address: '127.0.0.1:5', namespace: 'mine' }) };

    expect(loadTemporalTarget(withTemporalApiKey(env))).toEqual({
      address: '127.0.0.1:5',
      namespace: 'mine',
      tls: false,
    });
  });
});
