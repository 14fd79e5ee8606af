import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { DefaultLogger, NativeConnection, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type ManualClock, manualClock } from '../../sandbox/clock.js';
import type { Entry } from '../../sandbox/entry.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import { refundedCollections } from '../../src/activities/refunded-collections.js';
import { createApp } from '../../src/api/app.js';
import { temporalCalls } from '../../src/api/request-traces.js';
import { Book } from '../../src/book/book.js';
import { takeOverdue } from '../../src/book/due.js';
import { type MerchantNotification, type MerchantNotifier, webhookBody } from '../../src/delivery/merchant.js';
import { runOutbox } from '../../src/delivery/outbox.js';
import { paymentMetrics } from '../../src/engine/payment-metrics.js';
import { type PaymentReports, paymentReports } from '../../src/engine/reports.js';
import { ringer } from '../../src/engine/ring.js';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import type { PaymentTerms } from '../../src/payments/words/order.js';
import type { Payment } from '../../src/payments/words/payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { ProviderCall } from '../../src/provider/calls.js';
import { createProviderClient } from '../../src/provider/client.js';
import { sha256Of } from '../../src/settings/api-keys.js';
import { merchantsIn } from '../../src/settings/merchants.js';
import { providerMetrics } from '../../src/telemetry/metrics.js';
import { type Tracing, traceProviderCalls } from '../../src/telemetry/tracing.js';
import { retryUntilClosed } from '../../src/temporal/connection.js';
import { dataConverterOf, type Encryption, NO_KEYS } from '../../src/temporal/encryption.js';
import { runKeeper } from '../../src/worker/keeper.js';
import { givenUpCounter, measuredNotifier } from '../../src/worker/metrics.js';
import { createPaymentWorker, type PaymentWorker } from '../../src/worker/payment-worker.js';
import { startDevServer } from '../../stack/temporal/start-dev-server.js';
import { saveHistory } from '../workflows/saved-histories.js';
import { stillBeginning } from './api-under-test.js';
import { newBook, type TestBook } from './books.js';
import { workflowBundle } from './bundle-workflows.js';
import { expectDocumented, expectDocumentedWebhook } from './documented.js';
import { eventually, PATIENCE_MS } from './eventually.js';
import { noMerchant } from './no-merchant.js';
import { terms as usualTerms } from './orders.js';
import { testEncryption } from './test-encryption.js';

const { EventType } = temporal.api.enums.v1;

const SECRET = 'a-key-for-tests';
const APPROVERS_SECRET = 'another-key-for-tests';
const TOKEN = 'a-token-for-tests-0123456789';

/** The header of a key of another person, who approves. */
export const APPROVER = { authorization: `Bearer ${APPROVERS_SECRET}` };

const CREDENTIALS = {
  collection: { apiUser: 'collector', apiKey: 'collector-key' },
  payout: { apiUser: 'payer', apiKey: 'payer-key' },
} as const;

/** Between two steps of the sandbox's clock while a test lets no time pass, in ms. */
const TICK_MS = 20;

const logger = pino({ level: 'silent' });

/** ms that requests may take to come to their end when the servers stop. */
const CLOSE_LIMIT_MS = 12_000;

/** A payer whose transaction succeeds after the first look-up for it. */
export const SUCCEEDS_LATER = '670000220';

/** An answer of the API: a payment, or a problem document. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Payment & { readonly code?: string; readonly detail?: string; readonly payment?: Payment };
}

/** A version of the worker, for Temporal's worker versioning. */
export interface WorkerVersion {
  readonly buildId: string;
  /** Its workflows. Default: those of today. */
  readonly bundle?: Parameters<typeof createPaymentWorker>[0]['workflowBundle'];
}

/** The deployment that versions belong to. */
const DEPLOYMENT = 'sanaga';

