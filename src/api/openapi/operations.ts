import { z } from 'zod';
import { PAYMENT_ID_PREFIX } from '../../payments/words/payment-id.js';
import { examplePayment } from '../../schemas/payment.js';
import type { Route } from '../route.js';
import { exampleOfResponse, shown } from './examples.js';
import { headersOf, optionalHeadersOf } from './headers.js';
import { describeProblems } from './problems.js';
import type { JsonObject, SchemaComponents } from './schema-components.js';

/** The parts of paths. Anything else is not found. */
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

export function describeOperation(route: Route, schemas: SchemaComponents): JsonObject {
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
            schema: schemas.use(body, 'body'),
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
  const inQuery = route.query ? queryParameters(schemas.use(route.query, 'parameters')) : [];
  const { idempotencyKey: key } = route;
  const keys = key ? [parameter('Idempotency-Key', 'header', schemas.use(key.schema, 'parameters'), key.required)] : [];
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
            'application/json': { schema: schemas.use(response.schema, 'response'), examples: examples(false) },
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
