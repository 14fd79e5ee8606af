import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../../src/payments/words/payment.js';
import { PROBLEMS } from '../../src/schemas/problems.js';
import { readPage } from '../support/pages.js';

const textOf = async (path: string) => (await readPage(path)).text;

describe('docs/api.md', () => {
  it('has every call that needs a key, with a scope that allows it', async () => {
    const guide = await textOf('docs/api.md');
    const documented = [...guide.matchAll(/^\| `(GET|POST) ([^?`]+)[^`]*` \| `([a-z]+)` \|/gm)];
    const calls = documented.map(([, method, path, scope]) => `${method} ${path} ${scope}`);
    const needed = routes.flatMap(({ method, path, scopes }) =>
      scopes === undefined ? [] : [`${method.toUpperCase()} ${path} ${scopes[0]}`],
    );
    expect(calls.sort()).toEqual(needed.sort());
  });
});

describe('docs/errors.md', () => {
  it('has every problem with its status, cause and cure, as the API shows them at /docs/errors', async () => {
    const guide = await textOf('docs/errors.md');
    const rows = [...guide.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| (.+) \| (.+) \|$/gm)];
    expect(rows.map(([, code, status, cause, cure]) => ({ code, status, cause, cure }))).toEqual(
      Object.entries(PROBLEMS).map(([code, { status, cause, cure }]) => ({
        code,
        status: String(status),
        cause,
        cure,
      })),
    );
  });
});

describe('the guides for merchants', () => {
  it.each([
    ['docs/payments.md', 'status of a payment', PAYMENT_STATUSES],
    ['docs/webhooks.md', 'kind of notification', PAYMENT_EVENT_TYPES],
  ])('have in %s every %s', async (path, _, words) => {
    const guide = await textOf(path);
    expect(words.filter((word) => !guide.includes(`\n| \`${word}\` |`))).toEqual([]);
  });

  it('are all in the index', async () => {
    const index = await textOf('docs/README.md');
    const names = await readdir(new URL('../../docs', import.meta.url));
    const missing = names.filter((name) => name.endsWith('.md') && !index.includes(`](${name})`));
    expect(missing).toEqual(['README.md']);
  });
});
