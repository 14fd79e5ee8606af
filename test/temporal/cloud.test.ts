import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import {
  connect,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withTemporalApiKey } from '../../src/settings/secret-files.js';
import { connectWorker, lazyConnection, loadTemporalTarget } from '../../src/temporal/connection.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { type Authority, type Certificate, createAuthority, readPem } from './certificates.js';

/*
 * Temporal Cloud as its clients see it: a real server behind TLS, which asks for a client's certificate, or for an API
 * key.
 */

const API_KEY = 'a-key-of-temporal-cloud';
const UNAUTHENTICATED = 16;

/** Time limit of a call on a busy machine, in ms. */
const PATIENCE_MS = 60_000;

let folder: string;
let temporal: DevServer;
let authority: Authority;
let server: Certificate;
let client: Certificate;
let otherAuthority: Authority;
let stranger: Certificate;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-cloud-'));
  temporal = await startDevServer({ ui: false, report: () => undefined });
  authority = await createAuthority(folder, 'authority');
  server = await authority.issue('server');
  client = await authority.issue('client');
  otherAuthority = await createAuthority(folder, 'other-authority');
  stranger = await otherAuthority.issue('stranger');
});

afterAll(async () => {
  await temporal?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Front {
  readonly address: string;
  /** The headers of each call. */
  readonly calls: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/**
 * Passes calls on to the dev server: those of clients with a certificate of the authority, or those with the API key.
 */
async function openFront(asksFor: 'certificate' | 'key'): Promise<Front> {
  const calls: IncomingHttpHeaders[] = [];
  const upstream = connect(`http://${temporal.address}`);
  const sessions = new Set<ServerHttp2Session>();
  const front: Http2SecureServer = createSecureServer({
    cert: await readPem(server.cert),
    key: await readPem(server.key),
    ca: await readPem(authority.cert),
    requestCert: asksFor === 'certificate',
    rejectUnauthorized: asksFor === 'certificate',
  });
  front.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  front.on('stream', (stream: ServerHttp2Stream, headers) => {
    calls.push(headers);
    if (asksFor === 'key' && headers.authorization !== `Bearer ${API_KEY}`) {
      const refusal = { 'grpc-status': String(UNAUTHENTICATED), 'grpc-message': 'no key' };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { endStream: true });
      return;
    }
    const { ':authority': _, ...passedOn } = headers;
    const call = upstream.request(passedOn);
    let trailers: IncomingHttpHeaders = {};
    for (const side of [stream, call]) side.on('error', () => undefined);
    call.on('response', (response) => stream.respond(response, { waitForTrailers: true }));
    call.on('trailers', (last) => {
      trailers = last;
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('aborted', () => call.close());
    call.pipe(stream);
    stream.pipe(call);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const { port } = front.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    calls,
    async close() {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/** Reports whether the API's connection and the worker's each reach Temporal with these settings. */
async function reaches(settings: Record<string, string>): Promise<readonly [api: boolean, worker: boolean]> {
  const target = loadTemporalTarget(withTemporalApiKey({ HOME: folder, ...settings }));
  const connection = lazyConnection(target);
  const asked = connection.withDeadline(Date.now() + PATIENCE_MS, () =>
    connection.workflowService.describeNamespace({ namespace: target.namespace }),
  );
  const api = await asked.then(
    () => true,
    () => false,
  );
  await connection.close();
  const worker = await connectWorker(target).then(
    async (native) => {
      await native.close();
      return true;
    },
    () => false,
  );
  return [api, worker];
}

describe('a server that asks for a certificate', () => {
  let front: Front;
  beforeAll(async () => {
    front = await openFront('certificate');
  });
  afterAll(() => front.close());

  const settings = () => ({
    TEMPORAL_ADDRESS: front.address,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
  });

  it('is reached by the API and by workers with one of its authority', async () => {
    expect(await reaches(settings())).toEqual([true, true]);
  });

  it('is reached by another name than that of its address', async () => {
    const named = { ...settings(), TEMPORAL_TLS_SERVER_NAME: 'temporal.example' };
    expect(await reaches(named)).toEqual([true, true]);
    expect(await reaches({ ...named, TEMPORAL_TLS_SERVER_NAME: 'other.example' })).toEqual([false, false]);
  });

  it('is not reached without one, or with that of a stranger', async () => {
    const { TEMPORAL_TLS_CLIENT_CERT_PATH: _, TEMPORAL_TLS_CLIENT_KEY_PATH: __, ...without } = settings();
    expect(await reaches(without)).toEqual([false, false]);
    const other = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: stranger.cert,
      TEMPORAL_TLS_CLIENT_KEY_PATH: stranger.key,
    };
    expect(await reaches({ ...settings(), ...other })).toEqual([false, false]);
  });

  it('is not trusted when its certificate is by an unknown authority', async () => {
    expect(await reaches({ ...settings(), TEMPORAL_TLS_SERVER_CA_CERT_PATH: otherAuthority.cert })).toEqual([
      false,
      false,
    ]);
  });
});

describe('a server that asks for an API key', () => {
  let front: Front;
  beforeAll(async () => {
    front = await openFront('key');
  });
  afterAll(() => front.close());

  it('is reached by TLS with the key in a file, and is told the namespace', async () => {
    const file = join(folder, 'api-key');
    await writeFile(file, `${API_KEY}\n`);
    const settings = {
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
      TEMPORAL_API_KEY_FILE: file,
    };
    front.calls.length = 0;
    expect(await reaches(settings)).toEqual([true, true]);
    expect(new Set(front.calls.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${API_KEY}`]));
    const described = front.calls.find((call) => call[':path']?.endsWith('/DescribeNamespace'));
    expect(described?.['temporal-namespace']).toBe('default');
  });

  it('is not reached with another key', async () => {
    const settings = {
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
      TEMPORAL_API_KEY: 'another',
    };
    expect(await reaches(settings)).toEqual([false, false]);
  });
});
