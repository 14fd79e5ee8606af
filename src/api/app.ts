import { parse as parseQuery } from 'node:querystring';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet, { type HelmetOptions } from 'helmet';
import { Registry } from 'prom-client';
import { Statements } from '../book/statements.js';
import { Changes } from '../engine/changes.js';
import { keepPeople } from '../engine/keep-people.js';
import { createNotificationLimits, type NotificationLimits } from '../engine/notification-limits.js';
import { ProviderLooks } from '../engine/provider-looks.js';
import { temporalCheck } from '../engine/temporal-calls.js';
import { measureWaiting } from '../engine/waiting.js';
import { createAuthenticator } from '../http/auth.js';
import { createMetrics } from '../http/metrics.js';
import { sendProblem } from '../http/problem.js';
import { type RequestAllowance, RequestLimits } from '../http/request-limits.js';
import { logRequests, recordOf } from '../http/request-log.js';
import type { UnparsedRequest } from '../http/server.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import { Shutdown } from '../process/shutdown.js';
import { type Merchant, namedKeysIn } from '../settings/merchants.js';
import type { Tracing } from '../telemetry/tracing.js';
import { notFound } from './api-error.js';
import { measureBalances } from './balance-metrics.js';
import type { ApiContext, ApiProviders } from './context.js';
import { toProblem } from './engine-problems.js';
import { mountRoutes } from './mount-routes.js';
import { describeApi } from './openapi/document.js';
import { statusesOf } from './openapi/problems.js';
import { traceRequests } from './request-traces.js';
import type { Route } from './route.js';
import { approvePayout, rejectPayout } from './routes/approvals.js';
import { getBalance, sharedBalance } from './routes/balance.js';
import { createCollection, expireCollection } from './routes/collections.js';
import { getErrors } from './routes/errors-page.js';
import { listEvents } from './routes/events.js';
import { healthz, readyz, sharedReadiness } from './routes/health.js';
import { listPayments } from './routes/list-payments.js';
import {
  listAbandonedNotifications,
  listDueNotifications,
  listNotifications,
  resendNotification,
} from './routes/notifications.js';
import { getKey, listUnmatched } from './routes/operations.js';
import { getPayment, refreshPayment } from './routes/payments.js';
import { cancelPayout, createPayout } from './routes/payouts.js';
import { getProviderRecords } from './routes/provider-records.js';
import { countUnparsed, providerWebhook } from './routes/provider-webhook.js';
import { getOpenApi, getReference, getReferenceScript } from './routes/reference.js';
import { createRefund, listRefunds } from './routes/refunds.js';
import { resolvePayment } from './routes/resolve-payment.js';
import { listReviews } from './routes/reviews.js';
import { getStatement, listStatements, makeStatement } from './routes/statements.js';
import { getTimeline } from './routes/timeline.js';
import { measureStatements } from './statement-metrics.js';

/** Every route of the API. */
export const routes: readonly Route[] = [
  createCollection,
  createPayout,
  createRefund,
  listRefunds,
  listPayments,
  getPayment,
  expireCollection,
  cancelPayout,
  approvePayout,
  rejectPayout,
  refreshPayment,
  resolvePayment,
  listReviews,
  getTimeline,
  listEvents,
  getProviderRecords,
  listNotifications,
  resendNotification,
  getBalance,
  listStatements,
  getStatement,
  makeStatement,
  getKey,
  providerWebhook,
  listUnmatched,
  listDueNotifications,
  listAbandonedNotifications,
  healthz,
  readyz,
  getOpenApi,
  getReference,
  getErrors,
  getReferenceScript,
];

export interface AppOptions
  extends Pick<
    ApiContext,
    'client' | 'taskQueue' | 'namespace' | 'terms' | 'webhookToken' | 'logger' | 'book' | 'onTurn'
  > {
  readonly providers: ApiProviders;
  readonly merchants: readonly Merchant[];
  /** The balance of the payout service that operators are warned below, in XAF; none by default. */
  readonly floatWarnBelow?: number | undefined;
  /** Limits on the requests of each API key; as good as unlimited by default. */
  readonly allowance?: RequestAllowance;
  /** Proxies before the API that tell it the caller's address; none by default. */
  readonly trustedProxies?: number;
  /** Base address of Temporal's Web UI. Without it, payments carry no link to it. */
  readonly temporalUiUrl?: string | undefined;
  /** See {@link ApiContext}; 10 seconds by default. */
  readonly answerWithinMs?: number;
  readonly shutdown?: Shutdown;
  readonly limits?: NotificationLimits;
  /** Receives the API's metrics. */
  readonly registry?: Registry;
  /** The book's, by default. */
  readonly statements?: Statements;
  /** Traces the payments' requests; nobody does, by default. */
  readonly tracing?: Tracing | undefined;
}

