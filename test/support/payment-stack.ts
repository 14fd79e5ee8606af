import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type Clock, scaledClock } from '../../sandbox/clock.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { createActivities } from '../../src/activities/activities.js';
import { refundedCollections } from '../../src/activities/refunded-collections.js';
import { Book } from '../../src/book/book.js';
import { type MerchantNotification, type MerchantNotifier, webhookBody } from '../../src/delivery/merchant.js';
import { runOutbox } from '../../src/delivery/outbox.js';
import { paymentReports } from '../../src/engine/reports.js';
import { ringer } from '../../src/engine/ring.js';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import { createProviderClient } from '../../src/provider/client.js';
import { dataConverterOf, type Encryption } from '../../src/temporal/encryption.js';
import { runKeeper } from '../../src/worker/keeper.js';
import { createPaymentWorker } from '../../src/worker/payment-worker.js';
import { startDevServer } from '../../stack/temporal/start-dev-server.js';
import {
  type Answered,
  type ApiUnderTest,
  type ApiUnderTestOptions,
  KEYS,
  startApi,
  stillBeginning,
  terms,
  WEBHOOK_TOKEN,
} from './api-under-test.js';
import { newBook } from './books.js';
import { workflowBundle } from './bundle-workflows.js';
import { expectDocumentedWebhook } from './documented.js';
import { eventually } from './eventually.js';
import { noMeasures } from './no-measures.js';
import { noMerchant } from './no-merchant.js';
import { testEncryption } from './test-encryption.js';

const services = {
  collection: { apiUser: 'collector', apiKey: 'collector-key' },
  payout: { apiUser: 'payer', apiKey: 'payer-key' },
} as const;

/**
 * Time that the API under test waits for an answer before it says 202: even on a busy machine, the answer comes
 * earlier.
 */
const ANSWER_WITHIN_MS = 20_000;

/**
 * The same for the hasty one. Temporal's dev server answers nothing any more ("interrupted") once a call is given up
 * while the server writes down its subject.
 */
export const HASTY_MS = 1_500;

/** Number of orders that move money that the worker of a stack can have under way. */
export const ORDER_SLOTS = 10;

/** Bodies of requests. */
export const link = { method: 'link', amount: 500 };
export const payout = { amount: 700, phone: '677000000' };

interface StackOptions {
  /** Without it, merchants have no address. */
  readonly merchant?: MerchantNotifier;
  /** More of Temporal's dynamic configuration. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  /** The sandbox's; by default, the time is what it is. */
  readonly clock?: Clock;
  /** Time limit for the provider's answers, in ms. Default: 15 s. */
  readonly providerTimeoutMs?: number;
  /** The first API's and the first worker's: with a key of the suite's, if not given. */
  readonly encryption?: Encryption;
}

type PaymentStack = Awaited<ReturnType<typeof startStack>>;

/**
 * A book, Temporal's dev server, a worker, the provider's sandbox and the API over real HTTP. The sandbox sends no
 * notifications, and the worker doesn't poll for minutes, so that a payment moves only when a test moves it.
 */
