import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { z } from 'zod';
import { PROBLEMS } from '../../schemas/problems.js';
import type { Route, RouteTag } from '../route.js';
import { HEADERS, REQUEST_ID } from './headers.js';
import { describeOperation } from './operations.js';
import { exampleOf, problemsOf } from './problems.js';
import { type JsonObject, SchemaComponents } from './schema-components.js';
import { describeWebhooks, WEBHOOKS_TAG } from './webhooks.js';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends JsonObject {
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly webhooks: Readonly<Record<string, JsonObject>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> } & JsonObject;
}

const packageSchema = z.object({ version: z.string() });
/** Wherever this was compiled to. */
const packageFile = findPackageJSON('..', import.meta.url) ?? 'package.json';

/**
 * Describes routes, leaving out those without a tag.
 *
 * @throws {Error} when two different schemas have the same id.
 */
export function describeApi(routes: readonly Route[]): OpenApiDocument {
  const { version } = packageSchema.parse(JSON.parse(readFileSync(packageFile, 'utf8')));
  const schemas = new SchemaComponents();
  const paths: Record<string, Record<string, JsonObject>> = {};
  const described = routes.filter(({ tag }) => tag !== undefined);
  for (const route of described) {
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method]: describeOperation(route, schemas) };
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sanaga',
      version,
      summary: 'Collect and send money in XAF by mobile money',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The installation that serves this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: schemas.all,
      examples: Object.fromEntries(
        [...new Set(described.flatMap(problemsOf))].map((code) => [
          code,
          { summary: PROBLEMS[code].title, value: exampleOf(code) },
        ]),
      ),
      headers: HEADERS,
      parameters: { 'X-Request-Id': REQUEST_ID },
      securitySchemes: { apiKey: API_KEY },
    },
  };
}

/** The path of a route as OpenAPI writes it: `/v1/payments/{id}`. */
export const openApiPath = (path: string) => path.replace(/:(\w+)/g, '{$1}');

const TAGS: Readonly<Record<RouteTag | typeof WEBHOOKS_TAG, string>> = {
  Collections: 'Money from payers, by link or with a request on the phone.',
  Payouts: 'Money to recipients.',
  Payments: 'Collections and payouts, as they are now.',
  Notifications: 'The events that were, or will be, sent to your webhook address.',
  [WEBHOOKS_TAG]: 'What is sent to your webhook address.',
  Balance: 'The balances of your services at the provider.',
  Statements: "A day's payments, compared with the provider's records of it.",
  Operations: 'For those who run Sanaga, and for the provider.',
};

const INTRODUCTION = `JSON over HTTP. Amounts are whole numbers of XAF; times are ISO 8601 in UTC. To generate a client, take
[openapi.json](/openapi.json).

**Authentication.** Send your API key with every call: \`Authorization: Bearer sk_…\`. Keep it on your server.

**Paying once.** Send an \`Idempotency-Key\` with every request that creates a payment. If you get no answer, or 503,
repeat the request with the same key: it never pays twice. A payout needs a key; without one, every request for a collection creates a new one.

**Outcomes.** A payment's \`final\` says whether its outcome is certain. Wait for the [notification](#tag/Webhooks),
or read the payment with \`?wait=30\`. Do not pay by other means while a payment is not final.

**Errors** are problem documents ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)). \`code\` is stable; \`detail\` is for
people. A method that an address doesn't have is answered 405 \`method_not_allowed\`, and an address that doesn't exist 404
\`not_found\`.

**Later versions.** Responses and notifications can get further fields, and their words (\`failureCode\`, \`status\`, \`type\`
and all that \`x-extensible-enum\` lists) further values at any time: ignore what you don't know. A \`const\`, such as \`currency\`, stays as it is.
Requests are strict: unknown and repeated fields are refused.`;

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key. Its scopes say what it allows: `collections` and `payouts` create payments, `refunds` refunds your collections, `approve` approves and rejects your payouts that wait for another person, `read` reads your own, `balance` shows balances, and `review` is for operators: it reads the payments of every merchant and decides on those in REVIEW.',
};
