import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { describeError } from './describe-error.js';
import { recordOf } from './request-record.js';

/** Asked every few seconds by machines: of no interest in a log. */
const ROUTINE = new Set(['/healthz', '/readyz', '/metrics']);

/** One log line a request, made of its record alone: addresses, headers and bodies can hold what no log may. */
export function logRequests(logger: Logger): RequestHandler {
  return pinoHttp({
    logger,
    genReqId: (request) => recordOf(request).id,
    customAttributeKeys: { reqId: 'requestId' },
    quietReqLogger: true,
    quietResLogger: true,
    wrapSerializers: false,
    serializers: { req: () => undefined, res: () => undefined, err: describeError },
    customLogLevel: (request, response) => levelOf(recordOf(request).route, response.statusCode),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request failed',
    customSuccessObject: (request, response, { responseTime }) => facts(request, response, responseTime),
    customErrorObject: (request, response, _, { responseTime }) => facts(request, response, responseTime),
  });
}

function levelOf(route: string, status: number) {
  if (ROUTINE.has(route)) return 'debug';
  if (status === 503) return 'warn';
  return status >= 500 ? 'error' : 'info';
}

function facts(request: IncomingMessage, response: ServerResponse, ms: number) {
  const { id: _, error, ...record } = recordOf(request);
  return {
    method: request.method,
    ...record,
    status: response.statusCode,
    ms,
    ...(!response.writableFinished && { hungUp: true }),
    ...(error !== undefined && { err: error }),
  };
}
