import { describe, expect, it } from '@jest/globals';
import { readCursor, toCursor } from '../../src/api/cursor.js';
import type { Route } from '../../src/api/route.js';
import { listEvents } from '../../src/api/routes/events.js';
import { listPayments } from '../../src/api/routes/list-payments.js';
import type { ListPlace } from '../../src/book/lists.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';

const place = (createdAt: number, id: string): ListPlace => ({ createdAt, id: id as PaymentId });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function queryOf(route: Route) {
  if (route.scopes === undefined || route.query === undefined) throw new Error(`${route.path} has no query`);
  return route.query;
}

describe('a day alone', () => {
  const midnight = Date.parse('2026-11-20T23:00:00Z');

  it('is a day in Douala in the list of payments, as in statements', () => {
    const day = '2026-11-21';
    expect(queryOf(listPayments).parse({ 'created[gte]': day, 'created[lt]': day })).toMatchObject({
      'created[gte]': midnight,
      'created[lt]': midnight,
    });
  });

  it('is a day in Douala in the list of events', () => {
    expect(queryOf(listEvents).parse({ since: '2026-11-21' })).toMatchObject({ since: midnight });
  });

  it('is not what a time with its zone is', () => {
    const time = '2026-11-21T00:00:00Z';
    expect(queryOf(listEvents).parse({ since: time })).toMatchObject({ since: Date.parse(time) });
  });
});

describe('a cursor', () => {
  it('leads back to its place, and can stand in an address as it is', () => {
    const cursor = toCursor(place(1_795_249_234_191, 'col_ab-_9'));
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(readCursor(cursor)).toEqual(place(1_795_249_234_191, 'col_ab-_9'));
  });

  it.each([
    '',
    '1',
    'nonsense!',
    encode(null),
    encode({}),
    encode([]),
    encode([1]),
    encode(['1', 'col_1']),
    encode([-1, 'col_1']),
    encode([1.5, 'col_1']),
    encode([1e300, 'col_1']),
    encode([8_640_000_000_000_001, 'col_1']),
    encode([1, 'order-17']),
    encode([1, 'col_1" OR "a" = "a']),
    encode([1, 'col_1', 2]),
    `${encode([1, 'col_1'])}=`,
    Buffer.from('[1, "col_1"]').toString('base64url'),
  ])('is not %p', (cursor) => {
    expect(readCursor(cursor)).toBeUndefined();
  });
});
