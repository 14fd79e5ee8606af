import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { RequestHandler } from 'express';
import { recordOf } from '../http/request-log.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { EndedWork, Tracing } from '../telemetry/tracing.js';

/** The calls to Temporal of the request that is being served. */
const callsOfRequest = new AsyncLocalStorage<EndedWork[]>();

/**
 * Puts each POST that is about a payment into that payment's trace when it has been answered: only then is it known
 * which payment it was. Reads are left out, as merchants may make any number of them.
 */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    if (request.method !== 'POST') return next();
    const begunAt = Date.now();
    const calls: EndedWork[] = [];
    response.once('close', () => {
      const { paymentId: named, route } = recordOf(request);
      const paymentId = parsePaymentId(named);
      if (paymentId === undefined) return;
      const { statusCode } = response;
      const attributes = {
        'http.request.method': 'POST',
        'http.route': route,
        'http.response.status_code': statusCode,
      };
      const failed = statusCode >= 500;
      const work = { name: `POST ${route}`, begunAt, endedAt: Date.now(), attributes, failed };
      tracing.recordRequest(paymentId, work, [...calls], request.headersDistinct.traceparent?.[0]);
    });
    callsOfRequest.run(calls, next);
  };
}

/** Makes a call to Temporal, and records it for the request that is being served, if there is one. */
async function timed<T>(name: string, message: string, call: () => Promise<T>): Promise<T> {
  const calls = callsOfRequest.getStore();
  if (calls === undefined) return await call();
  const begunAt = Date.now();
  let failed = true;
  try {
    const answer = await call();
    failed = false;
    return answer;
  } finally {
    calls.push({ name: `temporal ${name}`, begunAt, endedAt: Date.now(), attributes: { message }, failed });
  }
}

/** Records the calls to Temporal that are made for a request. */
export const temporalCalls: WorkflowClientInterceptor = {
  start: (input, next) => timed('start', input.workflowType, () => next(input)),
  signalWithStart: (input, next) => timed('signal-with-start', input.signalName, () => next(input)),
};
