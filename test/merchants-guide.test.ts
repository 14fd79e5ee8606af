import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { routes } from '../src/api/app.js';
import { PROBLEMS } from '../src/api/http/problem.js';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../src/payments/payment.js';

const guide = await readFile(new URL('../docs/merchants.md', import.meta.url), 'utf8');

describe('docs/merchants.md', () => {
  it('has every call that needs a key, with a scope that allows it', () => {
    const documented = [...guide.matchAll(/^\| `(GET|POST) ([^?`]+)[^`]*` \| `([a-z]+)` \|/gm)];
    const calls = documented.map(([, method, path, scope]) => `${method} ${path} ${scope}`);
    const needed = routes.flatMap(({ method, path, scopes }) =>
      scopes === undefined ? [] : [`${method.toUpperCase()} ${path} ${scopes[0]}`],
    );
    expect(calls.sort()).toEqual(needed.sort());
  });

  it('has every problem with its status', () => {
    const documented = [...guide.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \|/gm)].map(
      ([, code, status]) => `${code} ${status}`,
    );
    expect(documented.sort()).toEqual(
      Object.entries(PROBLEMS)
        .map(([code, { status }]) => `${code} ${status}`)
        .sort(),
    );
  });

  it('has every status of a payment and every kind of notification', () => {
    const missing = [...PAYMENT_STATUSES, ...PAYMENT_EVENT_TYPES].filter(
      (word) => !guide.includes(`\n| \`${word}\` |`),
    );
    expect(missing).toEqual([]);
  });
});