export interface WorldOptions {
  /** File of Temporal's database; in memory, if not given. */
  readonly databaseFile?: string;
  /** Encryption of payloads: with a key of the suite's, if not given. */
  readonly encryption?: Encryption;
  /** The same for the worker alone. */
  readonly workerEncryption?: Encryption;
  /** More of Temporal's dynamic configuration. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  /** Port of the metrics of Temporal's server. */
  readonly serverMetricsPort?: number;
  readonly terms?: Partial<PaymentTerms>;
  /** Time that the API waits for an answer to an order, in ms: less where most orders get none. */
  readonly answerWithinMs?: number;
  /** Workflows that the worker keeps in memory; with 0 it replays the history for each task. */
  readonly cachedWorkflows?: number;
  /** Activities that the worker runs at a time. */
  readonly activitySlots?: number;
  /** Time that a stopped worker waits for its activities, in ms. */
  readonly shutdownGraceMs?: number;
  readonly notify?: (notification: MerchantNotification) => Promise<DeliveryOutcome>;
  /** The first worker's version, where workers have one. */
  readonly version?: WorkerVersion;
  /** The worker's workflows; those of today, if not given. */
  readonly workflows?: WorkerVersion['bundle'];
  /** Takes the place of the worker's activities, for one that doesn't do as it should. */
  readonly activities?: (usual: Activities) => Activities;
  /** Receives the worker's metrics. */
  readonly registry?: Registry;
  /** Receives traces; none by default. */
  readonly tracing?: Tracing;
  /** The SDK's runtime, of which a test file has one: where logs and metrics go. */
  readonly runtime?: RuntimeOptions;
  /** Called for each call of the API to Temporal, with its name. */
  readonly onApiCall?: (rpc: string) => void;
  /** Called for each request to the provider, from anybody, with its path. */
  readonly onProviderRequest?: (path: string) => void;
}

/** The identity of who rings what is due when the clock was set ahead, where a timer would have fired. */
export const CLOCK = 'the clock of a test';

/** Temporal's server, and the connections to it that a client and a worker use. */
interface Connected {
  /** `host:port` */
  readonly address: string;
  readonly connection: Connection;
  readonly nativeConnection: NativeConnection;
}

/** A payment that is due is rung again after this. */
const RUNG_EVERY_MS = 2_000;

/**
 * For suites in which requests to the provider time out. With less time, a slow answer on a busy machine is taken for
 * one.
 */
export const HASTY = { answerWithinMs: 1_200, terms: { providerTimeoutMs: 1_000 } } as const;

/**
 * The whole of Sanaga with the provider behind it, in one process: API and sandbox over real HTTP, a worker, a book,
 * and Temporal's dev server. {@link PaymentWorld.pass} sets the clock of the book and of the sandbox ahead, and rings
 * what is due by then, as the keeper does. The timers of workflows follow the real time.
 */
export class PaymentWorld {
  /** Notifications to the merchant, in order. */
  readonly notifications: MerchantNotification[] = [];
  /** The API's answers, as {@link expectDocumented} takes them. */
  private readonly responses: Parameters<typeof expectDocumented>[] = [];
  private providerPort = 0;
  private readonly onCall: (call: ProviderCall) => void;
  private readonly onGivenUp: () => void;
  private readonly merchant: MerchantNotifier;
  /** By their version; under '' without one. */
  private readonly workers = new Map<string, { readonly worker: PaymentWorker; readonly running: Promise<void> }>();

  private constructor(
    readonly env: Connected,
    readonly client: Client,
    readonly sandbox: Sandbox,
    private readonly clock: WorldClock,
    private readonly servers: { readonly api: Server; readonly provider: Server },
    private readonly closing: (() => unknown)[],
    private readonly options: WorldOptions,
    readonly made: TestBook,
    registry: Registry,
    private readonly reports: PaymentReports,
  ) {
    this.onCall = providerMetrics(registry);
    this.onGivenUp = givenUpCounter(registry);
    const deliver = options.notify ?? noMerchant.notifyMerchant;
    const notify = async (notification: MerchantNotification) => {
      this.notifications.push(notification);
      return await deliver(notification);
    };
    this.merchant = measuredNotifier({ notifyMerchant: notify }, registry);
  }

