import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Payment, Sanaga } from '../../client/index.js';
import { alertsOf, Payments, stateOf } from '../../examples/shop/payments.js';
import { createShop } from '../../examples/shop/shop.js';
import { type Attempt, type Order, Store } from '../../examples/shop/store.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { useStack } from '../support/payment-stack.js';

const stack = useStack();

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SHOP_URL = 'http://shop.example';
const DAY_MS = 24 * 60 * 60_000;

type Fetch = typeof fetch;
/** The request never arrives. */
const unreachable: Fetch = () => Promise.reject(new TypeError('fetch failed'));
/** The request is carried out, and its answer lost. */
const losesAnswers: Fetch = async (...request) => {
  await (await fetch(...request)).text();
  throw new TypeError('fetch failed');
};

let folder: string;
let file: string;
let store: Store;
let payments: Payments;
let server: Server;
let url: string;

/** Starts a shop on the file. How it reaches Sanaga can be changed. */
async function open(reach: Fetch = fetch): Promise<void> {
  store = new Store(file);
  const sanaga = new Sanaga({ apiKey: KEYS.shop, baseUrl: stack.api.url, fetch: reach, maxRetries: 0 });
  payments = new Payments(sanaga, store, SHOP_URL);
  const shop = createShop({
    store,
    payments,
    shopUrl: SHOP_URL,
    webhookSecret: SECRET,
    ownerPassword: 'secret',
  });
  server = createServer(shop).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
}

async function close(): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  store.close();
}

/** As a crash would leave it: what isn't in the file is gone. */
async function reopen(reach?: Fetch): Promise<void> {
  await close();
  await open(reach);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-shop-'));
  file = join(folder, 'shop.db');
  await open();
});
afterEach(async () => {
  await close();
  await rm(folder, { recursive: true, force: true });
});

const OWNER = { authorization: `Basic ${Buffer.from('owner:secret').toString('base64')}` };

function submit(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: SHOP_URL, ...headers },
    body: new URLSearchParams(fields),
  });
}

const read = async (path: string, headers = {}) => (await fetch(url + path, { headers })).text();

/** Orders something; `phone` is where a refund goes. */
async function place(phone = '677000000'): Promise<Order> {
  const id = randomUUID();
  expect((await submit('/orders', { id, item: 'coffee', phone })).status).toBe(303);
  return known(id);
}

function known(id: string): Order {
  const order = store.order(id);
  if (order === undefined) throw new Error(`there is no order ${id}`);
  return order;
}

const stateNow = (order: Order) => stateOf(store.attempts(order.id));
const alertsNow = (order: Order) => alertsOf(store.attempts(order.id));

function lastOf(order: Order): Attempt {
  const attempt = store.attempts(order.id).at(-1);
  if (attempt === undefined) throw new Error('there is no attempt');
  return attempt;
}

/** Returns the latest attempt's payment, as Sanaga last gave it. */
function paymentOf(order: Order): Payment {
  const { payment } = lastOf(order);
  if (payment === undefined) throw new Error('Sanaga has said nothing');
  return payment;
}

let later = 0;
/** The payment some time later, after something has happened to it. */
function afterwards(payment: Payment, change: Partial<Payment>): Payment {
  later += 1_000;
  return { ...payment, updatedAt: new Date(Date.parse(payment.updatedAt) + later).toISOString(), ...change };
}

interface Sent {
  readonly id?: string;
  readonly type?: string;
  readonly secret?: string;
}

/** A notification, signed as Sanaga signs it. */
function notify(
  data: Payment,
  { id = randomUUID(), type = 'payment.succeeded', secret = SECRET }: Sent = {},
): Promise<Response> {
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
  const now = new Date();
  return fetch(`${url}/webhooks/sanaga`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    },
    body,
  });
}

/** An order whose payment Sanaga has notified to be final and SUCCESSFUL. */
async function paid(phone?: string): Promise<Order> {
  const order = await place(phone);
  const response = await notify(afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true }));
  expect(response.status).toBe(204);
  expect(stateNow(order).kind).toBe('paid');
  return order;
}

/** An order that a payer has paid at Sanaga, too: no other can be refunded. */
async function paidAtSanaga(phone?: string): Promise<Order> {
  const order = await place(phone);
  const now = async () => {
    await payments.check(order);
    return paymentOf(order);
  };
  const { id, link = '', transId = '' } = await eventually(now, (payment) => payment.link !== undefined);
  await stack.visit({ link }, 'pay');
  await stack.hint({ id, transId });
  await eventually(now, ({ final }) => final);
  expect(stateNow(order).kind).toBe('paid');
  return order;
}

