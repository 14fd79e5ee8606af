import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type AppOptions, createApi } from '../../src/api/app.js';
import type { ApiProviders } from '../../src/api/context.js';
import { Book } from '../../src/book/book.js';
import { serve } from '../../src/http/server.js';
import type { PaymentTerms } from '../../src/payments/words/order.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { sha256Of } from '../../src/settings/api-keys.js';
import { type Merchant, type MerchantLimits, merchantsIn, type Scope } from '../../src/settings/merchants.js';
import { connectClient } from '../../src/temporal/connection.js';
import type { Encryption } from '../../src/temporal/encryption.js';
import { expectDocumented } from './documented.js';
import { eventually } from './eventually.js';
import { CLOSED_URL } from './local-servers.js';
import { testEncryption } from './test-encryption.js';

export const WEBHOOK_TOKEN = 'hook-token-0123456789';

/** Secrets of the keys that the API under test knows. */
export const KEYS = {
  shop: 'shop-secret',
  rival: 'rival-secret',
  operator: 'operator-secret',
  reader: 'reader-secret',
} as const;

interface KeyUnderTest {
  /** The merchant's. */
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly Scope[];
  /** The merchant's name, if not given. */
  readonly person?: string;
}

/** The merchants of some keys, with neither webhooks nor limits. */
export function merchantsWith(keys: readonly KeyUnderTest[], limits: MerchantLimits = {}): readonly Merchant[] {
  const names = [...new Set(keys.map(({ name }) => name))];
  const file = names.map((name) => ({
    name,
    keys: keys
      .filter((key) => key.name === name)
      .map(({ secret, scopes, person = name }) => ({ sha256: sha256Of(secret), scopes, person })),
    webhooks: [],
    limits: {},
  }));
  return merchantsIn({ MERCHANTS_FILE: file }, limits);
}

const merchants = merchantsWith([
  { name: 'shop', secret: KEYS.shop, scopes: ['collections', 'payouts', 'refunds', 'read', 'balance'] },
  { name: 'rival', secret: KEYS.rival, scopes: ['collections', 'payouts', 'read'] },
  { name: 'operator', secret: KEYS.operator, scopes: ['review'] },
  { name: 'reader', secret: KEYS.reader, scopes: ['read'] },
]);

export const terms: PaymentTerms = {
  linkLifetimeMs: 24 * 60 * 60 * 1000,
  pollFirstMs: 180_000,
  pollMaxMs: 3_600_000,
  ambiguousGraceMs: 900_000,
  ambiguousPolicy: 'review',
  resolveAfterMs: 0,
  sendByMs: 24 * 60 * 60_000,
  providerTimeoutMs: 15_000,
};

interface Asked {
  readonly key?: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, loosely typed for assertions; an empty object when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into bodies of every shape
  readonly body: any;
  readonly ms: number;
}

/**
 * The id of a payment that a busy machine answered for early: with 202 before the provider's answer, or with 503 before
 * Temporal's.
 *
 * @throws Error when the answer is another one
 */
export function stillBeginning({ status, body }: Pick<Answered, 'status' | 'body'>): string {
  const id = { 202: body.id, 503: body.paymentId }[status];
  if (id === undefined) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return id;
}

export type ApiUnderTest = Awaited<ReturnType<typeof startApi>>;

export interface ApiUnderTestOptions extends Partial<Omit<AppOptions, 'providers'>> {
  /** Methods of the provider's clients; one that a test doesn't give is missing. */
  readonly providers?: {
    readonly collection?: Partial<ApiProviders['collection']>;
    readonly payout?: Partial<ApiProviders['payout']>;
  };
  /** Temporal's. Without it, Temporal is down. */
  readonly address?: string;
  /** The book's. Without it, the book is away. */
  readonly bookUrl?: string;
  readonly level?: string;
  /** With a key of the suite's, if not given. */
  readonly encryption?: Encryption;
  /** The largest answer of Temporal that it takes. */
  readonly maxAnswerBytes?: number;
  /** Counts, delays or refuses the API's calls to Temporal. */
  readonly interceptor?: WorkflowClientInterceptor;
}

/** The API over real HTTP. Each response is compared with the OpenAPI document. */
export async function startApi(options: ApiUnderTestOptions = {}) {
  const {
    address = new URL(CLOSED_URL).host,
    bookUrl = `postgresql://nobody@${new URL(CLOSED_URL).host}/none`,
    level = 'debug',
    namespace = 'default',
    encryption = testEncryption,
    interceptor,
    maxAnswerBytes,
    providers,
    ...given
  } = options;
  const lines: string[] = [];
  const logger = pino({ level }, { write: (line) => lines.push(line) });
  const client = connectClient(
    { address, namespace },
    encryption,
    interceptor && { interceptors: { workflow: [interceptor] } },
    maxAnswerBytes,
  );
  const book = new Book(bookUrl, encryption);
  const shutdown = new Shutdown();
  const registry = new Registry();
  const notThere = async () => ({ kind: 'unavailable', reason: 'not there' }) as const;
  const none = {
    balance: notThere,
    initiatePay: async () => ({ kind: 'notSent', reason: 'not there' }) as const,
    transactionsOf: notThere,
    paymentStatus: notThere,
  };
  const { app, replaceMerchants, onUnparsed } = createApi({
    client,
    book,
    taskQueue: 'payments',
    namespace,
    terms,
    merchants,
    webhookToken: WEBHOOK_TOKEN,
    providers: {
      collection: { ...none, ...providers?.collection },
      payout: { ...none, ...providers?.payout },
    },
    logger,
    shutdown,
    registry,
    ...given,
  });
  const serving = await serve(app, { host: '127.0.0.1', port: 0, shutdown, onUnparsed });
  const url = `http://127.0.0.1:${serving.port}`;

  async function ask(method: string, path: string, asked: Asked = {}): Promise<Answered> {
    const { key, body, headers, signal } = asked;
    const begun = performance.now();
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(path === '/v1/payouts' && { 'idempotency-key': randomUUID() }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    expectDocumented(method, path, { status: response.status, headers: response.headers, text });
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : {},
      ms: performance.now() - begun,
    };
  }

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await serving.stop();
    await client.connection.close();
    await book.close();
  }

  return {
    url,
    lines,
    /** The log's line of a request, which may come a moment after its answer. */
    async lineOf(requestId: string) {
      const find = async () => lines.map((line) => JSON.parse(line)).find((line) => line.requestId === requestId);
      return await eventually(find, (line) => line !== undefined);
    },
    client,
    shutdown,
    serving,
    replaceMerchants,
    ask,
    /** Returns the metrics as Prometheus would read them. */
    metrics: () => registry.metrics(),
    stop(): Promise<void> {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** A {@link startApi} for the tests of a file or of a `describe`. */
export function useApi(options: ApiUnderTestOptions = {}): ApiUnderTest {
  const api = {} as ApiUnderTest;
  beforeAll(async () => {
    Object.assign(api, await startApi(options));
  });
  afterAll(() => api.stop());
  return api;
}
