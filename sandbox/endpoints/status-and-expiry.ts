import { ALREADY_EXPIRED, expirePaySchema, providerLimits } from '../../src/provider/wire.js';
import type { Clock } from '../clock.js';
import type { Entry } from '../entry.js';
import {
  ApiError,
  type Endpoint,
  type EndpointContext,
  ownEntry,
  readBody,
  unknownTransaction,
} from './endpoint.js';

/** `GET /payment-status/{transId}`: a transaction, at most 6 times a minute. */
export const paymentStatus = ({ ledger, clock }: EndpointContext): Endpoint => ({
  name: 'payment-status',
  method: 'get',
  path: '/payment-status/:parameter',
  handle: ({ service, parameter, show }) => {
    const entry = ownEntry(ledger, service, parameter);
    limitStatusCalls(entry, clock);
    return { status: 200, body: show(entry), entry };
  },
});

/**
 * Allows 6 status requests for a transaction in any 60 seconds. The window slides; refused requests don't count.
 * @throws ApiError 429, with Retry-After in real seconds
 */
function limitStatusCalls(entry: Entry, clock: Clock): void {
  const { statusCallsPerWindow, statusWindowMs } = providerLimits;
  const now = clock.now();
  const calls = entry.statusCalls;
  while (calls.recent[0] !== undefined && calls.recent[0] <= now - statusWindowMs) calls.recent.shift();
  const [first] = calls.recent;
  if (first === undefined || calls.recent.length < statusCallsPerWindow) {
    calls.recent.push(now);
    calls.answered++;
    return;
  }
  calls.throttled++;
  const seconds = Math.ceil(clock.realMs(first + statusWindowMs - now) / 1000);
  throw new ApiError(429, `At most ${statusCallsPerWindow} status requests a minute for a transaction`, {
    'retry-after': String(Math.max(1, seconds)),
  });
}

/** `POST /expire-pay`: expires a link that is neither paid nor expired, even while an attempt is PENDING. */
export const expirePay = ({ ledger }: EndpointContext): Endpoint => ({
  name: 'expire-pay',
  method: 'post',
  path: '/expire-pay',
  handle: ({ service, body, show }) => {
    const { transId } = readBody(expirePaySchema, body);
    const result = ledger.expire(ownEntry(ledger, service, transId).transId);
    switch (result.kind) {
      case 'expired':
        return { status: 200, body: show(result.entry), entry: result.entry };
      case 'alreadyExpired':
        throw new ApiError(400, ALREADY_EXPIRED);
      case 'alreadyPaid':
        throw new ApiError(400, 'Link already paid');
      case 'notALink':
        throw new ApiError(400, 'Only a payment link can be expired');
      case 'unknown':
        throw unknownTransaction();
    }
  },
});