const refund = (order: Order, amount: string) => submit(`/admin/orders/${order.id}/refund`, { amount }, OWNER);

describe("the example shop's orders", () => {
  it('are stored, with their Idempotency-Key, before Sanaga is asked', async () => {
    const seen: Attempt[][] = [];
    const keys: (string | null)[] = [];
    await reopen((_, init) => {
      const rest = new Store(file);
      seen.push(rest.orders().flatMap(({ id }) => rest.attempts(id)));
      rest.close();
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return Promise.reject(new TypeError('fetch failed'));
    });
    const { id } = await place();
    expect(seen).toMatchObject([[{ key: `order-${id}`, kind: 'collection', hasSucceeded: false }]]);
    expect(seen[0]?.[0]).not.toHaveProperty('payment');
    expect(keys).toEqual([`order-${id}`]);
  });

  it('have a link at Sanaga, of the price that the shop has', async () => {
    const order = await place();
    expect(order.number).toBe(1001);
    await eventually(
      async () => read(`/orders/${order.id}`),
      (page) => /href="http[^"]+\/pay\//.test(page),
    );
    expect(paymentOf(order)).toMatchObject({ amount: 6_000, externalId: `order-${order.id}`, final: false });
    expect(stack.transactionsOf(paymentOf(order).id)).toHaveLength(1);
  });

  it('are one for a form that is sent twice, and two when it was changed in between', async () => {
    const fields = { id: randomUUID(), item: 'honey', phone: '+237 677 00 00 00' };
    await submit('/orders', fields);
    const again = await submit('/orders', fields);
    expect(again.headers.get('location')).toBe(`/orders/${fields.id}`);
    expect(store.orders()).toMatchObject([{ id: fields.id, phone: '677000000' }]);
    const other = await submit('/orders', { ...fields, item: 'coffee' });
    expect(other.headers.get('location')).not.toBe(`/orders/${fields.id}`);
    expect(store.orders().map(({ amount }) => amount)).toEqual([6_000, 7_500]);
  });

  it.each([
    [{ item: 'gold', phone: '677000000' }, 'Choose what you would like'],
    [{ item: 'coffee', phone: '12' }, 'Enter a Cameroonian mobile number'],
    [{ item: 'coffee', phone: '<b>' }, 'value="&#60;b&#62;"'],
  ])('are not made of %j', async (fields, words) => {
    const response = await submit('/orders', { id: randomUUID(), ...fields });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain(words);
    expect(store.orders()).toEqual([]);
  });

  it('are not made, and not refunded, by the forms of other sites', async () => {
    const order = await paid();
    for (const origin of ['http://evil.example', 'null']) {
      const headers = { ...OWNER, origin };
      expect((await submit('/orders', { item: 'coffee', phone: '677000000' }, headers)).status).toBe(403);
      const stolen = await submit(`/admin/orders/${order.id}/refund`, { amount: '6000' }, headers);
      expect(stolen.status).toBe(403);
    }
    expect(store.attempts(order.id)).toHaveLength(1);
  });

  it('are for the owner alone', async () => {
    const order = await paid();
    for (const authorization of ['', `Basic ${Buffer.from('owner:wrong').toString('base64')}`]) {
      expect((await fetch(`${url}/admin`, { headers: { authorization } })).status).toBe(401);
      const response = await submit(`/admin/orders/${order.id}/refund`, { amount: '100' }, { authorization });
      expect(response.status).toBe(401);
    }
    expect(await read('/admin', OWNER)).toContain('Coffee from the highlands');
  });
});

