import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { PaymentId } from '../payments/payment-id.js';
import type { ProblemCode } from './problem.js';

/** What is known of a request for its log line and its metrics: no body, no address, no header. */
export interface RequestRecord {
  readonly id: string;
  /** The route's pattern, never the address itself: that of the provider's webhook has a secret in it. */
  route: string;
  /** Name of the API key's owner. */
  caller?: string;
  paymentId?: PaymentId;
  code?: ProblemCode;
  /** Why it failed, when that is our own fault. */
  error?: unknown;
  /** What came of a provider's notification. */
  result?: string;
}

/** The route of a request that matched none. */
const NO_ROUTE = 'none';

const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

const records = new WeakMap<IncomingMessage, RequestRecord>();

/** The request's record, made at its first call, with the caller's `X-Request-Id` when that is one fit for a log. */
export function recordOf(request: IncomingMessage): RequestRecord {
  const known = records.get(request);
  if (known !== undefined) return known;

  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
  const record: RequestRecord = { id, route: NO_ROUTE };
  records.set(request, record);
  return record;
}
