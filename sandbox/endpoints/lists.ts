import { z } from 'zod';
import { identifierSchema, phoneMediumSchema, providerLimits } from '../../src/provider/wire.js';
import { dateOf, type Entry } from '../entry.js';
import { ApiError, type Endpoint, type EndpointContext } from './endpoint.js';

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
    const found = ledger
      .ofUser(parameter)
      .filter((entry) => entry.service === service.kind && entry.listedFrom <= now);
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
