import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { z } from 'zod';
import { PROBLEMS, type ProblemCode, problemType } from '../http/problem.js';
import type { PaymentEventType } from '../payments/words/payment.js';
import { PAYMENT_ID_PREFIX } from '../payments/words/payment-id.js';
import { exampleOfResponse, exampleOfWebhook } from './examples.js';
import type { ResponseHeader, Route, RouteTag } from './route.js';
import { paymentEventSchema } from './schemas/notification.js';
import { examplePayment } from './schemas/payment.js';
import { type Problem, problemSchema } from './schemas/problem.js';

/** The OpenAPI document, made from the schemas that requests are validated with and that describe responses. */

interface JsonObject {
  readonly [name: string]: unknown;
}

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
    paths[path] = { ...paths[path], [route.method]: describeRoute(route, schemas) };
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

const TAGS: Readonly<Record<RouteTag, string>> = {
  Collections: 'Money from payers, by link or with a request on the phone.',
  Payouts: 'Money to recipients.',
  Payments: 'Collections and payouts, as they are now.',
  Notifications: 'What was sent to your webhook address. What it is sent: see the webhooks.',
  Balance: 'The balances of your services at the provider.',
  Statements: 'What happened on a day, beside what the provider shows of it.',
  Operations: 'For those who run Sanaga, and for the provider.',
};

const INTRODUCTION = `JSON over HTTP. Amounts are whole numbers of XAF; times are ISO 8601 in UTC. To generate a client, take
[openapi.json](/openapi.json).

**Authentication.** Send your API key with every call: \`Authorization: Bearer sk_…\`. Keep it on your server.

**Paying once.** Send an \`Idempotency-Key\` with every request that creates a payment. If you get no answer, or 503,
repeat the request with the same key: it never pays twice. A payout needs a key; without one, every request for a collection creates a new one.

**Outcomes.** A payment's \`final\` says whether its outcome is certain. Wait for the [notification](#tag/Notifications),
or read the payment with \`?wait=30\`. Do not pay by other means while a payment is not final.

**Errors** are problem documents ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)). \`code\` is stable; \`detail\` is for
people. A method that an address doesn't have is answered 405 \`method_not_allowed\`, and an address that doesn't exist 404
\`not_found\`.

**Later versions.** Responses and notifications can get further fields, and their words (\`failureCode\`, \`status\`, \`type\`
and all that \`x-extensible-enum\` lists) further values at any time: ignore what you don't know. Requests are strict:
unknown and repeated fields are refused.`;

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key. Its scopes say what it allows: `collections` and `payouts` create payments, `read` reads your own, `balance` shows balances, and `review` is for operators: it reads the payments of every merchant and decides on those in REVIEW.',
};

const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  description:
    'Chooses the id of this request in the logs: 1 to 64 characters of a-z, A-Z, 0-9, `.`, `_`, `:` and `-`. Any other is replaced.',
  schema: { type: 'string' },
};

const text = (description: string) => ({ description, schema: { type: 'string' } });

type HeaderName =
  | ResponseHeader
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'X-Request-Id'
  | 'Retry-After'
  | 'WWW-Authenticate';

const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  'X-Request-Id': { ...text("The request's id in the logs: yours, or one made by Sanaga."), required: true },
  Location: { ...text("The payment's address."), required: true },
  'Idempotent-Replayed': {
    description: 'An earlier request created the payment.',
    required: true,
    schema: { type: 'string', const: 'true' },
  },
  Link: text('The address of the next page, with `rel="next"`; the last page has none.'),
  RateLimit: text('What is left for the API key: `r` requests for the next `t` seconds.'),
  'RateLimit-Policy': text('What the API key may make: `q` requests in `w` seconds.'),
  'Retry-After': {
    description: 'After how many seconds to repeat the request.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { ...text('How to authenticate, and which scope is missing.'), required: true },
};

const headersOf = (...names: readonly HeaderName[]) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers that only some of the responses have. */
const optionalHeadersOf = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));