  static async start(options: WorldOptions = {}): Promise<PaymentWorld> {
    quietRuntime(options.runtime);
    const { env, stopServer } = await startTemporal(options);
    const clock = new WorldClock();
    const made = await newBook(encryptionFor(options), () => clock.now());
    const dataConverter = dataConverterOf(encryptionFor(options));
    const { tracing } = options;
    const interceptors = tracing && { workflow: [temporalCalls] };
    const client = new Client({
      connection: env.connection,
      dataConverter,
      ...(interceptors && { interceptors }),
    });
    const apiConnection = await observedConnection(env, options.onApiCall);
    const terms = { ...usualTerms, ...options.terms };
    const { registry = new Registry() } = options;
    const reports = paymentReports(logger, paymentMetrics(registry), tracing);

    const provider = createServer();
    const api = createServer();
    await Promise.all([provider, api].map((server) => listen(server)));
    const clients = providerClients(addressOf(provider), terms.providerTimeoutMs, undefined, tracing);
    api.on(
      'request',
      createApp({
        book: made.book,
        client: apiConnection === undefined ? client : new Client({ connection: apiConnection, dataConverter }),
        taskQueue: 'payments',
        namespace: 'default',
        terms,
        merchants: merchantsIn({
          API_KEYS: [
            {
              name: 'shop',
              person: 'shop',
              sha256: sha256Of(SECRET),
              scopes: ['collections', 'payouts', 'read', 'balance', 'review'],
            },
            { name: 'shop', person: 'approver', sha256: sha256Of(APPROVERS_SECRET), scopes: ['approve'] },
          ],
        }),
        webhookToken: TOKEN,
        providers: clients,
        logger,
        onTurn: reports.report,
        answerWithinMs: options.answerWithinMs ?? 10_000,
        tracing,
      }),
    );
    const webhookUrl = `${addressOf(api)}/webhooks/provider/${TOKEN}`;
    const sandbox = createSandbox({
      clock: clock.sandboxs,
      merchantName: 'Test shop',
      publicUrl: addressOf(provider),
      services: {
        collection: { ...CREDENTIALS.collection, webhookUrl },
        payout: { ...CREDENTIALS.payout, webhookUrl },
      },
      seed: 1,
      webhookDelayMs: 0,
    });
    provider.on('request', (request, response) => {
      options.onProviderRequest?.(request.url ?? '');
      clock.tick();
      sandbox.app(request, response);
    });
    const closing = [
      ...Object.values(clients).map(({ close }) => close),
      () => apiConnection?.close(),
      () => env.connection.close(),
      () => env.nativeConnection.close(),
      stopServer,
      () => made.drop(),
      () => clock.stop(),
    ];
    const world = new PaymentWorld(
      env,
      client,
      sandbox,
      clock,
      { api, provider },
      closing,
      options,
      made,
      registry,
      reports,
    );
    await world.startWorker(options.version);
    return world;
  }

  /**
   * Throws when the API has answered, or the merchant was notified of, something that isn't as in the OpenAPI document.
   * That is compared only here: a test's provider has less time to answer than the first comparison takes on a busy
   * machine.
   */
  async stop(): Promise<void> {
    await this.stopWorker();
    await this.sandbox.close();
    for (const server of Object.values(this.servers)) await closeServer(server);
    for (const close of this.closing) await close();
    for (const response of this.responses) expectDocumented(...response);
    for (const notification of this.notifications) expectDocumentedWebhook({ text: webhookBody(notification) });
  }

  async startWorker(version?: WorkerVersion): Promise<void> {
    const providers = providerClients(
      addressOf(this.servers.provider),
      this.options.terms?.providerTimeoutMs ?? 2_000,
      this.onCall,
      this.options.tracing,
    );
    const book = new Book(this.made.url, this.options.workerEncryption ?? encryptionFor(this.options), () =>
      this.now(),
    );
    const ring = ringer(this.client, 'payments', book);
    const activities = createActivities({
      book,
      providers,
      collections: refundedCollections(book, ring),
      limitsOf: () => ({}),
      logger,
      reports: this.reports,
    });
    // The SDK takes two workers of one queue on one connection for a mistake.
    const connection =
      version === undefined ? this.env.nativeConnection : await NativeConnection.connect({ address: this.env.address });
    const worker = await createPaymentWorker({
      connection,
      namespace: 'default',
      taskQueue: 'payments',
      encryption: this.options.workerEncryption ?? encryptionFor(this.options),
      activities: this.options.activities?.(activities) ?? activities,
      workflowBundle: version?.bundle ?? this.options.workflows ?? workflowBundle(),
      deployment: version && { deploymentName: DEPLOYMENT, buildId: version.buildId },
      tracing: this.options.tracing,
      limits: {
        maxCachedWorkflows: this.options.cachedWorkflows ?? 100,
        maxConcurrentWorkflowTasks: 10,
        maxConcurrentActivities: this.options.activitySlots ?? 10,
        maxConcurrentLocalActivities: 10,
        shutdownGraceMs: this.options.shutdownGraceMs ?? 500,
      },
    });
    const stop = new AbortController();
    const { tracing } = this.options;
    const trace =
      tracing &&
      ((id: PaymentId, deliver: () => Promise<DeliveryOutcome>) =>
        tracing.run(id, 'notifyMerchant', {}, deliver, ({ kind }) => kind));
    const loops = [
      runOutbox({ book, merchant: this.merchant, slots: 10, logger, onGivenUp: this.onGivenUp, trace }, stop.signal),
      runKeeper({ book, ring, logger }, stop.signal),
    ];
    const close = async () => {
      stop.abort();
      await Promise.all(loops);
      await book.close();
      for (const provider of Object.values(providers)) provider.close();
      if (version !== undefined) await connection.close();
    };
    this.workers.set(version?.buildId ?? '', { worker, running: worker.run().finally(close) });
  }

