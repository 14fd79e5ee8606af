import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { routes } from '../../src/api/app.js';
import { openApiPath } from '../../src/api/openapi/document.js';

/** The OpenAPI document as it is committed. A test of its own holds it to what the API serves. */
const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

/**
 * The document's responses may get further fields and words, so that clients ignore those. To our own tests, one that
 * the document doesn't have is a mistake.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  const isClosed = parts.type === 'object' && 'properties' in parts && !('additionalProperties' in parts);
  const { 'x-extensible-enum': words } = parts;
  return {
    ...parts,
    ...(isClosed && { additionalProperties: false }),
    ...(words !== undefined && { enum: words }),
  };
}

// OpenAPI's own words are none of JSON Schema's.
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
formats.default(ajv);
ajv.addSchema(closed(document) as AnySchema, 'api');

const pointer = (...parts: readonly (string | number)[]) =>
  parts.map((part) => `/${encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

const documentedRoutes = routes
  .filter(({ tag }) => tag !== undefined)
  .map(({ path, method }) => ({
    path: openApiPath(path),
    method,
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/?$`, 'i'),
  }));

/** Responses that no operation of the document can have: of another method, or of an address that doesn't exist. */
const ELSEWHERE = new Set(['not_found 404', 'method_not_allowed 405']);

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Compares a response of the API with the OpenAPI document.
 *
 * @throws {Error} when the document has no such status, content type, header, field or value for this request.
 */
export function expectDocumented(method: string, address: string, received: ReceivedResponse): void {
  const { status, headers, text } = received;
  const undocumented = (what: string) =>
    new Error(`not in the OpenAPI document: ${method} ${address} answered ${status}: ${what}\n${text}`);
  const path = new URL(address, 'http://api').pathname;
  const found = documentedRoutes.find(
    (route) => route.pattern.test(path) && (method === 'HEAD' ? 'get' : method.toLowerCase()) === route.method,
  );
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  if (found === undefined) {
    const isOther = routes.some((route) => route.tag === undefined && route.path === path && status === 200);
    if (isOther) return;
    const { code } = JSON.parse(text || '{"code":"nothing"}');
    if (method !== 'HEAD' && !ELSEWHERE.has(`${code} ${status}`)) throw undocumented('no such operation');
    if (method !== 'HEAD') validate('#/components/schemas/Problem', text, undocumented);
    return;
  }
  const response = document.paths[found.path][found.method].responses[status];
  if (response === undefined) throw undocumented('no such status');
  const content = response.content[type];
  if (content === undefined) throw undocumented(`no such content type as ${type}`);
  for (const [name, { $ref }] of Object.entries<{ $ref?: string }>(response.headers)) {
    const { required } = $ref === undefined ? {} : document.components.headers[$ref.split('/').at(-1) ?? ''];
    if (required && !headers.has(name)) throw undocumented(`without the header ${name}`);
  }
  if (method === 'HEAD' || !type.endsWith('json')) return;
  if (type === 'application/problem+json') {
    const { code } = JSON.parse(text);
    if (!(code in content.examples)) throw undocumented(`no such code as ${code}`);
  }
  const place = pointer('paths', found.path, found.method, 'responses', status, 'content', type, 'schema');
  validate(`#${place}`, text, undocumented);
}

/** `fetch` from the API, with each response compared with the OpenAPI document. */
export async function documentedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, init);
  const { status, headers } = response;
  const address = input instanceof Request ? input.url : String(input);
  expectDocumented(init.method ?? 'GET', address, { status, headers, text: await response.clone().text() });
  return response;
}

/**
 * Compares a notification to the merchant with the OpenAPI document's webhooks: its body and, where they are given, its
 * headers.
 *
 * @throws {Error} when the document has no such type, header, field or value.
 */
export function expectDocumentedWebhook({ text, headers }: { text: string; headers?: Headers }): void {
  const undocumented = (what: string) => new Error(`not in the OpenAPI document: ${what} of the webhook\n${text}`);
  const { type } = JSON.parse(text);
  const webhook = document.webhooks[type]?.post;
  if (webhook === undefined) throw undocumented(`the type ${type}`);
  for (const { name } of headers === undefined ? [] : webhook.parameters) {
    if (!headers?.has(name)) throw undocumented(`the missing header ${name}`);
  }
  const place = pointer('webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema');
  validate(`#${place}`, text, undocumented);
}

/**
 * Compares JSON with the schema at a place of the document.
 *
 * @throws {Error} when the schema has no such field or value, or there is none.
 */
export function expectAt(place: readonly (string | number)[], text: string): void {
  validate(`#${pointer(...place)}`, text, (what) => new Error(`not what is at ${place.join(' ')}: ${what}\n${text}`));
}

/**
 * Compares JSON with a schema of the document.
 *
 * @throws {Error} when the schema has no such field or value, or there is no such schema.
 */
export function expectInSchema(name: string, text: string): void {
  validate(
    `#${pointer('components', 'schemas', name)}`,
    text,
    (what) => new Error(`not a ${name} of the OpenAPI document: ${what}\n${text}`),
  );
}

function validate(place: string, text: string, undocumented: (what: string) => Error): void {
  const check = ajv.getSchema(`api${place}`);
  if (check === undefined) throw undocumented(`no schema at ${place}`);
  if (!check(JSON.parse(text))) throw undocumented(ajv.errorsText(check.errors, { dataVar: 'body' }));
}
