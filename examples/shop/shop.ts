import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { SanagaError, verifyWebhook, WebhookVerificationError } from 'sanaga/client';
import { goods } from './goods.ts';
import { goodsPage, messagePage, orderPage, ordersPage, ownersOrderPage } from './pages.ts';
import { type Payments, stateOf } from './payments.ts';
import type { Order, Store } from './store.ts';

export interface ShopOptions {
  readonly store: Store;
  readonly payments: Payments;
  /** Address of the shop for its customers: `https://shop.example`. */
  readonly shopUrl: string;
  /** `whsec_…`; several, separated by commas, while it is being changed. */
  readonly webhookSecret: string;
  readonly ownerPassword: string;
}

/** The shop's pages, and the address of its webhook, `/webhooks/sanaga`. */
export function createShop({ store, payments, shopUrl, webhookSecret, ownerPassword }: ShopOptions): Express {
  const app = express().disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set({
      'Content-Security-Policy':
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
      // An order's address is its key: no other site may learn it.
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    });
    next();
  });

  // Before any parser: the signature is that of the raw body.
  app.post(
    '/webhooks/sanaga',
    express.raw({ type: () => true, limit: '1mb' }),
    async (request: Request, response: Response) => {
      try {
        const event = await verifyWebhook(request.body ?? '', request.headers, webhookSecret.split(','));
        // Once this returns, it is on the disk. If it throws, the answer is 500, and Sanaga sends it again.
        store.receive(event);
        response.sendStatus(204);
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        response.status(400).type('text').send(`${error.message}\n`);
      }
    },
  );

  app.use(onlyFromOurPages(shopUrl), express.urlencoded({ extended: false, limit: '10kb' }));
  app.use('/admin', onlyTheOwner(ownerPassword));

  addCustomerPages(app, store, payments);
  addOwnerPages(app, store, payments);
  addErrorPages(app);
  return app;
}

/** The goods, and a customer's order. Its address is its key. */
function addCustomerPages(app: Express, store: Store, payments: Payments): void {
  app.get('/', (_request, response) => {
    response.send(goodsPage());
  });
  app.get('/shop.css', (_request, response) => {
    response.sendFile(fileURLToPath(new URL('shop.css', import.meta.url)));
  });

  app.post('/orders', async (request, response) => {
    const { id, item, phone } = fieldsOf(request);
    const good = goods.get(item);
    const number = readPhone(phone);
    if (good === undefined || number === undefined) {
      const mistake =
        good === undefined ? 'Choose what you would like.' : 'Enter a Cameroonian mobile number, such as 677 000 000.';
      response.status(422).send(goodsPage({ item, phone, mistake }));
      return;
    }
    const wanted = { item: good.name, amount: good.price, phone: number };
    const order = placeOrder(store, UUID.test(id) ? id : randomUUID(), wanted);
    await payments.collect(order);
    response.redirect(303, `/orders/${order.id}`);
  });

  app.get('/orders/:id', async (request, response) => {
    const order = orderOf(store, request);
    if (stateOf(store.attempts(order.id)).kind === 'preparing') await payments.check(order);
    response.send(orderPage(order, store.attempts(order.id)));
  });

  // Where the checkout page sends the payer. Anybody can come here, and write anything into the address: Sanaga is
  // asked.
  app.get('/orders/:id/return', async (request, response) => {
    const order = orderOf(store, request);
    await payments.check(order, { wait: true });
    response.redirect(303, `/orders/${order.id}`);
  });

  app.post('/orders/:id/pay', async (request, response) => {
    const order = orderOf(store, request);
    await payments.collect(order);
    response.redirect(303, `/orders/${order.id}`);
  });
}

