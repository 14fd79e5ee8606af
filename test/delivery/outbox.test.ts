import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { listEvents } from '../../src/book/feed.js';
import { addNotifications, notificationsOf } from '../../src/book/notifications.js';
import { createMerchantNotifier } from '../../src/delivery/merchant.js';
import { runOutbox } from '../../src/delivery/outbox.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { newBook, type TestBook } from '../support/books.js';
import { eventually } from '../support/eventually.js';
import { paymentId, payoutOrder, terms } from '../support/orders.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const logger = pino({ level: 'silent' });

let made: TestBook;
let book: Book;
let number = 0;
const got: { readonly path: string; readonly id: string; readonly body: string }[] = [];
/** Holds the answers to requests of slow merchants. */
let held: (() => void)[] = [];

/** Each merchant has a path; those whose name begins with `slow` aren't answered. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const headers = request.headers as Record<string, string>;
  new Webhook(SECRET).verify(body, headers);
  got.push({ path: request.url ?? '', id: headers['webhook-id'] ?? '', body });
  if (request.url?.startsWith('/slow')) held.push(() => response.writeHead(204).end());
  else response.writeHead(204).end();
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  got.length = 0;
  held = [];
});

const outboxes: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const release of held.splice(0)) release();
  await Promise.all(outboxes.splice(0).map((outbox) => outbox.stop()));
  await made.drop();
});

function startOutbox(slots = 100) {
  const { port } = server.address() as AddressInfo;
  const merchant = createMerchantNotifier({
    endpointsOf: (name) => [{ url: `http://127.0.0.1:${port}/${name}`, secrets: [SECRET] }],
    timeoutMs: 30_000,
    allowPrivate: true,
  });
  const stopping = new AbortController();
  const running = runOutbox({ book, merchant, slots, logger }, stopping.signal);
  const outbox = {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
  outboxes.push(outbox);
  return outbox;
}

async function notified(merchant = 'shop'): Promise<PaymentId> {
  const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
  const now = Date.now();
  await claim(book, { order, terms, merchant, fingerprint: 'body', requestId: 'request' }, now);
  await book.transaction((query) => addNotifications(query, order.id, [{ type: 'payment.succeeded', at: now }]));
  return order.id;
}

const deliveryOf = async (id: PaymentId) => (await notificationsOf(book, id, Date.now()))[0]?.delivery.kind;
const until = (check: () => Promise<boolean> | boolean) =>
  eventually(
    async () => await check(),
    (is) => is,
  );

describe('the outbox', () => {
  it('tells merchants the payment as it is now, signed, once, whatever the number of workers, and fills the feed', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => notified(`merchant-${index % 3}`)));
    for (let worker = 0; worker < 3; worker++) startOutbox();
    for (const id of ids) await until(async () => (await deliveryOf(id)) === 'delivered');
    expect(got).toHaveLength(ids.length);
    expect(new Set(got.map(({ id }) => id))).toEqual(new Set(ids.map((id) => `evt_${id}_succeeded_1`)));
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject({
      type: 'payment.succeeded',
      merchant: expect.stringMatching(/^merchant-/),
      data: { object: 'payment', status: 'CREATED', amount: payoutOrder.amount },
    });
    await until(async () => (await listEvents(book, { after: 0 }, 100)).length === ids.length);
  });

  it('keeps nobody waiting for those whose servers are slow', async () => {
    for (let copy = 0; copy < 20; copy++) {
      await notified('slow-one');
      await notified('slow-two');
    }
    startOutbox(8);
    await until(() => got.length >= 6);
    const id = await notified('shop');
    await until(async () => (await deliveryOf(id)) === 'delivered');
    expect(got.filter(({ path }) => path === '/slow-one').length).toBeLessThanOrEqual(4);
  });

  it('tells merchants although their feeds stand still', async () => {
    await book.query('ALTER TABLE notifications ADD CONSTRAINT still CHECK (position IS NULL)');
    const id = await notified();
    startOutbox();
    await until(async () => (await deliveryOf(id)) === 'delivered');
  });

  it('finishes what is under way when it is stopped, and takes no more', async () => {
    const [begun, later] = [await notified('slow'), await notified('shop')];
    await book.query("UPDATE notifications SET due_at = due_at + interval '1 hour' WHERE payment_id = $1", [later]);
    const outbox = startOutbox();
    await until(() => held.length === 1);
    const stopped = outbox.stop();
    await book.query("UPDATE notifications SET due_at = due_at - interval '2 hours' WHERE payment_id = $1", [later]);
    for (const release of held.splice(0)) release();
    await stopped;
    expect([await deliveryOf(begun), await deliveryOf(later)]).toEqual(['delivered', 'due']);
    expect(got).toHaveLength(1);
  });
});