const PROBLEM_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** What the parts of a path can be. Anything else is not found. */
const PATH_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  id: {
    description: "The payment's id",
    schema: {
      type: 'string',
      pattern: `^(?:${Object.values(PAYMENT_ID_PREFIX).join('|')})[a-zA-Z0-9_-]{1,96}$`,
    },
    example: examplePayment.id,
  },
  number: {
    description: "The notification's number",
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
    example: 1,
  },
  date: {
    description: 'A day in Douala',
    schema: { type: 'string', format: 'date' },
    example: '2026-11-21',
  },
  token: { description: 'The secret in the address', schema: { type: 'string', minLength: 1 } },
};

function describeRoute(route: Route, schemas: SchemaComponents): JsonObject {
  const { operationId, summary, tag } = route;
  const description = [route.description, describeScopes(route)].filter(Boolean).join('\n\n');
  const body = route.scopes === undefined ? route.rawBody : route.body;
  return {
    operationId,
    summary,
    ...(description !== '' && { description }),
    tags: [tag],
    security: route.scopes?.map((scope) => ({ apiKey: [scope] })) ?? [],
    parameters: describeParameters(route, schemas),
    ...(body && {
      requestBody: {
        required: route.scopes !== undefined,
        content: {
          'application/json': {
            schema: schemas.use(body, 'input'),
            ...('examples' in route && { examples: route.examples }),
          },
        },
      },
    }),
    responses: { ...describeResponses(route, schemas), ...describeProblems(route, schemas) },
  };
}

function describeScopes({ scopes }: Route): string | undefined {
  return scopes && `Scope: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

function describeParameters(route: Route, schemas: SchemaComponents): JsonObject[] {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARAMETERS[name],
  }));
  if (route.scopes === undefined) return inPath;
  const inQuery = route.query ? queryParameters(schemas.use(route.query, 'input')) : [];
  const { idempotencyKey: key } = route;
  const keys = key ? [parameter('Idempotency-Key', 'header', schemas.use(key.schema, 'input'), key.required)] : [];
  return [...inPath, ...inQuery, ...keys, { $ref: '#/components/parameters/X-Request-Id' }];
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  required: z.array(z.string()).default([]),
});

function queryParameters(schema: JsonObject): JsonObject[] {
  const { properties, required } = objectSchema.parse(schema);
  return Object.entries(properties).map(([name, property]) =>
    parameter(name, 'query', property, required.includes(name)),
  );
}

function parameter(name: string, place: 'query' | 'header', schema: JsonObject, required = false): JsonObject {
  const { description, ...rest } = schema;
  return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
}

function describeResponses(route: Route, schemas: SchemaComponents): JsonObject {
  const described = Object.entries(route.responses).map(([status, response]) => {
    const { description, headers = [], optionalHeaders = [] } = response;
    const examples = (isText: boolean) => shown(exampleOfResponse(route.operationId, status, isText));
    const content =
      'schema' in response
        ? {
            'application/json': { schema: schemas.use(response.schema, 'output'), examples: examples(false) },
            ...(response.alternative && {
              [response.alternative]: { schema: { type: 'string' }, examples: examples(true) },
            }),
          }
        : { [response.contentType]: { schema: { type: 'string' } } };
    const limits = route.scopes ? (['RateLimit', 'RateLimit-Policy'] as const) : [];
    const all = { ...headersOf(...headers, ...limits), ...optionalHeadersOf(...optionalHeaders) };
    return [status, { description, headers: all, content }];
  });
  return Object.fromEntries(described);
}

/** The codes of all problems. */
const codes = problemSchema.shape.code.options;

/** The codes of the problems that a route responds with. */
function problemsOf(route: Route): ProblemCode[] {
  const { path, problems = [] } = route;
  const needsKey: ProblemCode[] = ['unauthenticated', 'forbidden', 'rate_limited', 'too_many_attempts'];
  const readsBody: ProblemCode[] = ['invalid_request', 'malformed_json', 'body_too_large', 'unsupported_media_type'];
  const found = new Set<ProblemCode>(['internal_error', ...problems]);
  const add = (more: readonly ProblemCode[]) => more.map((code) => found.add(code));
  // A part of a path can be percent-encoded wrongly.
  if (path.includes(':')) add(['invalid_request']);
  if (route.scopes) add(needsKey);
  if (route.scopes && route.query) add(['invalid_request']);
  if (route.scopes && route.body) add(readsBody);
  if (route.scopes && route.idempotencyKey) add(['invalid_idempotency_key']);
  return codes.filter((code) => found.has(code));
}

/** The statuses of all responses of a route. */
export function statusesOf(route: Route): number[] {
  const problems = problemsOf(route).map((code) => PROBLEMS[code].status);
  return [...new Set([...Object.keys(route.responses).map(Number), ...problems])];
}

function describeProblems(route: Route, schemas: SchemaComponents): JsonObject {
  const all = problemsOf(route);
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))];
  const described = statuses.map((status) => {
    const here = all.filter((code) => PROBLEMS[code].status === status);
    const response = {
      description: here.map((code) => `\`${code}\`: ${PROBLEMS[code].cure}`).join('; '),
      headers: {
        ...headersOf(...(PROBLEM_HEADERS[status] ?? [])),
        ...(status === 422 && {
          Location: text('The address of the payment, if the provider rejected one.'),
          ...optionalHeadersOf('Idempotent-Replayed'),
        }),
      },
      content: {
        'application/problem+json': {
          schema: {
            allOf: [schemas.use(problemSchema, 'output')],
            properties: { code: { 'x-extensible-enum': here } },
          },
          examples: Object.fromEntries(here.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
    return [status, response];
  });
  return Object.fromEntries(described);
}