  /** Stops the worker of this version; without a version, every worker. */
  async stopWorker(buildId?: string): Promise<void> {
    for (const [id, { worker, running }] of this.workers) {
      if (buildId !== undefined && id !== buildId) continue;
      worker.shutdown();
      await running;
      this.workers.delete(id);
    }
  }

  /** A payment that the API has begun. */
  async begin(path: 'collections' | 'payouts', body: object, headers = {}): Promise<Payment> {
    const answer = await this.post(`/v1/${path}`, body, headers);
    if (answer.status === 201) return answer.body;
    return await this.until(stillBeginning(answer), ({ transId }) => transId !== undefined);
  }

  /** An operator's decision on the review that the payment is under. */
  async resolve(id: string, decision: object): Promise<Answer> {
    const { review } = (await this.get(`/v1/payments/${id}`)).body;
    const body = { review: review?.number ?? 1, why: 'seen in the portal', ...decision };
    return await this.post(`/v1/payments/${id}/resolve`, body);
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.call(path, { method: 'POST', body: JSON.stringify(body), headers });
  }

  async get(path: string): Promise<Answer> {
    return await this.call(path, {});
  }

  /** Returns the events of the payment's timeline. */
  async events(id: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await this.get(`/v1/payments/${id}/events`);
    const { data } = body as unknown as { readonly data: readonly Readonly<Record<string, unknown>>[] };
    return data;
  }

  /** The payer fills in the checkout page. Returns 303, or the error of the page that it leads to. */
  async visit(payment: Payment, action: 'pay' | 'decline', phone = '670000000'): Promise<number> {
    const link = String(payment.link);
    const { status, headers } = await fetch(link, {
      method: 'POST',
      body: new URLSearchParams({ phone, medium: '', action }),
      redirect: 'manual',
    });
    const next = new URL(headers.get('location') ?? '', link).href;
    const page = next.startsWith(link) ? await fetch(next, { redirect: 'manual' }) : undefined;
    await this.notified();
    return page && page.status >= 400 ? page.status : status;
  }

  /** The provider comes to an end with a pending transaction. */
  async settle(id: string, status: 'SUCCESSFUL' | 'FAILED'): Promise<void> {
    for (const transaction of this.transactionsOf(id)) this.sandbox.ledger.settle(transaction, status);
    await this.notified();
  }

  /** From now on the provider's address takes no connection, or takes them again. */
  async refuseConnections(refuse: boolean): Promise<void> {
    const { provider } = this.servers;
    if (refuse) {
      this.providerPort = (provider.address() as AddressInfo).port;
      provider.closeAllConnections();
      await new Promise((resolve) => provider.close(resolve));
    } else {
      await new Promise<void>((resolve) => provider.listen(this.providerPort, '127.0.0.1', resolve));
    }
  }

  /** The provider's first transaction that is as expected. */
  async untilTransaction(expected: (transaction: Entry) => boolean): Promise<Entry> {
    const deadline = Date.now() + PATIENCE_MS;
    while (Date.now() < deadline) {
      const found = this.sandbox.ledger.all().find(expected);
      if (found !== undefined) return found;
      await pause(20);
    }
    throw new Error('the provider has no such transaction');
  }

  /** ms since the epoch, as the book and the provider have it. */
  now(): number {
    return this.clock.now();
  }

  /** Every notification that is due has been taken. */
  private async notified(): Promise<void> {
    this.clock.tick();
    await this.sandbox.quiet();
  }

  /** Sends a notification as the provider would, or as anybody might who knows the address. */
  async notify(payment: Payment, fields: Record<string, unknown>): Promise<number> {
    const body = { transId: payment.transId, externalId: payment.id, status: 'SUCCESSFUL', ...fields };
    return (await this.post(`/webhooks/provider/${TOKEN}`, body)).status;
  }