describe('a payment whose answer was lost', () => {
  it.each([
    ['never arrived', unreachable],
    ['was carried out', losesAnswers],
  ])('is asked for again with the same key after a crash: its request %s', async (_, reach) => {
    await reopen(reach);
    const order = await place();
    expect(stateNow(order)).toEqual({ kind: 'preparing' });
    expect(alertsNow(order)).toEqual([expect.stringContaining('is repeated until Sanaga answers')]);
    expect(await read(`/orders/${order.id}`)).toContain('Your payment link is being made');

    await reopen();
    await payments.sweep();
    const { id } = paymentOf(order);
    expect(store.attempts(order.id)).toMatchObject([{ key: `order-${order.id}`, payment: { id } }]);
    expect(alertsNow(order)).toEqual([]);
    await eventually(
      async () => stack.transactionsOf(id),
      (transactions) => transactions.length > 0,
    );
    await payments.sweep();
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('is asked for again by the customer, too, with the same key', async () => {
    await reopen(losesAnswers);
    const order = await place();
    await reopen();
    await submit(`/orders/${order.id}/pay`);
    expect(store.attempts(order.id)).toMatchObject([{ key: `order-${order.id}`, payment: { final: false } }]);
  });

  it('is not asked for again when Sanaga may have forgotten the key: a person looks into it', async () => {
    await reopen(losesAnswers);
    const order = await place();
    await close();
    const db = new DatabaseSync(file);
    db.prepare('UPDATE attempts SET created_at = ?').run(new Date(Date.now() - 30 * DAY_MS).toISOString());
    db.close();
    await open();
    await payments.sweep();
    expect(lastOf(order)).not.toHaveProperty('payment');
    expect(alertsNow(order)).toEqual([expect.stringContaining("ask Sanaga's operator")]);
  });
});

describe('a request that Sanaga refuses as invalid', () => {
  let asked = 0;
  /** Sanaga with a limit that the shop's orders exceed. */
  const limited: Fetch = async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init);
    asked++;
    return Response.json(
      {
        code: 'invalid_request',
        title: 'The request is not valid',
        detail: 'amount must be at most 100 XAF',
      },
      { status: 400, headers: { 'content-type': 'application/problem+json' } },
    );
  };

  it('is not repeated by itself, but shown to the owner, who can send it again with its key', async () => {
    await reopen(limited);
    const order = await place();
    asked = 0;
    await payments.sweep();
    expect(asked).toBe(0);
    expect(stateNow(order)).toEqual({ kind: 'refused' });
    expect(alertsNow(order)).toEqual([expect.stringContaining('amount must be at most 100 XAF')]);
    expect(await read(`/orders/${order.id}`)).toContain('could not be made');
    expect(await read(`/admin/orders/${order.id}`, OWNER)).toContain('Send it again');

    await reopen();
    await payments.sweep();
    expect(lastOf(order)).not.toHaveProperty('payment');
    expect((await submit(`/admin/orders/${order.id}/retry`, {}, OWNER)).status).toBe(303);
    expect(store.attempts(order.id)).toMatchObject([{ key: `order-${order.id}`, payment: { final: false } }]);
    expect(alertsNow(order)).toEqual([]);
    expect(stateNow(order).kind).not.toBe('refused');
  });

  it('is no refund that is on its way, and no reason for another', async () => {
    const { id } = await paid();
    await reopen(limited);
    expect((await refund(known(id), '6000')).status).toBe(303);
    expect(await read(`/orders/${id}`)).toContain('needs our attention');
    expect((await refund(known(id), '500')).status).toBe(422);
    expect(store.attempts(id)).toHaveLength(2);
  });
});

describe("a refund's amount", () => {
  it.each(['1e3', '0x1770', '6_000', '6,000', '6000.0', '+6000', '-6000', '٦٠٠٠', '', 'all'])(
    'is not %p: only digits say what is paid',
    async (amount) => {
      const { id } = await paid();
      expect((await refund(known(id), amount)).status).toBe(422);
      expect(store.attempts(id)).toHaveLength(1);
    },
  );
});

describe('another link', () => {
  it('is not made while the first can be paid', async () => {
    const order = await place();
    await submit(`/orders/${order.id}/pay`);
    expect(store.attempts(order.id)).toHaveLength(1);
    await notify(afterwards(paymentOf(order), { status: 'FAILED', final: false }), {
      type: 'payment.attempt_failed',
    });
    await submit(`/orders/${order.id}/pay`);
    expect(store.attempts(order.id)).toHaveLength(1);
  });

  it('is made with another key once the first has ended', async () => {
    const order = await place();
    await notify(afterwards(paymentOf(order), { status: 'EXPIRED', final: true }), {
      type: 'payment.expired',
    });
    expect(await read(`/orders/${order.id}`)).toContain('Nothing was charged');
    await submit(`/orders/${order.id}/pay`);
    const attempts = store.attempts(order.id);
    expect(attempts.map(({ key }) => key)).toEqual([`order-${order.id}`, `order-${order.id}-2`]);
    expect(attempts[1]?.payment?.id).toMatch(/^col_/);
    expect(attempts[1]?.payment?.id).not.toBe(attempts[0]?.payment?.id);
  });

  it('that is paid besides the first is a case for the owner', async () => {
    const order = await place();
    const first = afterwards(paymentOf(order), { status: 'EXPIRED', final: true });
    await notify(first);
    await submit(`/orders/${order.id}/pay`);
    await notify(afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true }));
    await notify(afterwards(first, { status: 'SUCCESSFUL', final: true }));
    expect(alertsNow(order)).toEqual(['The customer has paid 2 times.']);
    expect(await read('/admin', OWNER)).toContain('look into it');
  });
});

