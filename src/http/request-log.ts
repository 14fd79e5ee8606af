import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';

/**
 * The parts of a request that the log and the metrics may have: no body, no URL, no header. The log has the caller's IP
 * address, too.
 */
export interface RequestRecord {
  /** The `X-Request-Id`: the caller's own, or one made here. A caller may send the same one again. */
  readonly id: string;
  /** The route's pattern, never the address itself: the address of the provider's webhook contains a secret. */
  route: string;
  /** Name of the API key's owner. */
  caller?: string;
  /** The payment that it was about. */
  paymentId?: string;
  /** Code of the problem that it was answered with. */
  code?: string;
  /** The fields and parameters that were wrong. */
  fields?: readonly string[];
  /** The cause of a 5xx. */
  error?: unknown;
  /** The result of a provider's notification. */
  result?: string;
}

/** The route of a request that matched none. */
const NO_ROUTE = 'none';

/** An X-Request-Id that is safe to log. */
const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

const records = new WeakMap<IncomingMessage, RequestRecord>();

/** The record of a request, made when it is first asked for. */
export function recordOf(request: IncomingMessage): RequestRecord {
  const known = records.get(request);
  if (known !== undefined) return known;

  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && SAFE_REQUEST_ID.test(given) ? given : randomUUID();
  const record: RequestRecord = { id, route: NO_ROUTE };
  records.set(request, record);
  return record;
}

/** Requested every few seconds by machines, so logged at level debug. */
const ROUTINE = new Set(['/healthz', '/readyz']);

/** Logs a line for each request, from its record alone: the rest may be personal or secret. */
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
    customSuccessObject: (request, response, { responseTime }) => requestFields(request, response, responseTime),
    customErrorObject: (request, response, _, { responseTime }) => requestFields(request, response, responseTime),
  });
}

function levelOf(route: string, status: number) {
  if (ROUTINE.has(route)) return 'debug';
  if (status === 503) return 'warn';
  return status >= 500 ? 'error' : 'info';
}

function requestFields(request: IncomingMessage, response: ServerResponse, ms: number) {
  const { id: _, error, ...record } = recordOf(request);
  return {
    method: request.method,
    // Express's address: behind a trusted proxy, the one that the proxy gives.
    ...('ip' in request && { ip: request.ip }),
    ...record,
    status: response.statusCode,
    ms,
    ...(!response.writableFinished && { hungUp: true }),
    ...(error !== undefined && { err: error }),
  };
}

/** An error and its causes, without what libraries attach to them, such as whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { type: name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) };
}
