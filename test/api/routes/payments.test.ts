import { describe, expect, it } from '@jest/globals';
import type { Place } from '../../../src/api/payments/list-payments.js';
import { readCursor, toCursor } from '../../../src/api/routes/payments.js';
import type { PaymentId } from '../../../src/payments/payment-id.js';

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
