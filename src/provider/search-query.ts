import { z } from 'zod';
import { SEARCH_LIMIT_MAX } from '../payments/limits.js';
import { phoneMediumSchema } from './wire.js';

/** What `GET /search` can filter on. The provider's dates are calendar dates, its amounts XAF. */
const searchQuerySchema = z.strictObject({
  status: z.enum(['created', 'successful', 'failed', 'expired']).optional(),
  medium: phoneMediumSchema.optional(),
  start: z.iso.date().optional(),
  end: z.iso.date().optional(),
  amt: z.int().optional(),
  limit: z.int().min(1).max(SEARCH_LIMIT_MAX).optional(),
  sort: z.enum(['asc', 'desc']).optional(),
});
export type SearchQuery = z.infer<typeof searchQuerySchema>;

/**
 * The path of a search, its query included.
 *
 * @throws ZodError on a wrong value: the provider ignores those, and so would list what wasn't asked for
 */
export function searchPath(query: SearchQuery): string {
  const parameters = Object.entries(searchQuerySchema.parse(query))
    .filter(([, value]) => value !== undefined)
    // Not URLSearchParams: it writes a space as `+`, which not every server reads as one.
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parameters.length === 0 ? 'search' : `search?${parameters.join('&')}`;
}