describe("the example shop's webhook", () => {
  it('makes an order paid', async () => {
    const order = await paid();
    expect(await read(`/orders/${order.id}`)).toContain('Paid. Thank you!');
  });

  it('refuses what Sanaga has not signed, and changes nothing', async () => {
    const order = await place();
    const forged = afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true });
    const secret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    expect((await notify(forged, { secret })).status).toBe(400);
    const bare = await fetch(`${url}/webhooks/sanaga`, { method: 'POST', body: JSON.stringify(forged) });
    expect(bare.status).toBe(400);
    expect((await fetch(`${url}/webhooks/sanaga`, { method: 'POST' })).status).toBe(400);
    expect(stateNow(order).kind).not.toBe('paid');
  });

  it('counts one that comes twice once', async () => {
    const order = await place();
    const success = afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true });
    expect((await notify(success, { id: 'evt_1' })).status).toBe(204);
    expect((await notify(success, { id: 'evt_1' })).status).toBe(204);
    expect(store.notices(`order-${order.id}`)).toMatchObject([{ id: 'evt_1', type: 'payment.succeeded' }]);
    const event = { id: 'evt_2', type: 'payment.succeeded', timestamp: '', data: success } as const;
    expect([store.receive(event), store.receive(event)]).toEqual([true, false]);
  });

  it('does not go back to what is older', async () => {
    const order = await place();
    const declined = afterwards(paymentOf(order), { status: 'FAILED', final: false });
    await notify(afterwards(declined, { status: 'SUCCESSFUL', final: true }));
    expect((await notify(declined, { type: 'payment.attempt_failed' })).status).toBe(204);
    expect(stateNow(order).kind).toBe('paid');
  });

  it('takes a success back that is in doubt again, and shows it to the owner', async () => {
    const order = await paid();
    const doubt = afterwards(paymentOf(order), {
      status: 'REVIEW',
      final: false,
      reason: 'the provider reversed it',
    });
    await notify(doubt, { type: 'payment.review' });
    expect(stateNow(order)).toEqual({ kind: 'review', wasPaid: true });
    expect(await read(`/orders/${order.id}`)).toContain('Your payment is being checked');
    const page = await read(`/admin/orders/${order.id}`, OWNER);
    expect(page).toContain('had succeeded, and is in doubt again: the provider reversed it');
    // Neither another link nor a refund, while nobody knows.
    await submit(`/orders/${order.id}/pay`);
    expect((await refund(order, '6000')).status).toBe(422);
    expect(store.attempts(order.id)).toHaveLength(1);

    await notify(afterwards(doubt, { status: 'FAILED', final: true }), { type: 'payment.failed' });
    expect(stateNow(order)).toEqual({ kind: 'unpaid' });
    expect(alertsNow(order)).toEqual([`order-${order.id} had succeeded, but is FAILED after all.`]);
  });

  it('is no paid order when another amount has moved, and at most that is paid back', async () => {
    const order = await place();
    const other = { status: 'SUCCESSFUL', final: true, amountPaid: 4_000 } as const;
    await notify(afterwards(paymentOf(order), other));
    expect(stateNow(order)).toMatchObject({ kind: 'otherAmount' });
    expect(await read(`/orders/${order.id}`)).toContain('We have received 4,000');
    expect(alertsNow(order)).toEqual([`order-${order.id} was for ${order.amount} XAF, and 4000 XAF have moved.`]);
    expect((await refund(order, String(order.amount))).status).toBe(422);
  });

  it('goes by the payment, which can be ahead of the type', async () => {
    const order = await place();
    await notify(afterwards(paymentOf(order), { status: 'REVIEW', final: false }), {
      type: 'payment.succeeded',
    });
    expect(stateNow(order)).toEqual({ kind: 'review', wasPaid: false });
  });

  it('knows a payment whose creation has not been answered yet', async () => {
    await reopen(losesAnswers);
    const order = await place();
    const sanaga = new Sanaga({ apiKey: KEYS.shop, baseUrl: stack.api.url });
    const { key, params } = lastOf(order);
    if (!('method' in params)) throw new Error('not a link');
    const payment = await sanaga.collections.create(params, { idempotencyKey: key });
    await notify(afterwards(payment, { status: 'SUCCESSFUL', final: true }));
    expect(stateNow(order).kind).toBe('paid');
  });

  it("acknowledges another system's payments, and keeps out of them", async () => {
    const order = await place();
    const foreign = {
      ...afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true }),
      id: 'col_other',
    };
    expect((await notify(foreign)).status).toBe(204);
    expect((await notify({ ...foreign, externalId: 'till-7' })).status).toBe(204);
    expect(stateNow(order).kind).not.toBe('paid');
  });

  it('takes no payout, and no collection of another amount, for the payment of an order with that externalId', async () => {
    const answered = await place();
    await reopen(losesAnswers);
    const unanswered = await place();
    for (const order of [answered, unanswered]) {
      const { key } = lastOf(order);
      const success = { ...afterwards(paymentOf(answered), { status: 'SUCCESSFUL', final: true }), externalId: key };
      expect((await notify({ ...success, id: 'pay_17', kind: 'payout', method: 'payout' })).status).toBe(204);
      expect((await notify({ ...success, id: 'pay_18', kind: 'payout', refundOf: 'col_17' })).status).toBe(204);
      expect((await notify({ ...success, id: 'col_18', amount: 100, amountPaid: 100 })).status).toBe(204);
      expect(stateNow(order).kind).not.toBe('paid');
      expect(stateNow(order).kind).not.toBe('otherAmount');
    }
  });

  it('does not acknowledge what it could not store', async () => {
    const order = await place();
    const success = afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true });
    const lock = new DatabaseSync(file);
    lock.exec('BEGIN IMMEDIATE');
    expect((await notify(success, { id: 'evt_locked' })).status).toBe(500);
    lock.exec('ROLLBACK');
    lock.close();
    expect((await notify(success, { id: 'evt_locked' })).status).toBe(204);
    expect(stateNow(order).kind).toBe('paid');
  });
});

