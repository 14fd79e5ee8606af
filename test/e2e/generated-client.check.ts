import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { examplePayment } from '../../src/schemas/payment.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { machine } from '../support/built.js';
import { type Block, readPage } from '../support/pages.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/*
 * Follows docs/generated-clients.md with each generator: its commands, and its program against a running stack.
 */

const { blocks } = await readPage('docs/generated-clients.md');
const JAR = 'openapi-generator-cli.jar';

/** The heading that a block is under. */
const headingOf = (block: Block) => {
  const leads = blocks.slice(0, blocks.indexOf(block) + 1).map(({ lead }) => lead);
  return [...leads.join('\n').matchAll(/^##+ (.+)$/gm)].at(-1)?.[1] ?? '';
};
const under = (heading: string) => blocks.filter((block) => headingOf(block) === heading);

let running: RunningStack;
let base: string;

beforeAll(async () => {
  running = await bringUp();
  base = await mkdtemp(join(tmpdir(), 'sanaga-clients-'));
  for (const block of [...under(''), ...under('openapi-generator')]) await run(base, block.text);
});

afterAll(async () => {
  await running?.stop();
  await rm(base, { recursive: true, force: true });
});

async function run(folder: string, commands: string, key = running.secrets.apiKey) {
  const path = (process.env.PATH ?? '').split(':').filter((one) => !one.includes('node_modules'));
  const env = {
    ...machine(),
    ...{ PATH: path.join(':'), SANAGA_URL: running.stack.apiUrl, SANAGA_API_KEY: key },
    // Only the modules that main.go names are taken, at the versions of their own requirements.
    ...{ GOFLAGS: '-mod=mod', npm_config_update_notifier: 'false' },
  };
  const script = commands.replaceAll('http://127.0.0.1:3000', running.stack.apiUrl);
  const shell = promisify(execFile)('sh', ['-ec', script], { cwd: folder, env, maxBuffer: 2 ** 26 });
  return await shell.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${script}\n${error.stdout.slice(-4_000)}\n${error.stderr.slice(-4_000)}`);
  });
}

/** What `composer install` would bring: Debian's Guzzle, and the classes of composer.json. */
async function standInForComposer(folder: string, composer: string) {
  const [[prefix, classes] = ['', '']] = Object.entries<string>(JSON.parse(composer).autoload['psr-4']);
  const loader = `<?php
require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function ($name) {
    $prefix = ${JSON.stringify(prefix)};
    if (!str_starts_with($name, $prefix)) return;
    require '${join(folder, classes)}' . str_replace('\\\\', '/', substr($name, strlen($prefix))) . '.php';
});
`;
  await mkdir(join(folder, 'vendor'));
  await writeFile(join(folder, 'vendor', 'autoload.php'), loader);
}

/** Follows the part of the page under a heading, and returns its folder and what its program's command is. */
async function follow(heading: string): Promise<{ folder: string; command: string; printed: string }> {
  const folder = await mkdtemp(join(base, 'shop-'));
  for (const file of [JAR, 'openapi.json']) await copyFile(join(base, file), join(folder, file));
  let command = '';
  let printed = '';
  for (const block of under(heading)) {
    const [, savedAs] = /[Ss]ave this as `([^`]+)`/.exec(block.lead) ?? [];
    if (savedAs !== undefined) await writeFile(join(folder, savedAs), block.text);
    else if (block.language === 'json') await standInForComposer(folder, block.text);
    else printed = (await run(folder, block.text)).stdout;
    command = block.text.trim().split('\n').at(-1) ?? '';
  }
  return { folder, command, printed };
}

const GENERATORS = ['Python', 'PHP', 'Go', 'TypeScript', 'openapi-typescript', 'openapi-python-client'];

describe('docs/generated-clients.md', () => {
  it('has no generator that is not tried here', () => {
    const headings = new Set(blocks.map(headingOf));
    expect([...headings].sort()).toEqual(['', 'openapi-generator', ...GENERATORS].sort());
  });

  it.each(GENERATORS)(
    '%s: its client collects by link, reads and lists the payment, and reads a problem',
    async (heading) => {
      const { folder, command, printed } = await follow(heading);
      const [, link, id] = /^Pay here: (\S+)\n(col_\w+) CREATED\nlisted: 1\n$/.exec(printed) ?? [printed];
      await atCheckout(String(link), { action: 'pay', phone: '677123000' });
      const read = await running.call('GET', `/v1/payments/${id}?wait=30`);
      expect(await read.json()).toMatchObject({ status: 'SUCCESSFUL', externalId: expect.stringMatching(/^order-/) });
      expect(await running.transactionsOf(String(id))).toHaveLength(1);
      // The same order again is the same payment.
      expect((await run(folder, command)).stdout).toBe(`Pay here: ${link}\n${id} SUCCESSFUL\nlisted: 1\n`);
      const refused = await run(folder, `${command} 2>&1 || true`, 'sk_nobodys_key_at_all_0123456789abcdef');
      expect(refused.stdout).toContain('unauthenticated: ');
    },
  );

  it('openapi-python-client reads words and fields that a later version has added', async () => {
    const { folder } = await follow('openapi-python-client');
    const added = { status: 'REVERSED', failureCode: 'refunded_elsewhere', medium: 'bank transfer', colour: 'red' };
    await writeFile(join(folder, 'later.json'), JSON.stringify({ ...examplePayment, ...added }));
    const program =
      'import json; from sanaga.models import Payment; print(json.dumps(Payment.from_dict(json.load(open("later.json"))).to_dict()))';
    const { stdout } = await run(folder, `.venv/bin/python -c '${program}'`);
    expect(JSON.parse(stdout)).toMatchObject(added);
  });
});
