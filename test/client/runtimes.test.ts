import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SourceTextModule } from 'node:vm';
import { EdgeVM } from '@edge-runtime/vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { built } from '../support/built.js';
import { closeServers, serveHttp } from '../support/local-servers.js';

afterEach(closeServers);

const run = promisify(execFile);
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const payment = { id: 'col_1', object: 'payment', status: 'SUCCESSFUL', final: true, amount: 500 };

/** Node as the machine has it, which runs npm; not the one that the project brings. */
function nodesOfTheMachine(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return [...new Set([...folders, '/usr/local/bin', '/usr/bin'])]
    .map((one) => join(one, 'node'))
    .filter(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function findNode20(): Promise<string | undefined> {
  for (const node of nodesOfTheMachine()) {
    const { stdout } = await run(node, ['--version']);
    if (stdout.startsWith('v20.')) return node;
  }
  return undefined;
}

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

const node20 = await findNode20();

describe('the built client', () => {
  (node20 === undefined ? it.skip : it)('runs on Node 20', async () => {
    const { url, seen } = await serve();
    const script = `
      const client = await import(${JSON.stringify(built('dist/client/index.js'))});
      const used = await (${USE})(client, ${JSON.stringify(url)}, ${JSON.stringify(webhook())});
      console.log(JSON.stringify(used));`;
    const { stdout } = await run(node20 ?? '', ['--input-type=module', '--eval', script], { env: {} });
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
    expect(seen).toHaveLength(3);
  });

  it('runs in an edge runtime, where nothing of Node is', async () => {
    const { url, seen } = await serve();
    const edge = new EdgeVM();
    expect(edge.evaluate('typeof process + typeof require + typeof Buffer')).toBe(
      'undefinedundefinedundefined',
    );
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