  /** Lets time pass: whatever is due on the way is done in its time. */
  async pass(durationMs: number): Promise<void> {
    const end = this.now() + durationMs;
    for (;;) {
      await this.notified();
      await this.isQuiet();
      const next = Math.min(end, await this.nextDue());
      this.clock.skipTo(next);
      if (next >= end) break;
    }
    await this.notified();
    await this.isQuiet();
  }

  /** Rings what is due, and waits until all of that is done. Without a worker, nothing is. */
  private async isQuiet(): Promise<void> {
    if (this.workers.size === 0) return;
    const { book } = this.made;
    const deadline = Date.now() + PATIENCE_MS;
    const { connection, options } = this.client;
    const client = new Client({ connection, dataConverter: options.dataConverter, identity: CLOCK });
    const ring = ringer(client, 'payments', book);
    // The keeper, which waits a minute, leaves a worker the time for its turn: a bell at its end is another task.
    const rungAt = new Map<string, number>();
    for (let due = await dueOf(book); due.length > 0; due = await dueOf(book)) {
      if (Date.now() > deadline) throw new Error(`what is due is not done, of ${due.join(', ')}`);
      for (const id of await takeOverdue(book, 0, 100, book.now())) {
        if (Date.now() - (rungAt.get(id) ?? 0) < RUNG_EVERY_MS) continue;
        rungAt.set(id, Date.now());
        await ring(id);
      }
      await pause(20);
    }
  }

  /** Rings a payment, as the API and the keeper do. */
  async ring(id: string): Promise<void> {
    await ringer(this.client, 'payments', this.made.book)(id as PaymentId);
  }

  /** When something is due next, by the book or at the provider. */
  private async nextDue(): Promise<number> {
    const [row] = await this.made.book.query(
      `SELECT least((SELECT min(wake_at) FROM states WHERE wake_at > $1),
                    (SELECT min(due_at) FROM notifications WHERE due_at > $1)) AS at`,
      [new Date(this.now())],
    );
    const at = row?.at instanceof Date ? row.at.getTime() : Number.POSITIVE_INFINITY;
    return Math.min(at, this.clock.nextDue() ?? Number.POSITIVE_INFINITY);
  }

  /** The payment once it is as expected. */
  async until(id: string, expected: (payment: Payment) => boolean): Promise<Payment> {
    const deadline = Date.now() + PATIENCE_MS;
    let last: Answer | undefined;
    while (Date.now() < deadline) {
      last = await this.get(`/v1/payments/${id}`);
      if (last.status === 200 && expected(last.body)) return last.body;
      await pause(20);
    }
    throw new Error(`payment ${id} is not as expected: ${JSON.stringify(last?.body)}`);
  }

  async untilStatus(id: string, status: Payment['status']): Promise<Payment> {
    return await this.until(id, (payment) => payment.status === status);
  }

  /**
   * As {@link ended}, for an outcome that is checked for a day after the end, since money was sent again or doubted.
   */
  async checked(id: string, scenario?: string): Promise<readonly string[]> {
    await this.pass(25 * 60 * 60_000);
    return await this.ended(id, scenario);
  }

  /**
   * The payment's history when its workflow has ended, and its merchant was told what is due; kept as `scenario` when
   * SAVE_HISTORIES is set.
   */
  async ended(id: string, scenario?: string): Promise<readonly string[]> {
    const handle = this.client.workflow.getHandle(id);
    await Promise.race([
      handle.result(),
      pause(PATIENCE_MS, undefined, { ref: false }).then(() => Promise.reject(new Error(`${id} did not end`))),
    ]);
    await eventually(
      () =>
        this.made.book.query(
          'SELECT 1 FROM notifications WHERE payment_id = $1 AND (due_at <= $2 OR attempt IS NOT NULL)',
          [id, new Date(this.now())],
        ),
      ({ length }) => length === 0,
    );
    if (scenario !== undefined) await saveHistory(scenario, await handle.fetchHistory());
    return await this.historyOf(id);
  }

  /** The types of the events in a payment's history. */
  async historyOf(id: string): Promise<readonly string[]> {
    const { events } = await this.client.workflow.getHandle(id).fetchHistory();
    return events?.map(({ eventType }) => EventType[eventType ?? 0]?.replace('EVENT_TYPE_', '') ?? '?') ?? [];
  }

