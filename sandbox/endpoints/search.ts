import { z } from 'zod';
import { phoneMediumSchema, providerLimits } from '../../src/provider/schemas.js';
import type { Entry } from '../entry.js';
import { dateOf } from '../wire-transaction.js';
import type { Endpoint, World } from './endpoint.js';

const { searchLimitMax, searchLimitDefault } = providerLimits;

/** Every parameter, each left out when its value is not one of those allowed. PENDING can't be searched for. */
const parameters = z.object({
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
type Search = z.output<typeof parameters>;

/** Whether an entry is searched for. Both dates are inclusive (the sandbox's choice) and mean the initiation. */
function matches(entry: Entry, { status, medium, start, end, amt }: Search): boolean {
  if (status !== undefined && entry.status.toLowerCase() !== status) return false;
  if (medium !== undefined && entry.medium !== medium) return false;
  if (amt !== undefined && entry.amount !== amt) return false;
  // Dates of this form compare as text.
  const date = dateOf(entry.createdAt);
  return (start === undefined || date >= start) && (end === undefined || date <= end);
}

/** `GET /search`: the service's transactions by any of seven parameters; invalid values are ignored. */
export const search = ({ ledger, clock }: World): Endpoint => ({
  name: 'search',
  method: 'get',
  path: '/search',
  answer: ({ service, query, showAll }) => {
    const asked = parameters.parse(query);
    const now = clock.now();
    const found = ledger
      .all()
      .filter((entry) => entry.service === service.kind && entry.listedFrom <= now && matches(entry, asked));
    if (asked.sort === 'desc') found.reverse();
    return { status: 200, body: showAll(found.slice(0, asked.limit)) };
  },
});
