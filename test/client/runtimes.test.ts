import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SourceTextModule } from 'node:vm';
import { EdgeVM } from '@edge-runtime/vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { built, machine } from '../support/built.js';
import { closeServers, serveHttp } from '../support/local-servers.js';
import { findNode20 } from '../support/node-20.js';

const projects: string[] = [];

afterEach(async () => {
  await closeServers();
  for (const project of projects.splice(0)) await rm(project, { recursive: true });
});

const run = promisify(execFile);
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const payment = { id: 'col_1', object: 'payment', status: 'SUCCESSFUL', final: true, amount: 500 };

/** An API that is unavailable at first. */
const serve = () =>
  serveHttp((response, { method }, count) => {
    response.setHeader('retry-after', '0');
    if (count === 1) response.writeHead(503).end('{"code":"temporarily_unavailable","detail":"Not now."}');
    else response.writeHead(method === 'POST' ? 201 : 200).end(JSON.stringify(payment));
  });

function webhook() {
  const body = JSON.stringify({
    type: 'payment.succeeded',
    timestamp: '2026-11-21T08:20:34.191Z',
    data: payment,
  });
  const at = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
  return { body, headers, secret };
}

/** Uses the client as a merchant would, and returns what it gave. `client` is its module. */
const USE = `async ({ Sanaga, verifyWebhook, WebhookVerificationError }, baseUrl, { body, headers, secret }) => {
  const sanaga = new Sanaga({ apiKey: 'sk_test', baseUrl });
  const created = await sanaga.collections.create({ method: 'link', amount: 500 });
  const outcome = await sanaga.payments.waitForOutcome('col_1');
  const event = await verifyWebhook(body, headers, secret);
  const forged = await verifyWebhook(body + ' ', headers, secret).catch((error) => error instanceof WebhookVerificationError && error.reason);
  const list = await new Sanaga({ apiKey: 'sk_test', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).payments.list().catch((error) => error.name);
  return { key: created.idempotencyKey, status: outcome.status, type: event.type, forged, list };
}`;

const EXPECTED = {
  key: expect.stringMatching(/^[0-9a-f-]{36}$/),
  status: 'SUCCESSFUL',
  type: 'payment.succeeded',
  forged: 'wrong_signature',
  list: 'ConnectionError',
};

/** A merchant's project, in which the client is installed as a tarball. */
async function projectWithClient(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'sanaga-merchant-'));
  projects.push(project);
  const npm = (...args: string[]) => run('npm', args, { cwd: project, env: machine() });
  const { stdout } = await npm('pack', '--silent', built('dist'));
  await npm('init', '--yes');
  await npm('install', '--offline', '--no-audit', '--no-fund', `./${stdout.trim()}`);
  return project;
}

describe('the built client', () => {
  it('runs on Node 20, as a tarball that was installed in a project', async () => {
    const { url, seen } = await serve();
    const cwd = await projectWithClient();
    expect((await lstat(join(cwd, 'node_modules/sanaga'))).isSymbolicLink()).toBe(false);
    const script = `
      const client = await import('sanaga/client');
      const used = await (${USE})(client, ${JSON.stringify(url)}, ${JSON.stringify(webhook())});
      console.log(JSON.stringify(used));`;
    const { stdout } = await run(await findNode20([]), ['--input-type=module', '--eval', script], { cwd, env: {} });
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
    expect(seen).toHaveLength(3);
  });

  it('runs in an edge runtime, where nothing of Node is', async () => {
    const { url, seen } = await serve();
    const edge = new EdgeVM();
    expect(edge.evaluate('typeof process + typeof require + typeof Buffer')).toBe('undefinedundefinedundefined');
    const client = await load(built('dist/client/index.js'), edge);
    const use = edge.evaluate<(...given: unknown[]) => Promise<unknown>>(`(${USE})`);
    expect(await use(client, url, webhook())).toEqual(EXPECTED);
    expect(seen).toHaveLength(3);
  });

  it('is a package that needs no other', () => {
    const description: unknown = JSON.parse(readFileSync(built('dist/package.json'), 'utf8'));
    expect(description).toMatchObject({ name: 'sanaga', exports: { './client': expect.any(Object) } });
    expect(description).not.toHaveProperty('dependencies');
  });
});

/** A module with all that it imports, in the context of an edge runtime. */
async function load(file: string, { context }: EdgeVM): Promise<object> {
  const modules = new Map<string, SourceTextModule>();
  const read = (path: string): SourceTextModule => {
    const known = modules.get(path);
    if (known !== undefined) return known;
    const module = new SourceTextModule(readFileSync(path, 'utf8'), { context, identifier: path });
    modules.set(path, module);
    return module;
  };
  const main = read(file);
  await main.link((name, from) => read(join(dirname(from.identifier), name)));
  await main.evaluate();
  return main.namespace;
}