/** The merchants' API. */
export interface Api {
  readonly app: Express;
  /** Serves these merchants from now on, and no others. Requests under way are not disturbed. */
  replaceMerchants(merchants: readonly Merchant[]): void;
  /** Takes note of a request that could not be parsed. */
  onUnparsed(request: UnparsedRequest): void;
}

const UNLIMITED: RequestAllowance = {
  perMinute: Number.MAX_SAFE_INTEGER,
  concurrent: Number.MAX_SAFE_INTEGER,
  active: Number.MAX_SAFE_INTEGER,
  failures: Number.MAX_SAFE_INTEGER,
};

/**
 * The merchants' API as an Express app.
 *
 * @example createServer(createApp({ client, taskQueue: 'payments', … })).listen(3000)
 */
export function createApp(options: AppOptions): Express {
  return createApi(options).app;
}

/** The merchants' API, whose merchants can be replaced while it serves. */
export function createApi({
  merchants,
  allowance = UNLIMITED,
  trustedProxies = 0,
  temporalUiUrl,
  floatWarnBelow,
  answerWithinMs = 10_000,
  shutdown = new Shutdown(),
  limits = createNotificationLimits(),
  registry = new Registry(),
  tracing,
  providers,
  ...options
}: AppOptions): Api {
  const metrics = createMetrics(
    registry,
    routes.map((route) => ({
      method: route.method.toUpperCase(),
      route: route.path,
      // 0: the caller hung up.
      statuses: [0, ...statusesOf(route)],
    })),
  );
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies);
  // By default, parameters after the first thousand are dropped, empty ones counted, and none may be ignored.
  app.set('query parser', (query: string) => parseQuery(query, undefined, undefined, { maxKeys: 0 }));
  app.use(metrics.observe, logRequests(options.logger), helmet(SECURITY), setCommonHeaders(shutdown));
  if (tracing !== undefined) app.use(traceRequests(tracing));
  const context: ApiContext = {
    ...options,
    ui: { url: temporalUiUrl, namespace: options.namespace },
    metrics,
    shutdown,
    answerWithinMs,
    limits,
    requestLimits: new RequestLimits(allowance),
    changes: new Changes(options.book),
    checkTemporal: temporalCheck(options.client, options.namespace),
    links: providers.collection,
    tracing,
    readiness: sharedReadiness(options),
    openApi: describeOnce(),
    statements: options.statements ?? new Statements(options.book),
    providers: { collection: sharedBalance(providers.collection), payout: sharedBalance(providers.payout) },
    readers: providers,
    looks: new ProviderLooks(),
  };
  measureWaiting(registry, context);
  measureStatements(registry, context);
  measureBalances(registry, context.providers, floatWarnBelow);
  const authenticator = createAuthenticator(merchants);
  void keepPeople(options.book, namedKeysIn(merchants), options.logger);
  mountRoutes(app, routes, context, authenticator);
  app.use(({ path }) => {
    throw notFound(path);
  });
  app.use(explain, sendProblem);
  return {
    app,
    replaceMerchants(next) {
      void keepPeople(options.book, namedKeysIn(next), options.logger);
      authenticator.replace(next);
    },
    onUnparsed: (request) => countUnparsed(request, context),
  };
}

/** Turns the engine's errors into problems. */
const explain: ErrorRequestHandler = (error: unknown, request, _response, next) =>
  next(toProblem(error, parsePaymentId(recordOf(request).paymentId)) ?? error);

/** Few ask for the document, and making it takes longer than the rest of the API's start. */
function describeOnce(): () => Buffer {
  let document: Buffer | undefined;
  return () => {
    document ??= Buffer.from(JSON.stringify(describeApi(routes)));
    return document;
  };
}

/**
 * Responses are JSON: a browser that shows one may load nothing with it. The page of `/docs` has a policy of its own.
 */
const SECURITY: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xDownloadOptions: false,
};

function setCommonHeaders(shutdown: Shutdown): RequestHandler {
  return (request, response, next) => {
    response.set('X-Request-Id', recordOf(request).id);
    // Payments change, and are private: no cache may keep them.
    response.set('Cache-Control', 'no-store');
    if (shutdown.begun) response.set('Connection', 'close');
    next();
  };
}
