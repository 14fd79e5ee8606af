import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createMerchantNotifier, type MerchantNotification } from '../../src/delivery/merchant.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import { freePort, listens } from '../../stack/processes/ports.js';
import { machine } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { begun, linkOrder } from '../support/orders.js';
import { readPage } from '../support/pages.js';

/*
 * Runs the programs of docs/webhooks.md that compute a signature by themselves, against what the worker sends.
 */

const LIMIT_MS = 60_000;
const TOLERANCE_S = 300;
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, OTHER] = [secretOf(7), secretOf(8)];

const paid = { ...toPayment(begun(linkOrder)), status: 'SUCCESSFUL', final: true, amountPaid: 4_900 } as const;
const collected: MerchantNotification = {
  id: 'evt_col_1_1',
  type: 'payment.succeeded',
  timestamp: '2026-01-01T00:00:00.000Z',
  merchant: 'shop',
  payment: { ...paid, externalId: 'order-1', message: 'Café à Yaoundé' },
};
const paidOut: MerchantNotification = { ...collected, payment: { ...collected.payment, kind: 'payout' } };

const PROGRAMS = [
  { language: 'python', file: 'webhooks.py', run: () => ['python3', 'webhooks.py'] },
  { language: 'php', file: 'webhooks.php', run: (port: number) => ['php', '-S', `127.0.0.1:${port}`, 'webhooks.php'] },
];

describe.each(PROGRAMS)('the $language of docs/webhooks.md', ({ language, file, run }) => {
  let folder: string;
  let server: ChildProcess;
  let url: string;
  let printed = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-signatures-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}/`;
    const { blocks } = await readPage('docs/webhooks.md');
    const programs = blocks.filter((block) => block.language === language);
    expect(programs).toHaveLength(1);
    await writeFile(join(folder, file), programs.map(({ text }) => text.replace('8080', String(port))).join(''));
    const [command = '', ...args] = run(port);
    const env = { ...machine(), SANAGA_WEBHOOK_SECRET: SECRET };
    server = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const output of [server.stdout, server.stderr]) output?.on('data', (text) => (printed += text));
    await eventually(() => listens(port), Boolean);
  });

  afterAll(async () => {
    if (server?.exitCode === null) {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    printed = '';
  });

  /** Has the worker's notifier send it. */
  const notify = (notification: MerchantNotification, ...secrets: readonly string[]) =>
    createMerchantNotifier({
      endpointsOf: () => [{ url, secrets }],
      timeoutMs: LIMIT_MS,
      allowPrivate: true,
    }).notifyMerchant(notification);

  const body = JSON.stringify({ type: collected.type, data: collected.payment });
  const headersAt = (sentAt: Date) => ({
    'webhook-id': collected.id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(collected.id, sentAt, body),
  });
  const post = async (headers: Record<string, string>, sent = body) =>
    (await fetch(url, { method: 'POST', headers, body: sent })).status;
  const secondsAway = (seconds: number) => new Date(Date.now() + seconds * 1_000);

  it('takes a notification, and acts on a collection', async () => {
    expect(await notify(collected, SECRET)).toEqual({ kind: 'delivered' });
    await eventually(
      async () => printed,
      (text) => text.includes('order-1 was paid with 4900'),
    );
  });

  it('does not take a payout for a payment', async () => {
    expect(await notify(paidOut, SECRET)).toEqual({ kind: 'delivered' });
    expect(await notify({ ...collected, payment: { ...collected.payment, externalId: 'order-2' } }, SECRET)).toEqual({
      kind: 'delivered',
    });
    await eventually(
      async () => printed,
      (text) => text.includes('order-2 was paid with 4900'),
    );
    expect(printed).not.toContain('order-1 was paid');
  });

  it('takes one of a collection that has no externalId', async () => {
    const { externalId: _, ...unnamed } = collected.payment;
    expect(await notify({ ...collected, payment: unnamed }, SECRET)).toEqual({ kind: 'delivered' });
  });

  it.each([
    ['the new one first', [OTHER, SECRET]],
    ['the old one first', [SECRET, OTHER]],
  ])('takes one with two signatures, %s', async (_, secrets) => {
    expect(await notify(collected, ...secrets)).toEqual({ kind: 'delivered' });
  });

  it('takes one that was signed as another library does it', async () => {
    expect(await post(headersAt(new Date()))).toBe(204);
  });

  it('refuses another secret', async () => {
    expect(await notify(collected, OTHER)).toEqual({ kind: 'failed', reason: 'answered 400' });
  });

  it('refuses a changed body', async () => {
    expect(await post(headersAt(new Date()), body.replace('4900', '9900'))).toBe(400);
    expect(await post(headersAt(new Date()), `${body} `)).toBe(400);
  });

  it('refuses a changed id and a changed time', async () => {
    const headers = headersAt(new Date());
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(await post({ ...headers, 'webhook-id': 'evt_col_1_2' })).toBe(400);
    expect(await post({ ...headers, 'webhook-timestamp': later })).toBe(400);
  });

  it.each([-1, 1])('refuses a time that is too far away: %d', async (sign) => {
    expect(await post(headersAt(secondsAway(sign * (TOLERANCE_S - 60))))).toBe(204);
    expect(await post(headersAt(secondsAway(sign * (TOLERANCE_S + 60))))).toBe(400);
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)('refuses one without %s', async (name) => {
    const { [name]: _, ...headers } = headersAt(new Date());
    expect(await post(headers)).toBe(400);
  });

  it.each([
    ['webhook-timestamp', 'now'],
    ['webhook-timestamp', '9'.repeat(5_000)],
    ['webhook-timestamp', '1e9'],
    ['webhook-signature', 'v1,'],
    ['webhook-signature', 'é'],
  ])('refuses an odd %s (%#)', async (name, value) => {
    expect(await post({ ...headersAt(new Date()), [name]: value })).toBe(400);
  });

  it('refuses a signature of another version', async () => {
    const headers = headersAt(new Date());
    const other = headers['webhook-signature'].replace('v1,', 'v1a,');
    expect(await post({ ...headers, 'webhook-signature': other })).toBe(400);
  });
});