const ABOUT_A_PAYMENT: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'not_a_link',
  'not_expirable',
  'not_initiated',
  'not_cancelable',
  'not_under_review',
  'resolution_refused',
  'rejected_by_provider',
]);

const NAMES_A_PAYMENT: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['idempotency_key_reused', 'record_unreadable']);

/** One example, by a name: RapiDoc makes up its own in place of one that is in `example`. */
const shown = (value: unknown) => (value === undefined ? undefined : { example: { value } });

function exampleOf(code: ProblemCode): Problem {
  const { title, status, example: detail } = PROBLEMS[code];
  return {
    type: problemType(code),
    title,
    status,
    detail,
    code,
    requestId: 'cbf8e74d-ef1f-47d3-8594-65f699b1cfea',
    ...(code === 'invalid_request' && { errors: [{ field: 'amount', message: 'must be at least 100 XAF' }] }),
    ...(NAMES_A_PAYMENT.has(code) && { paymentId: examplePayment.id }),
    ...(ABOUT_A_PAYMENT.has(code) && { payment: examplePayment }),
  };
}

const EVENTS: Readonly<Record<PaymentEventType, string>> = {
  'payment.succeeded': 'The payment is SUCCESSFUL',
  'payment.failed': 'The payment is FAILED and final',
  'payment.expired': 'The link is EXPIRED',
  'payment.attempt_failed': 'The payer of a link tried to pay and failed; they can try again',
  'payment.review':
    'An operator has to look into the payment; an outcome follows. After an outcome, it means that this outcome is in doubt again',
};

const WEBHOOK_HEADERS = [
  {
    name: 'webhook-id',
    description: 'The same for every attempt: remember the ids that you have processed',
    schema: { type: 'string' },
    example: 'evt_col_2775d55233b9d4be2a8db3491967ed92_succeeded_1',
  },
  {
    name: 'webhook-timestamp',
    description: 'When this attempt was made, in seconds since 1970',
    schema: { type: 'integer' },
    example: 1_795_249_234,
  },
  {
    name: 'webhook-signature',
    description:
      'Signatures of `{webhook-id}.{webhook-timestamp}.{body}` by HMAC-SHA256, separated by spaces. While the secret is being changed there are two: one valid signature is enough',
    schema: { type: 'string' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
].map((header) => ({ ...header, in: 'header', required: true }));

function describeWebhooks(schemas: SchemaComponents): Record<string, JsonObject> {
  const events = Object.entries(EVENTS) as [PaymentEventType, string][];
  return Object.fromEntries(
    events.map(([type, summary]) => [
      type,
      {
        post: {
          operationId: type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          description:
            'Sent to your webhook address in the format of [Standard Webhooks](https://www.standardwebhooks.com). Verify the signature of the raw body. What you do not acknowledge within 5 seconds is sent again, for 72 hours.',
          tags: ['Notifications'],
          security: [],
          parameters: WEBHOOK_HEADERS,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: schemas.use(paymentEventSchema(type), 'output'),
                examples: shown(exampleOfWebhook(type)),
              },
            },
          },
          responses: {
            '2XX': { description: 'You have taken it.' },
            default: { description: 'Anything else, also a redirect: it is sent again.' },
          },
        },
      },
    ]),
  );
}