  /** The provider's own record of a payment's transactions. */
  transactionsOf(id: string) {
    return this.sandbox.ledger.all().filter(({ externalId }) => externalId === id);
  }

  private async call(path: string, { headers, ...request }: RequestInit): Promise<Answer> {
    const response = await fetch(`${addressOf(this.servers.api)}${path}`, {
      ...request,
      headers: {
        authorization: `Bearer ${SECRET}`,
        'content-type': 'application/json',
        ...(path === '/v1/payouts' && { 'idempotency-key': randomUUID() }),
        ...headers,
      },
    });
    const text = await response.text();
    const { status, headers: received } = response;
    this.responses.push([request.method ?? 'GET', path, { status, headers: received, text }]);
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }
}

/**
 * The payments of which something is due in a book, or that were told something that isn't taken. A try to notify a
 * merchant is waited for: it would be taken for lost when the clock is set ahead.
 */
async function dueOf(book: Book): Promise<readonly string[]> {
  const rows = await book.query(
    `SELECT id FROM states WHERE wake_at <= $1
     UNION SELECT payment_id FROM inbox WHERE taken_in IS NULL
     UNION SELECT payment_id FROM notifications WHERE due_at <= $1 OR attempt IS NOT NULL`,
    [new Date(book.now())],
  );
  return rows.map(({ id }) => String(id));
}

/** The time of a world: that of the machine, and what a test has skipped. */
class WorldClock {
  #skipped = 0;
  /** The sandbox's, which is set to the world's again and again. */
  readonly sandboxs: ManualClock = manualClock(Date.now());
  readonly #ticking = setInterval(() => this.tick(), TICK_MS);

  now(): number {
    return Date.now() + this.#skipped;
  }

  tick(): void {
    this.sandboxs.advanceTo(this.now());
  }

  /** Sets the clock ahead; it never goes back. */
  skipTo(timeMs: number): void {
    this.#skipped += Math.max(0, timeMs - this.now());
    this.tick();
  }

  nextDue(): number | undefined {
    return this.sandboxs.nextDue();
  }

  stop(): void {
    clearInterval(this.#ticking);
  }
}

/** Saved histories are replayed without any key, and their payloads read by people. */
function encryptionFor({ encryption = testEncryption }: WorldOptions): Encryption {
  return process.env.SAVE_HISTORIES === undefined ? encryption : NO_KEYS;
}

async function startTemporal({ serverMetricsPort: metricsPort, databaseFile, dynamicConfig }: WorldOptions) {
  const server = await startDevServer({
    report: () => undefined,
    ui: false,
    ...(databaseFile !== undefined && { databaseFile }),
    ...(metricsPort !== undefined && { metricsPort }),
    ...(dynamicConfig !== undefined && { dynamicConfig }),
  });
  const { address } = server;
  // What is still tried again when a suite ends would otherwise fail the next suite of its process.
  const connection = await Connection.connect({ address, interceptors: retryUntilClosed() });
  const env = { address, connection, nativeConnection: await NativeConnection.connect({ address }) };
  return { env, stopServer: () => server.stop() };
}

/** A connection of the API's own, on which each call, and each time that it is tried again, is told of. */
async function observedConnection(
  { address }: Connected,
  onCall: WorldOptions['onApiCall'],
): Promise<Connection | undefined> {
  if (onCall === undefined) return undefined;
  const observe: Interceptor = (options, nextCall) => {
    onCall(options.method_definition.path.split('/').at(-1) ?? '');
    return new InterceptingCall(nextCall(options));
  };
  return await Connection.connect({ address, interceptors: [...retryUntilClosed(), observe] });
}

function providerClients(url: string, timeoutMs: number, onCall?: (call: ProviderCall) => void, tracing?: Tracing) {
  const common = { url, timeoutMs, onCall, traceCall: tracing && traceProviderCalls(tracing) };
  return {
    collection: createProviderClient({ service: 'collection', ...CREDENTIALS.collection, ...common }),
    payout: createProviderClient({ service: 'payout', ...CREDENTIALS.payout, ...common }),
  };
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

/**
 * Requests that are being answered come to their end first: what they ask of Temporal must not outlive its connection.
 */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
  await closed;
  clearTimeout(late);
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Workers log what they do for operators; a test's output is for what failed. The runtime is one for each test file.
 */
let quiet = false;
function quietRuntime(more: RuntimeOptions = {}): void {
  if (!quiet) Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [], ...more });
  quiet = true;
}