async function startStack({
  merchant = noMerchant,
  dynamicConfig = {},
  clock = scaledClock(),
  providerTimeoutMs = 15_000,
  encryption = testEncryption,
}: StackOptions = {}) {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const server = await startDevServer({ report: () => undefined, ui: false, dynamicConfig });
  const sandbox = createSandbox({ clock, merchantName: 'Shop', services, settleDelayMs: 1 });
  const { url } = await sandbox.listen(0);
  const common = { url, timeoutMs: providerTimeoutMs, orderSlots: ORDER_SLOTS };
  const providers = {
    collection: createProviderClient({ service: 'collection', ...services.collection, ...common }),
    payout: createProviderClient({ service: 'payout', ...services.payout, ...common }),
  };
  const book = await newBook(encryption);
  const apis: ApiUnderTest[] = [];
  /** Another API on the same book and Temporal. */
  const startMore = async (options: ApiUnderTestOptions = {}) => {
    const api = await startApi({
      address: server.address,
      bookUrl: book.url,
      providers,
      temporalUiUrl: 'http://127.0.0.1:8233',
      answerWithinMs: ANSWER_WITHIN_MS,
      terms: { ...terms, providerTimeoutMs: 4_000 },
      encryption,
      ...options,
    });
    apis.push(api);
    return api;
  };

  const connection = await NativeConnection.connect({ address: server.address });
  async function startWorker(workerEncryption = encryption, by = connection) {
    const client = new Client({ connection: by, dataConverter: dataConverterOf(workerEncryption) });
    const own = new Book(book.url, workerEncryption);
    const ring = ringer(client, 'payments', own);
    const logger = pino({ level: 'silent' });
    const worker = await createPaymentWorker({
      connection: by,
      namespace: 'default',
      taskQueue: 'payments',
      encryption: workerEncryption,
      activities: createActivities({
        book: own,
        providers,
        collections: refundedCollections(own, ring),
        limitsOf: () => ({}),
        logger,
        reports: paymentReports(logger, noMeasures),
      }),
      workflowBundle: workflowBundle(),
      limits: {
        maxCachedWorkflows: 100,
        maxConcurrentWorkflowTasks: 10,
        maxConcurrentActivities: ORDER_SLOTS,
        maxConcurrentLocalActivities: 10,
        shutdownGraceMs: 500,
      },
    });
    const stop = new AbortController();
    const running = [
      worker.run(),
      runOutbox({ book: own, merchant, slots: 10, logger }, stop.signal),
      runKeeper({ book: own, ring, logger }, stop.signal),
    ];
    return async () => {
      stop.abort();
      worker.shutdown();
      await Promise.all(running);
      await own.close();
    };
  }
  let stopWorker = await startWorker();
  const api = await startMore();
  const hasty = await startMore({ answerWithinMs: HASTY_MS });

  return {
    api,
    book: book.book,
    bookUrl: book.url,
    address: server.address,
    sandbox,
    providers,
    ...clientsOf(api),
    /** Clients of another API, which soon answers 202 to what isn't done by then. */
    hasty: clientsOf(hasty),
    startMore,
    /** Runs something while no worker does. */
    async withoutWorker<T>(run: () => Promise<T>): Promise<T> {
      await stopWorker();
      try {
        return await run();
      } finally {
        stopWorker = await startWorker();
      }
    },
    /** Another worker beside the first. @returns how to stop it */
    async startMoreWorkers(): Promise<() => Promise<void>> {
      // The SDK takes two workers of one queue in a process only if they don't share a connection.
      const own = await NativeConnection.connect({ address: server.address });
      const stopMore = await startWorker(encryption, own);
      return async () => {
        await stopMore();
        await own.close();
      };
    },
    /** A worker that encrypts in another way takes the place of the one that runs. */
    async restartWorker(workerEncryption: Encryption): Promise<void> {
      await stopWorker();
      stopWorker = await startWorker(workerEncryption);
    },
    visit,
    /** A payout of 700 XAF that the provider leaves without a clear answer. @returns its id */
    async doubtfulPayout(by: ApiUnderTest = api, key: string = KEYS.shop): Promise<string> {
      sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
      const headers = { 'idempotency-key': randomUUID() };
      const ask = () => by.ask('POST', '/v1/payouts', { key, body: payout, headers });
      // An API in a hurry may be answered 503 before Temporal has begun the payment.
      return stillBeginning(await eventually(ask, ({ status }) => status !== 503));
    },
    transactionsOf: (id: string) => sandbox.ledger.all().filter(({ externalId }) => externalId === id),
    async stop(): Promise<void> {
      for (const one of apis) await one.stop();
      await stopWorker();
      await connection.close();
      await sandbox.close();
      for (const provider of Object.values(providers)) provider.close();
      await book.drop();
      await server.stop();
    },
  };
}

