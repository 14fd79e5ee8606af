import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';
import { PROBLEMS } from '../../src/api/http/problem.js';
import { describeApi } from '../../src/api/openapi.js';
import { useApi } from '../support/api-under-test.js';

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
