import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { hintSignal } from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

const paymentSchema = z.object({
  ...{ id: z.string(), status: z.string(), final: z.boolean() },
  review: z.object({ number: z.int() }).optional(),
});
type Shown = z.infer<typeof paymentSchema>;
const notificationSchema = z.object({
  type: z.string(),
  data: z.object({ id: z.string(), status: z.string(), final: z.boolean() }),
});

/** The final words that the merchant was given of each payment, in order. */
const told = new Map<string, string[]>();
const wordsOf = (id: string | undefined) => told.get(String(id)) ?? [];
/** As long as the worker that tells is to be killed, the merchant answers nothing. */
let isHeld = true;
const merchant = createServer(async (request, response) => {
  const { type, data } = notificationSchema.parse(JSON.parse(await text(request)));
  if (data.final) told.set(data.id, [...wordsOf(data.id), `${type} ${data.status}`]);
  if (!data.final || !isHeld) response.writeHead(204).end();
});

let running: RunningStack;

async function ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Shown> {
  const key = path === '/v1/payouts' ? { 'idempotency-key': String(Math.random()) } : {};
  return paymentSchema.parse(await (await running.call(method, path, body, key)).json());
}
const payOut = (phone: string) => ask('POST', '/v1/payouts', { amount: 900, phone });
/** Asks until the payment is as expected. While a new worker begins, the API may answer that it can't say. */
async function until(id: string | undefined, expected: (payment: Shown) => boolean): Promise<Shown> {
  const read = async () => paymentSchema.safeParse(await (await running.call('GET', `/v1/payments/${id}`)).json());
  const shown = await eventually(read, ({ data }) => data !== undefined && expected(data));
  return paymentSchema.parse(shown.data);
}

async function addFault(fault: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(fault);
  const { ok } = await fetch(`${running.stack.sandboxUrl}/_sandbox/faults`, {
    method: 'POST',
    headers,
    body,
  });
  expect(ok).toBe(true);
}

/** A final word, and by what it comes about that isn't in history at once. */
interface Way {
  readonly name: string;
  /** Begins the payment, when it needs more than a moment to come to its end. */
  readonly begin?: () => Promise<Shown>;
  /** Brings the payment to its end. What a caller waits for is lost with the worker. */
  readonly end: (begun: Shown | undefined) => Promise<Shown>;
  /** Runs while the merchant is being notified. */
  readonly meanwhile?: (id: string) => Promise<void>;
  readonly word: string;
  readonly transactions: number;
}

/** Sends a payment what decides its end, whose answer never comes. */
const decided = async (payment: Shown | undefined, path: string, body?: unknown): Promise<Shown> => {
  if (payment === undefined) throw new Error('the payment was not begun');
  void running.call('POST', `/v1/${path.replace('ID', payment.id)}`, body).catch(() => undefined);
  return payment;
};

const ways: readonly Way[] = [
  {
    name: 'an update: a payout that its merchant withdraws, while the provider refuses the credentials',
    async end() {
      await addFault({ fault: 'wrongCredentials', endpoint: 'payout' });
      return await decided(await payOut('670000000'), 'payouts/ID/cancel');
    },
    word: 'payment.failed FAILED',
    transactions: 0,
  },
  {
    name: 'an update: a payout in review that an operator fails',
    async begin() {
      await addFault({ fault: 'errorBeforeCommit', endpoint: 'payout' });
      return await payOut('670000800');
    },
    async end(payout) {
      const { review } = await until(payout?.id, ({ status }) => status === 'REVIEW');
      const decision = { action: 'fail', review: review?.number, why: 'looked', force: true };
      return await decided(payout, 'payments/ID/resolve', decision);
    },
    word: 'payment.failed FAILED',
    transactions: 0,
  },
  {
    name: 'an update and a local activity: a link that its merchant ends',
    begin: () => ask('POST', '/v1/collections', { method: 'link', amount: 500 }),
    end: (link) => decided(link, 'collections/ID/expire'),
    word: 'payment.expired EXPIRED',
    transactions: 1,
  },
  {
    name: 'local activities: a payout that the provider shows as FAILED',
    end: () => payOut('670000100'),
    word: 'payment.failed FAILED',
    transactions: 1,
  },
  {
    name: 'local activities, voided by a signal: a payout that the provider shows as SUCCESSFUL',
    end: () => payOut('670000000'),
    meanwhile: (id) => running.client.workflow.getHandle(id).signal(hintSignal, { status: 'FAILED' }),
    word: 'payment.succeeded SUCCESSFUL',
    transactions: 1,
  },
];

/** The payment of each way, by its name. */
const payments = new Map<string, Shown>();

/**
 * Kills the one worker while the merchant is being told of every payment, and changes what the next worker will meet.
 */
async function killWhileTold(): Promise<void> {
  const begun: [Way, Shown | undefined][] = [];
  for (const way of ways) begun.push([way, await way.begin?.()]);
  for (const [way, payment] of begun) payments.set(way.name, await way.end(payment));
  const each = ways.map((way) => ({ way, id: payments.get(way.name)?.id }));
  await eventually(
    async () => each.filter(({ id }) => wordsOf(id).length === 0).map(({ way }) => way.name),
    ({ length }) => length === 0,
  );
  for (const { way, id } of each) await way.meanwhile?.(String(id));
  await running.stack.kill('worker');
  isHeld = false;
  await fetch(`${running.stack.sandboxUrl}/_sandbox/faults`, { method: 'DELETE' });
  await addFault({ fault: 'statusRegression', endpoint: 'payment-status', rate: 1 });
  await running.stack.restart('worker');
}

beforeAll(async () => {
  await once(merchant.listen(0, '127.0.0.1'), 'listening');
  running = await bringUp({
    MERCHANT_WEBHOOK_URL: `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/`,
    PROVIDER_TIMEOUT: '1s',
    AMBIGUOUS_GRACE: '16s',
    RESOLVE_AFTER: '15s',
  });
  await killWhileTold();
});
afterAll(async () => {
  await running?.stop();
  merchant.closeAllConnections();
  merchant.close();
});

describe('A final word that a worker was giving when it was killed:', () => {
  it.each(ways)('$name stays what its merchant was told', async ({ name, word, transactions }) => {
    const { id = '' } = payments.get(name) ?? {};
    // That it was told was lost with the worker, so that the merchant is told once more.
    await eventually(
      async () => wordsOf(id),
      ({ length }) => length > 1,
    );
    expect(new Set(wordsOf(id))).toEqual(new Set([word]));
    expect(await until(id, () => true)).toMatchObject({ status: word.split(' ')[1], final: true });
    expect(await running.transactionsOf(id)).toHaveLength(transactions);
  });
});
