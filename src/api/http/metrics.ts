import type { RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { recordOf } from './request-log.js';

/** What became of a provider's notification. */
const WEBHOOK_RESULTS = [
  'taken',
  'agrees',
  'late',
  'unmatched',
  'throttled',
  'malformed',
  'too_large',
  'unavailable',
] as const;
export type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

export interface Metrics {
  readonly registry: Registry;
  /** Counts and times every request, by method, route pattern and status. */
  readonly observe: RequestHandler;
  countWebhook(result: WebhookResult): void;
}

/** In seconds. Waiting reads last up to a minute, POSTs up to ten seconds, the rest milliseconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/** The methods that metrics name; a caller could fill the registry with invented ones. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The metrics of one app, in a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'sanaga_http_requests_total',
    help: 'HTTP requests; status 0 is a caller who hung up before the response',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'sanaga_http_request_duration_seconds',
    help: 'Time from a request to the end of its response',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers,
  });
  const webhooks = new Counter({
    name: 'sanaga_provider_webhooks_total',
    help: "The provider's notifications, by what became of them",
    labelNames: ['result'],
    registers,
  });
  for (const result of WEBHOOK_RESULTS) webhooks.inc({ result }, 0);

  return {
    registry,
    countWebhook: (result) => webhooks.inc({ result }),
    observe(request, response, next) {
      const stop = durations.startTimer();
      response.once('close', () => {
        const { route } = recordOf(request);
        const method = METHODS.has(request.method) ? request.method : 'other';
        requests.inc({ method, route, status: response.writableFinished ? response.statusCode : 0 });
        stop({ method, route });
      });
      next();
    },
  };
}
