import { z } from 'zod';
import { identifierSchema, phoneMediumSchema, providerLimits } from '../../src/provider/schemas.js';
import type { Clock } from '../clock.js';
import { dateOf, type Entry } from '../entry.js';
import { ApiError, type Endpoint, type EndpointContext, ownEntry } from './endpoint.js';

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

/** `GET /transaction/{userId}`: all transactions of a user, unpaged; newest first (undocumented). */
export const userListing = ({ ledger, clock }: EndpointContext): Endpoint => ({
  name: 'transaction',
  method: 'get',
  path: '/transaction/:parameter',
  handle: ({ service, parameter, showAll }) => {
    if (!identifierSchema.safeParse(parameter).success) {
      throw new ApiError(400, 'userId: must be 1 to 100 of a-z, A-Z, 0-9, - and _');
    }
    const now = clock.now();
    const found = ledger.ofUser(parameter).filter((entry) => entry.service === service.kind && entry.listedFrom <= now);
    return { status: 200, body: showAll(found.reverse()) };
  },
});

const { searchLimitMax, searchLimitDefault } = providerLimits;

/** Invalid values are ignored, as if left out. PENDING can't be searched for. */
const searchQuery = z.object({
  status: z.enum(['created', 'successful', 'failed', 'expired']).optional().catch(undefined),
  medium: phoneMediumSchema.optional().catch(undefined),
  start: z.iso.date().optional().catch(undefined),
  end: z.iso.date().optional().catch(undefined),
  amt: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional()
    .catch(undefined),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(searchLimitMax))
    .catch(searchLimitDefault),
  sort: z.enum(['asc', 'desc']).catch('desc'),
});
type SearchQuery = z.output<typeof searchQuery>;

/** Both dates are compared with the date of initiation, inclusively (undocumented). */
function matches(entry: Entry, { status, medium, start, end, amt }: SearchQuery): boolean {
  if (status !== undefined && entry.status.toLowerCase() !== status) return false;
  if (medium !== undefined && entry.medium !== medium) return false;
  if (amt !== undefined && entry.amount !== amt) return false;
  // ISO dates compare as text.
  const date = dateOf(entry.createdAt);
  return (start === undefined || date >= start) && (end === undefined || date <= end);
}

/** `GET /search`: the service's transactions by any of seven parameters. */
export const search = ({ ledger, clock }: EndpointContext): Endpoint => ({
  name: 'search',
  method: 'get',
  path: '/search',
  handle: ({ service, query, showAll }) => {
    const search = searchQuery.parse(query);
    const now = clock.now();
    const found = ledger
      .all()
      .filter((entry) => entry.service === service.kind && entry.listedFrom <= now && matches(entry, search));
    if (search.sort === 'desc') found.reverse();
    return { status: 200, body: showAll(found.slice(0, search.limit)) };
  },
});

const MAX_BALANCE_XAF = 10_000_000;

/**
 * `GET /balance`: a different random balance on each request, as in the provider's own sandbox, unless the payout
 * service was given funds.
 */
export const balance = ({ ledger, random, payoutFunds }: EndpointContext): Endpoint => {
  let requests = 0;
  return {
    name: 'balance',
    method: 'get',
    path: '/balance',
    handle: ({ service }) => ({
      status: 200,
      body: {
        service: service.name,
        balance:
          service.kind === 'payout' && payoutFunds !== undefined
            ? payoutFunds - ledger.paidOut
            : Math.floor(random.fraction('balance', service.kind, requests++) * MAX_BALANCE_XAF),
        currency: 'XAF',
      },
    }),
  };
};
