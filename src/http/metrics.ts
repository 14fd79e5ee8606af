import type { RequestHandler } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';
import { recordOf } from './request-log.js';

/** The result of a provider's notification. */
const WEBHOOK_RESULTS = [
  'taken',
  'agrees',
  'late',
  'unmatched',
  'throttled',
  'malformed',
  'too_large',
  'wrong_token',
  'unavailable',
] as const;
export type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

export interface Metrics {
  /** Counts and times every request, by method, route pattern and status. */
  readonly observe: RequestHandler;
  countWebhook(result: WebhookResult): void;
}

/** In seconds. Waiting reads last up to a minute, POSTs up to ten seconds, the rest milliseconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/** The methods that metrics name; a caller could fill the registry with invented ones. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A route, and the statuses that its responses can have. */
interface ExpectedRequests {
  readonly method: string;
  readonly route: string;
  readonly statuses: readonly number[];
}

/** The metrics of an app's requests. Those of `expected` routes start at 0. */
export function createMetrics(registry: Registry, expected: readonly ExpectedRequests[]): Metrics {
  const registers = [registry];
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
    help: "The provider's notifications, by what became of them. One that is repeated is counted again",
    labelNames: ['result'],
    registers,
  });
  for (const result of WEBHOOK_RESULTS) webhooks.inc({ result }, 0);
  for (const { method, route, statuses } of expected) {
    durations.zero({ method, route });
    for (const status of statuses) requests.inc({ method, route, status }, 0);
  }

  return {
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
