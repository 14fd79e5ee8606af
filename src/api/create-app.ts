import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { ApiKeySetting } from '../config.js';
import type { Api, Limits } from './api.js';
import { createAuthenticate } from './authenticate.js';
import { HintLimit, KeepLimit, MOST_HINTS, MOST_REOPENINGS } from './hint-limit.js';
import { logRequests } from './log-requests.js';
import { createMetrics } from './metrics.js';
import { mountRoutes } from './mount-routes.js';
import { Descriptions } from './payments/descriptions.js';
import { SharedUpdates } from './payments/shared-updates.js';
import { notFound } from './problem.js';
import { recordOf } from './request-record.js';
import { routes } from './routes/all.js';
import { sendProblem } from './send-problem.js';
import { sharedBalance } from './shared-balances.js';
import { Shutdown } from './shutdown.js';

/** What the merchant's API is made of; times in ms. */
export interface AppOptions
  extends Pick<
    Api,
    'client' | 'taskQueue' | 'namespace' | 'terms' | 'providers' | 'webhookToken' | 'logger'
  > {
  readonly apiKeys: readonly ApiKeySetting[];
  /** Base address of Temporal's Web UI; without it, payments carry no link to it. */
  readonly temporalUiUrl?: string | undefined;
  readonly answerWithinMs?: number;
  readonly shutdown?: Shutdown;
  readonly limits?: Limits;
}

/**
 * The merchant's API as an Express app.
 *
 * @example createServer(createApp({ client, taskQueue: 'payments', … })).listen(3000)
 */
export function createApp({
  apiKeys,
  temporalUiUrl,
  answerWithinMs = 10_000,
  shutdown = new Shutdown(),
  limits = createLimits(),
  providers,
  ...options
}: AppOptions): Express {
  const ui = { url: temporalUiUrl, namespace: options.namespace };
  const metrics = createMetrics();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  app.use(metrics.observe, logRequests(options.logger), helmet(), everyAnswer(shutdown));
  const api = {
    ...options,
    ui,
    metrics,
    shutdown,
    answerWithinMs,
    limits,
    descriptions: new Descriptions(options.client),
    updates: new SharedUpdates(),
    providers: { collection: sharedBalance(providers.collection), payout: sharedBalance(providers.payout) },
  };
  mountRoutes(app, routes, api, createAuthenticate(apiKeys));
  app.use(() => {
    throw notFound();
  });
  app.use(sendProblem);
  return app;
}

/** The limits of one process, at what the interface is meant for. */
export function createLimits(): Limits {
  return {
    hints: new HintLimit(MOST_HINTS),
    reopenings: new HintLimit(MOST_REOPENINGS),
    kept: new KeepLimit(),
  };
}

function everyAnswer(shutdown: Shutdown): RequestHandler {
  return (request, response, next) => {
    response.set('X-Request-Id', recordOf(request).id);
    // Payments change and are nobody else's business: no cache may keep them.
    response.set('Cache-Control', 'no-store');
    if (shutdown.begun) response.set('Connection', 'close');
    next();
  };
}