/** The schemas that have an id, collected as others refer to them. */
class SchemaComponents {
  readonly all: Record<string, JsonObject> = {};

  /**
   * A zod schema as JSON Schema.
   *
   * @param io which side of its transforms: what requests are made of, or what responses are
   */
  use(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => Object.assign(jsonSchema, discriminatorOf(zodSchema)),
    });
    const text = JSON.stringify({ root, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/');
    const converted = parsedSchemas.parse(JSON.parse(text, (_name, value) => tidy(value, io)));
    for (const [id, component] of Object.entries(converted.$defs)) {
      const known = this.all[id];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component)) {
        throw new Error(`two schemas have the id ${id}`);
      }
      this.all[id] = component;
    }
    return converted.root;
  }
}

/** Which field of a union's variants tells them apart, and which of its values belongs to which variant. */
function discriminatorOf(schema: z.core.$ZodTypes): JsonObject {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return {};
  const { def } = schema;
  const mapping = def.options.flatMap((option) => {
    const { id } = z.globalRegistry.get(option) ?? {};
    const values = [...(option._zod.propValues?.[def.discriminator] ?? [])];
    return id === undefined ? [] : values.map((value) => [String(value), `#/components/schemas/${id}`]);
  });
  return { discriminator: { propertyName: def.discriminator, mapping: Object.fromEntries(mapping) } };
}

const jsonObject = z.record(z.string(), z.unknown());
const parsedSchemas = z.object({ root: jsonObject, $defs: z.record(z.string(), jsonObject) });

const DATE_FORMATS = new Set<unknown>(['date-time', 'date']);

/** One schema or a part of it, as a reader and a program need it. */
function tidy(value: unknown, io: 'input' | 'output'): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { parameter, ...schema } = { parameter: undefined, ...value } as Record<string, unknown>;
  // Fields that only another variant of the body has.
  const fields = Object.entries(schema).filter(([, field]) => JSON.stringify(field) !== '{"not":{}}');
  const tidied: Record<string, unknown> = Object.fromEntries(fields);
  // A parameter's text, of which the API reads another type.
  if (parameter instanceof Object || DATE_FORMATS.has(tidied.format)) delete tidied.pattern;
  if (parameter instanceof Object) {
    delete tidied.enum;
    Object.assign(tidied, parameter);
  }
  if (io === 'input') return tidied;
  // Responses can get further fields.
  if (tidied.additionalProperties === false) delete tidied.additionalProperties;
  return opened(tidied);
}

/**
 * A word of a response as a string: later versions can have further words, and a client that was generated from an
 * `enum` would refuse the whole response. `x-extensible-enum` is the name that the field has for the words known so
 * far.
 */
function opened({ enum: words, ...schema }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(words)) return { ...schema, ...(words !== undefined && { enum: words }) };
  const text = typeof schema.description === 'string' ? schema.description : undefined;
  const named = words.map((word) => `\`${word}\``);
  const known = `One of ${named.join(', ')}; others can be added`;
  const isSaid = text !== undefined && named.every((word) => text.includes(word));
  const description = isSaid ? text : [text, known].filter(Boolean).join('. ');
  return { ...schema, description, 'x-extensible-enum': words };
}
