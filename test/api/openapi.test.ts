import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';
import { readCursor } from '../../src/api/cursor.js';
import { describeApi } from '../../src/api/openapi/document.js';
import { CSV_COLUMNS } from '../../src/api/routes/payment-csv.js';
import { PROBLEMS } from '../../src/schemas/problems.js';
import { useApi } from '../support/api-under-test.js';
import { expectAt } from '../support/documented.js';

const document = describeApi(routes);
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

describe('docs/openapi.json', () => {
  it('is what the routes say: `npm run openapi` writes it', async () => {
    const file = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

describe('the OpenAPI document', () => {
  const api = useApi();

  it('is served to everybody', async () => {
    const { status, headers, text } = await api.ask('GET', '/openapi.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(text).toBe(JSON.stringify(document));
  });

  it('has every call that needs a key, with the scopes that allow it', () => {
    const needed = routes.filter(({ scopes }) => scopes !== undefined);
    for (const { method, path, scopes } of needed) {
      const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
      expect(operation?.security).toEqual(scopes?.map((scope) => ({ apiKey: [scope] })));
    }
  });

  it('names every problem, with a route that responds with it', () => {
    const { examples } = document.components;
    // No operation of the document has another method.
    const named = Object.keys(PROBLEMS).filter((code) => code !== 'method_not_allowed');
    expect(Object.keys(Object(examples)).sort()).toEqual(named.sort());
  });

  it('gives every call a name of its own', () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('what generators of clients stumble over is not there', () => {
  const bodies = schemasOf(operations.map(({ requestBody }) => requestBody));
  const responses = operations.flatMap((operation) => Object.values(Object(operation.responses)) as object[]);

  it('a tag of both calls and webhooks', () => {
    const ofCalls = new Set(operations.flatMap(({ tags }) => tags));
    const ofWebhooks = Object.values(document.webhooks).flatMap(({ post }) => Object(post).tags);
    expect(ofWebhooks.filter((tag) => ofCalls.has(tag))).toEqual([]);
    const { tags } = document;
    expect(new Set(Object(tags).map(({ name }: { name: string }) => name))).toEqual(
      new Set([...ofCalls, ...ofWebhooks]),
    );
  });

  it('a default in a body', () => {
    expect(bodies.length).toBeGreaterThan(100);
    expect(bodies.filter(({ part }) => 'default' in part).map(({ path }) => path)).toEqual([]);
    const query = operations.flatMap(({ parameters }) => parameters as { name: string; schema?: object }[]);
    const defaults = query.flatMap(({ name, schema }) => (schema && 'default' in schema ? [name] : []));
    expect(new Set(defaults)).toEqual(new Set(['limit', 'wait', 'separator', 'totals']));
  });

  it('a parameter of several types', () => {
    const parameters = within(operations.map(({ parameters }) => parameters));
    expect(parameters.length).toBeGreaterThan(100);
    expect(parameters.filter(({ part }) => 'anyOf' in part || 'oneOf' in part)).toEqual([]);
  });

  it('a type of problem for each response', () => {
    const problems = responses.flatMap((response) => Object(response).content['application/problem+json'] ?? []);
    expect(problems.length).toBeGreaterThan(100);
    const named = problems.map(({ schema }) => schema.$ref);
    expect(new Set(named)).toEqual(new Set(['#/components/schemas/Problem']));
  });
});

/** Everything in a part of the document, by its path, without what is an example. */
function within(part: unknown, path = ''): { readonly path: string; readonly part: object }[] {
  if (typeof part !== 'object' || part === null) return [];
  const deeper = Object.entries(part).filter(([name]) => !['example', 'examples'].includes(name));
  return [{ path, part }, ...deeper.flatMap(([name, inner]) => within(inner, `${path}/${name}`))];
}

/** A part of the document with all that it refers to. */
function schemasOf(parts: unknown): { readonly path: string; readonly part: object }[] {
  const seen = new Set<string>();
  const found = within(parts);
  for (const { part } of found) {
    const name = '$ref' in part && String(part.$ref).split('/schemas/')[1];
    if (!name || seen.has(name)) continue;
    seen.add(name);
    found.push(...within(document.components.schemas[name], name));
  }
  return found;
}

describe('the words that a field can have', () => {
  const answers = schemasOf([operations.map(({ responses }) => responses), document.webhooks]);
  const requests = schemasOf(operations.map(({ parameters, requestBody }) => [parameters, requestBody]));
  const pathsWith = (found: typeof answers, keyword: string) =>
    found.filter(({ part }) => keyword in part).map(({ path }) => path);

  it('are open in every answer: a client that was generated earlier reads one that was added later', () => {
    expect(pathsWith(answers, 'enum')).toEqual([]);
    expect(pathsWith(answers, 'discriminator')).toEqual([]);
    expect(pathsWith(answers, 'x-extensible-enum')).toEqual(
      expect.arrayContaining([
        'Payment/properties/status',
        'Payment/properties/failureCode',
        'Payment/properties/medium',
        'Problem/properties/code',
        'TimelineEntry/properties/type',
        'TimelineEntry/properties/source',
        'Notification/properties/type',
        'Delivery/properties/status',
        'StatementDifference/properties/kind',
        'Key/properties/scopes/items',
      ]),
    );
  });

  it('are said in the description, and that there can be others', () => {
    const words = answers.filter(({ part, path }) => 'x-extensible-enum' in part && !path.includes('/allOf'));
    const silent = words.filter(({ part }) => {
      const { description = '', 'x-extensible-enum': known } = part as {
        description?: string;
        'x-extensible-enum': string[];
      };
      return !known.every((word) => description.includes(`\`${word}\``));
    });
    expect(silent.filter(({ path }) => !path.endsWith('/code')).map(({ path }) => path)).toEqual([]);
  });

  it('are closed in every request', () => {
    expect(pathsWith(requests, 'x-extensible-enum')).toEqual([]);
    expect(pathsWith(requests, 'enum')).toEqual(expect.arrayContaining(['DirectCollectionRequest/properties/medium']));
  });
});

describe('the example of an answer', () => {
  type Contents = Record<string, { examples?: { example?: { value: unknown } } }>;
  const contents = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses as Record<string, { content?: Contents }>).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, { examples }]) => ({
          name: `${method} ${path} ${status} ${type}`,
          place: ['paths', path, method, 'responses', status, 'content', type, 'schema'],
          type,
          example: examples?.example?.value,
          examples,
        })),
      ),
    ),
  );
  const notifications = Object.entries(document.webhooks).map(([type, { post }]) => {
    const { requestBody } = post as { requestBody: { content: Contents } };
    const { examples } = requestBody.content['application/json'] ?? {};
    const place = ['webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema'];
    return { name: type, place, type: 'application/json', example: examples?.example?.value, examples };
  });
  const answers = [...contents, ...notifications].filter(({ type }) => type !== 'application/problem+json');

  it('is there for every one, errors included', () => {
    expect(answers.length).toBeGreaterThan(35);
    const without = [...contents, ...notifications].filter(({ example, examples }) => !example && !examples);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it.each(answers.filter(({ type }) => type.endsWith('json')))('is as its schema says: $name', ({ place, example }) => {
    expectAt(place, JSON.stringify(example));
  });

  it.each(answers)('has ids, amounts and times that there can be: $name', ({ example }) => {
    const text = JSON.stringify(example);
    expect(text).not.toMatch(/\b(?:19\d\d|20[013]\d)-|"string"|[0-9]{16}(?![0-9a-f])/);
    for (const [id] of text.matchAll(/(?:col|pay)_\w+/g)) expect(id).toMatch(/^(?:col|pay)_[0-9a-f]{32}/);
    for (const [, amount] of text.matchAll(/"amount":(-?\d+)/g)) {
      expect(Number(amount)).toBeGreaterThanOrEqual(0);
      expect(Number(amount)).toBeLessThan(1_000_000);
    }
  });

  it('as CSV has the columns that a merchant gets', () => {
    const rows = answers.filter(({ type }) => type === 'text/csv').map(({ example }) => String(example).split('\r\n'));
    expect(rows.map(([head]) => head)).toEqual([CSV_COLUMNS.join(','), expect.stringContaining('record,date,')]);
    for (const [head = '', row = ''] of rows) expect(row.split(',')).toHaveLength(head.split(',').length);
  });

  it('has a cursor that the list takes', () => {
    const page = answers.find(({ name }) => name.startsWith('get /v1/payments 200 application/json'));
    const { data, nextCursor } = Object(page?.example);
    expect(readCursor(nextCursor)).toMatchObject({ id: data.at(-1).id });
  });
});

describe('the example of a request', () => {
  const examples = routes.flatMap((route) =>
    route.scopes === undefined
      ? []
      : Object.entries(route.examples ?? {}).map(([name, { value }]) => [route, name, value] as const),
  );

  it.each(examples.map(([{ path, body }, name, value]) => ({ path, name, value, body })))(
    '$name of $path is valid',
    ({ value, body }) => {
      expect(body?.safeParse(value).error).toBeUndefined();
    },
  );

  it('is there for every call that has a body', () => {
    const without = routes.filter((route) => route.scopes && route.body && !route.examples);
    expect(without.map(({ path }) => path)).toEqual([]);
  });
});