/** All orders, and refunds. */
function addOwnerPages(app: Express, store: Store, payments: Payments): void {
  const ownersPage = (order: Order, mistake?: string) =>
    ownersOrderPage({ order, attempts: store.attempts(order.id) }, (key) => store.notices(key), mistake);

  app.get('/admin', (_request, response) => {
    const orders = store.orders().map((order) => ({ order, attempts: store.attempts(order.id) }));
    response.send(ordersPage(orders));
  });

  app.get('/admin/orders/:id', (request, response) => {
    response.send(ownersPage(orderOf(store, request)));
  });

  app.post('/admin/orders/:id/refund', async (request, response) => {
    const order = orderOf(store, request);
    const mistake = await payments.refund(order, wholeNumber(fieldsOf(request).amount));
    if (mistake === undefined) response.redirect(303, `/admin/orders/${order.id}`);
    else response.status(422).send(ownersPage(order, mistake));
  });

  app.post('/admin/orders/:id/retry', async (request, response) => {
    const order = orderOf(store, request);
    await payments.retry(order);
    response.redirect(303, `/admin/orders/${order.id}`);
  });

  app.post('/admin/sweep', async (_request, response) => {
    await payments.sweep();
    response.redirect(303, '/admin');
  });
}

function addErrorPages(app: Express): void {
  app.use(() => {
    throw new NoSuchPage();
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof NoSuchPage) {
      response.status(404).send(messagePage('There is no such page', 'Is the address complete?'));
      return;
    }
    if (error instanceof SanagaError) {
      response.status(503).send(messagePage('Sanaga does not answer', `Try again in a moment. (${error.message})`));
      return;
    }
    process.stderr.write(`shop: ${error instanceof Error ? error.stack : String(error)}\n`);
    response.status(500).send(messagePage('That went wrong', 'Please reload the page: nothing is charged twice.'));
  });
}

function orderOf(store: Store, { params }: Request): Order {
  const order = store.order(String(params.id));
  if (order === undefined) throw new NoSuchPage();
  return order;
}

class NoSuchPage extends Error {}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The form's id makes one order of a form that is sent twice; one that was changed in between is another order. */
function placeOrder(store: Store, id: string, wanted: Pick<Order, 'item' | 'amount' | 'phone'>): Order {
  const order = store.addOrder({ id, ...wanted });
  const isSame = order.item === wanted.item && order.phone === wanted.phone;
  return isSame ? order : store.addOrder({ id: randomUUID(), ...wanted });
}

/** Digits alone: `Number` would also read `1e3` and `0x10`, which nobody means to pay. */
function wholeNumber(text: string): number {
  return /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : Number.NaN;
}

/** A form's fields; one that is missing is empty. */
function fieldsOf({ body }: Request): Record<'id' | 'item' | 'phone' | 'amount', string> {
  const field = (name: string) => {
    const value: unknown = body?.[name];
    return typeof value === 'string' ? value : '';
  };
  return { id: field('id'), item: field('item'), phone: field('phone'), amount: field('amount') };
}

/** A Cameroonian mobile number in its national form, `677000000`; `undefined` for anything else. */
function readPhone(text: string): string | undefined {
  const digits = text.replace(/[\s.-]/g, '').replace(/^(\+|00)?237/, '');
  return /^6\d{8}$/.test(digits) ? digits : undefined;
}

/**
 * Refuses forms of other sites, which a browser would send with the owner's password. Browsers name the form's origin.
 */
function onlyFromOurPages(shopUrl: string) {
  const { origin } = new URL(shopUrl);
  return (request: Request, response: Response, next: NextFunction) => {
    if (/^(GET|HEAD)$/.test(request.method) || request.get('origin') === origin) return next();
    response.status(403).send(messagePage('Not from this shop', `Open the shop at ${origin}, and try again.`));
  };
}

/** HTTP's own sign-in, in place of your shop's. */
function onlyTheOwner(password: string) {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(`owner:${password}`);
  return (request: Request, response: Response, next: NextFunction) => {
    const [, given = ''] = /^Basic (.+)$/i.exec(request.get('authorization') ?? '') ?? [];
    if (timingSafeEqual(hash(Buffer.from(given, 'base64').toString()), expected)) return next();
    response
      .status(401)
      .set('WWW-Authenticate', 'Basic realm="The shop\'s owner"')
      .send(messagePage('For the owner', 'Sign in as "owner".'));
  };
}
