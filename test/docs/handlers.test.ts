import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../../stack/processes/ports.js';
import { KEYS } from '../support/api-under-test.js';
import { machine } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { type Block, readPages } from '../support/pages.js';
import { useStack } from '../support/payment-stack.js';
import { codeFolder } from './code-folder.js';

const stack = useStack();

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Every program of the documentation that receives webhooks: what readers copy first. */
const handlers = (await readPages())
  .flatMap(({ blocks }) => blocks)
  .filter(({ language, text }) => ['ts', 'js'].includes(language) && /\bverify(?:Webhook)?\(/.test(text));

let folder: string;
let shop: ChildProcess | undefined;
beforeEach(async () => {
  folder = await codeFolder(await mkdtemp(join(tmpdir(), 'sanaga-handlers-')));
});
afterEach(async () => {
  if (shop?.exitCode === null && shop.kill()) await once(shop, 'exit');
  await rm(folder, { recursive: true, force: true });
});

/** Starts the program against a real API. */
async function start({ language, text }: Block) {
  const port = await freePort();
  const file = join(folder, `shop.${language === 'js' ? 'mjs' : language}`);
  const code = text.replaceAll('http://127.0.0.1:3000', stack.api.url).replace('.listen(8080', `.listen(${port}`);
  await writeFile(file, code);
  const env = { ...machine(), SANAGA_API_KEY: KEYS.shop, SANAGA_WEBHOOK_SECRET: SECRET };
  const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  shop = child;
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    (isOpen) => isOpen,
  );
  const hook = `${url}${text.includes("'/sanaga'") ? '/sanaga' : '/webhooks'}`;
  return { url, hook, printed: () => printed };
}

/** Sends a notification, signed as Sanaga signs it. */
async function notify(hook: string, data: Readonly<Record<string, unknown>>): Promise<number> {
  const now = new Date();
  const id = `evt_${randomUUID()}`;
  const body = JSON.stringify({ type: 'payment.succeeded', timestamp: now.toISOString(), merchant: 'shop', data });
  const { status } = await fetch(hook, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, now, body),
    },
    body,
  });
  return status;
}

/** The number of the order that the program has, or any. */
async function orderOf({ text }: Block, url: string): Promise<string> {
  if (!text.includes("'/orders'")) return 'order-1006';
  const placed = await fetch(`${url}/orders`, { method: 'POST' });
  return JSON.parse(await placed.text()).id;
}

describe('a program that receives webhooks', () => {
  it('is on these pages', () => {
    const pages = handlers.map(({ place }) => place.replace(/:.*/, ''));
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'docs/client.md', 'docs/quick-start.md', 'docs/webhooks.md']),
    );
  });

  it.each(handlers)('takes a collection for the payment of an order, and no payout: $place', async (block) => {
    const { url, hook, printed } = await start(block);
    const externalId = await orderOf(block, url);
    const success = {
      object: 'payment',
      status: 'SUCCESSFUL',
      final: true,
      amount: 5_000,
      currency: 'XAF',
      externalId,
    };
    const payout = { ...success, id: 'pay_17', kind: 'payout', amountPaid: 5_000 };
    expect(await notify(hook, payout)).toBe(204);
    expect(await notify(hook, { ...payout, id: 'pay_18', refundOf: 'col_17' })).toBe(204);
    expect(await notify(hook, { ...success, id: 'col_18', kind: 'collection', status: 'FAILED' })).toBe(204);
    expect(await notify(hook, { ...success, id: 'col_17', kind: 'collection', amountPaid: 5_000 })).toBe(204);
    const paid = () => printed().match(/^.* is paid\b.*$/gm) ?? [];
    await eventually(
      async () => paid(),
      ({ length }) => length > 0,
    );
    expect(paid()).toEqual([expect.stringContaining(externalId)]);
  });
});