/** A {@link startStack} for the tests of a file or of a `describe`. Faults are cleared after each. */
export function useStack(options: StackOptions = {}): PaymentStack {
  const stack = {} as PaymentStack;
  beforeAll(async () => {
    Object.assign(stack, await startStack(options));
  });
  afterEach(() => stack.sandbox.faults.clear());
  afterAll(() => stack.stop());
  return stack;
}

/**
 * A merchant's address that answers every notification in the same way, and records it. In the end, all of them are
 * compared with the OpenAPI document.
 */
export function recordingMerchant(answer: () => DeliveryOutcome = () => ({ kind: 'delivered' })) {
  const notified: MerchantNotification[] = [];
  const take = async (notification: MerchantNotification) => {
    notified.push(notification);
    return answer();
  };
  afterAll(() => {
    for (const notification of notified) expectDocumentedWebhook({ text: webhookBody(notification) });
  });
  return { notified, merchant: { notifyMerchant: take } };
}

/** Returns the calls of a merchant and of the provider to the API. */
function clientsOf(api: ApiUnderTest) {
  const post = (path: string, body?: unknown, idempotencyKey?: string, key: string = KEYS.shop): Promise<Answered> =>
    api.ask('POST', path, {
      key,
      body,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });
  const notify = (transaction: unknown) =>
    api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: transaction });
  const hint = ({ id, transId }: { id: string; transId: string }, status = 'SUCCESSFUL') =>
    notify({ transId, status, externalId: id });
  const read = (id: string, query = '', key: string = KEYS.shop) =>
    api.ask('GET', `/v1/payments/${id}${query}`, { key });
  /** A payment that the provider has taken. */
  async function begun(path: string, body: unknown, idempotencyKey?: string) {
    const answer = await post(path, body, idempotencyKey);
    if (answer.status === 201) return answer.body;
    const id = stillBeginning(answer);
    const later = await eventually(
      () => read(id),
      (payment) => payment.body.transId !== undefined,
    );
    return later.body;
  }

  /** A link that a worker has begun to work on: it has asked the provider about it once. */
  async function asked(body: unknown = link, idempotencyKey?: string) {
    const payment = await begun('/v1/collections', body, idempotencyKey);
    await post(`/v1/payments/${payment.id}/refresh`);
    return payment;
  }

  return {
    post,
    notify,
    hint,
    /** An operator's decision, on the review that the payment is under. */
    async decide(id: string, decision: object): Promise<Answered> {
      const { review } = (await read(id, '', KEYS.operator)).body;
      const body = { review: review?.number ?? 1, ...decision };
      return await post(`/v1/payments/${id}/resolve`, body, undefined, KEYS.operator);
    },
    /** Returns the number of notifications with this result, by the metrics. */
    async counted(result: string): Promise<number> {
      const text = await api.metrics();
      return Number(new RegExp(`sanaga_provider_webhooks_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1]);
    },
    begun,
    asked,
    read,
    /** A link of 500 XAF that was paid, and has come to its end. */
    async paid(idempotencyKey?: string) {
      const payment = await begun('/v1/collections', link, idempotencyKey);
      await visit(payment, 'pay');
      await hint(payment);
      await read(payment.id, '?wait=60');
      return payment;
    },
  };
}

/** The payer fills in the checkout page. */
async function visit(payment: { link: string }, action: 'pay' | 'decline'): Promise<void> {
  const body = new URLSearchParams({ phone: '670000000', medium: '', action });
  const { status, headers } = await fetch(payment.link, { method: 'POST', body, redirect: 'manual' });
  const next = new URL(headers.get('location') ?? '', payment.link).href;
  const page = next.startsWith(payment.link) ? await fetch(next, { redirect: 'manual' }) : undefined;
  const answer = page && page.status >= 400 ? page.status : status;
  if (answer >= 400) throw new Error(`the checkout page answered ${answer}`);
}
