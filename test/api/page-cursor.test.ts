import { describe, expect, it } from '@jest/globals';
import { compare, isAfter, type Place, readCursor, toCursor } from '../../src/api/page-cursor.js';
import type { PaymentId } from '../../src/payments/payment-id.js';

const place = (createdAt: number, id: string): Place => ({ createdAt, id: id as PaymentId });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

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
    encode([1, 'order-17']),
    encode([1, 'col_1" OR "a" = "a']),
    encode([1, 'col_1', 2]),
    `${encode([1, 'col_1'])}=`,
    Buffer.from('[1, "col_1"]').toString('base64url'),
  ])('is not %p', (cursor) => {
    expect(readCursor(cursor)).toBeUndefined();
  });
});

describe('the places of a list', () => {
  it('are in order, the newest first, and by id at the same moment', () => {
    const places = [place(1, 'col_b'), place(2, 'pay_a'), place(1, 'col_a'), place(3, 'col_c')];
    const ids = [...places].sort(compare).map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(ids).toEqual(['3 col_c', '2 pay_a', '1 col_a', '1 col_b']);
  });

  it('are not after themselves', () => {
    expect(isAfter(place(1, 'col_a'), place(1, 'col_a'))).toBe(false);
    expect(isAfter(place(1, 'col_b'), place(1, 'col_a'))).toBe(true);
    expect(isAfter(place(2, 'col_b'), place(1, 'col_a'))).toBe(false);
  });
});
