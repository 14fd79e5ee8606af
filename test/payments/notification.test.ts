import { describe, expect, it } from '@jest/globals';
import {
  due,
  nextDue,
  notificationId,
  type PaymentNotification,
  withDelivery,
  withNotification,
} from '../../src/payments/notification.js';
import { paymentId, START } from './orders.js';

const delivered = { kind: 'delivered', at: START } as const;

describe('a payment’s notifications', () => {
  it('are numbered from 1, and go out in order', () => {
    let told: readonly PaymentNotification[] = withNotification([], 'payment.attempt_failed', START);
    told = withNotification(told, 'payment.succeeded', START + 5);
    expect(told.map(({ number, type }) => [number, type])).toEqual([
      [1, 'payment.attempt_failed'],
      [2, 'payment.succeeded'],
    ]);
    expect(nextDue(told)?.number).toBe(1);
    told = withDelivery(told, 1, { ...due(START), at: START + 60_000, tries: 1 }) ?? [];
    expect(nextDue(told)?.number).toBe(1);
    told = withDelivery(told, 1, delivered) ?? [];
    expect(nextDue(told)?.number).toBe(2);
  });

  it('have an id of their own for each number and type', () => {
    const id = (number: number, type: PaymentNotification['type']) =>
      notificationId(paymentId('col_1'), { number, type });
    expect(id(1, 'payment.attempt_failed')).toBe('evt_col_1_attempt_failed_1');
    expect(id(1, 'payment.expired')).toBe('evt_col_1_expired_1');
    expect(id(2, 'payment.expired')).toBe('evt_col_1_expired_2');
  });

  it('can be sent again under the same number', () => {
    const told = withDelivery(withNotification([], 'payment.succeeded', START), 1, delivered) ?? [];
    expect(nextDue(told)).toBeUndefined();
    expect(nextDue(withDelivery(told, 1, due(START + 9)) ?? [])?.number).toBe(1);
    expect(withDelivery(told, 2, due(START))).toBeUndefined();
  });

  it('are remembered up to a bound, and no number comes twice', () => {
    let told: readonly PaymentNotification[] = [];
    for (let attempt = 0; attempt < 300; attempt++) {
      told = withNotification(told, 'payment.attempt_failed', START);
      told = withDelivery(told, told.at(-1)?.number ?? 0, delivered) ?? [];
    }
    expect(told.length).toBeLessThanOrEqual(51);
    expect(told.at(-1)?.number).toBe(300);
  });

  it('are not forgotten before they were delivered', () => {
    let told = withNotification([], 'payment.review', START);
    for (let attempt = 0; attempt < 300; attempt++)
      told = withNotification(told, 'payment.attempt_failed', START);
    expect(nextDue(told)?.number).toBe(1);
  });
});
