import type { ResponseHeader } from '../route.js';
import type { JsonObject } from './schema-components.js';

export const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  description:
    'Chooses the id of this request in the logs: 1 to 64 characters of a-z, A-Z, 0-9, `.`, `_`, `:` and `-`. Any other is replaced.',
  schema: { type: 'string' },
};

export const text = (description: string) => ({ description, schema: { type: 'string' } });

export type HeaderName =
  | ResponseHeader
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'X-Request-Id'
  | 'Retry-After'
  | 'WWW-Authenticate';

/** The headers of responses, by their names. */
export const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  'X-Request-Id': { ...text("The request's id in the logs: yours, or one made by Sanaga."), required: true },
  Location: { ...text("The payment's address."), required: true },
  'Idempotent-Replayed': {
    description: 'An earlier request created the payment.',
    required: true,
    schema: { type: 'string', const: 'true' },
  },
  Link: text('The address of the next page, with `rel="next"`; the last page has none.'),
  RateLimit: text('The requests left to the API key: `r` for the next `t` seconds.'),
  'RateLimit-Policy': text('The limit of the API key: `q` requests in `w` seconds.'),
  'Retry-After': {
    description: 'After how many seconds to repeat the request.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { ...text('The way to authenticate, and the missing scope.'), required: true },
};

export const headersOf = (...names: readonly HeaderName[]) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Describes headers that only some of the responses have. */
export const optionalHeadersOf = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));