describe('the way back from the checkout page', () => {
  it('proves nothing: Sanaga is asked', async () => {
    const order = await place();
    const { link } = await eventually(
      async () => {
        await payments.check(order);
        return paymentOf(order);
      },
      (payment) => payment.link !== undefined,
    );
    const claim = `/orders/${order.id}/return?status=SUCCESSFUL&transId=1`;
    const [back] = await Promise.all([
      fetch(url + claim, { redirect: 'manual' }),
      // In the meantime, the payer declines.
      stack.visit({ link: link ?? '' }, 'decline'),
    ]);
    expect(back.headers.get('location')).toBe(`/orders/${order.id}`);
    expect(stateNow(order).kind).toBe('payable');
    expect(await read(`/orders/${order.id}`)).not.toContain('Paid');
  });
});

describe('a refund', () => {
  it("goes to the customer's number, once", async () => {
    const order = await paidAtSanaga();
    const { id: collection } = paymentOf(order);
    const answers = await Promise.all([refund(order, '6000'), refund(order, '6000'), refund(order, '100')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422]);
    expect((await refund(order, '100')).status).toBe(422);
    const { key, params, payment } = lastOf(order);
    expect(store.attempts(order.id)).toHaveLength(2);
    expect({ key, params }).toMatchObject({
      key: `refund-${order.id}`,
      params: { collection, amount: 6_000, reason: `Refund of order ${order.number}` },
    });
    expect(payment).toMatchObject({ kind: 'payout', refundOf: collection, phone: '•••• 000' });
    const id = payment?.id ?? '';
    await eventually(
      async () => stack.transactionsOf(id),
      (transactions) => transactions.length > 0,
    );
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it.each(['6001', '99', '100.5', '', '-100', 'all', '1e9'])('is not of %j', async (amount) => {
    const order = await paid();
    const response = await refund(order, amount);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('a whole number from 100 to 6000 XAF');
    expect(store.attempts(order.id)).toHaveLength(1);
  });

  it('is not of an order that is not paid', async () => {
    const order = await place();
    expect((await refund(order, '6000')).status).toBe(422);
    await notify(afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: false }));
    expect((await refund(order, '6000')).status).toBe(422);
    expect(store.attempts(order.id)).toHaveLength(1);
  });

  it('has arrived once Sanaga has notified of it', async () => {
    const order = await paidAtSanaga();
    await refund(order, '6000');
    await notify(afterwards(paymentOf(order), { status: 'SUCCESSFUL', final: true }), { type: 'payment.refunded' });
    expect(await read(`/orders/${order.id}`)).toMatch(/The refund of 6,000\sXAF has arrived/);
    expect(store.notices(`refund-${order.id}`)).toMatchObject([{ type: 'payment.refunded' }]);
    expect((await refund(order, '6000')).status).toBe(422);
  });

  it('says that it waits for an approval', async () => {
    const order = await paidAtSanaga();
    await refund(order, '6000');
    const { createdAt: since } = paymentOf(order);
    const held = { for: ['approval'], since, until: since, approvals: [], digest: 'd' } as const;
    await notify(afterwards(paymentOf(order), { status: 'CREATED', final: false, held }), { type: 'payment.held' });
    expect(await read(`/orders/${order.id}`)).toContain('waits for an approval');
  });

  it('that Sanaga refuses is shown to the owner, and repeated by nobody else', async () => {
    const order = await paid();
    expect((await refund(order, '6000')).status).toBe(303);
    expect(lastOf(order)).toMatchObject({ isRefused: true });
    expect(alertsNow(order)).toEqual([expect.stringContaining('was refused')]);
  });

  it('is said to be checked while it is in REVIEW, and is not made again', async () => {
    const order = await paidAtSanaga();
    await refund(order, '6000');
    await notify(afterwards(paymentOf(order), { status: 'REVIEW', final: false }), {
      type: 'payment.review',
    });
    expect(await read(`/orders/${order.id}`)).toMatch(/The refund of 6,000\sXAF is being checked/);
    expect((await refund(order, '6000')).status).toBe(422);
    expect(store.attempts(order.id)).toHaveLength(2);
  });

  it('can be made again with another key once it has FAILED, and only when that is final', async () => {
    const order = await paidAtSanaga();
    await refund(order, '2500');
    await notify(afterwards(paymentOf(order), { status: 'FAILED', final: false }));
    expect((await refund(order, '2500')).status).toBe(422);
    await notify(afterwards(paymentOf(order), { status: 'FAILED', final: true }), { type: 'payment.failed' });
    expect(await read(`/orders/${order.id}`)).toContain('No money was sent');
    expect((await refund(order, '2500')).status).toBe(303);
    expect(lastOf(order)).toMatchObject({ key: `refund-${order.id}-2`, params: { amount: 2_500 } });
  });

  it('that the provider rejects has failed, and can be made again', async () => {
    const order = await paidAtSanaga('620000000');
    expect((await refund(order, '6000')).status).toBe(303);
    await eventually(
      async () => {
        await payments.sweep();
        return paymentOf(order);
      },
      ({ final }) => final,
    );
    expect(paymentOf(order)).toMatchObject({ status: 'FAILED', failureCode: 'rejected_by_provider' });
    expect(await read(`/orders/${order.id}`)).toContain('No money was sent');
    expect(await read(`/admin/orders/${order.id}`, OWNER)).toContain('Refund in XAF');
  });

  it('whose answer was lost is asked for again with the same key, and paid once', async () => {
    const { id: orderId } = await paidAtSanaga();
    await reopen(losesAnswers);
    expect((await refund(known(orderId), '6000')).status).toBe(303);
    expect(lastOf(known(orderId))).not.toHaveProperty('payment');
    expect((await refund(known(orderId), '6000')).status).toBe(422);
    await reopen();
    await payments.sweep();
    const { id } = paymentOf(known(orderId));
    await eventually(
      async () => stack.transactionsOf(id),
      (transactions) => transactions.length > 0,
    );
    await payments.sweep();
    expect(store.attempts(orderId)).toHaveLength(2);
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a sweep', () => {
  it('learns of outcomes whose notifications never came', async () => {
    const order = await place();
    const payment = await eventually(
      async () => {
        await payments.check(order);
        return paymentOf(order);
      },
      ({ link }) => link !== undefined,
    );
    await stack.visit({ link: payment.link ?? '' }, 'pay');
    await stack.hint({ id: payment.id, transId: payment.transId ?? '' });
    await eventually(
      async () => {
        await submit('/admin/sweep', {}, OWNER);
        return stateNow(order).kind;
      },
      (kind) => kind === 'paid',
    );
    expect(store.notices(`order-${order.id}`)).toEqual([]);
  });

  it('says so when Sanaga does not answer', async () => {
    await reopen(unreachable);
    const response = await submit('/admin/sweep', {}, OWNER);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('Sanaga does not answer');
  });
});
