import { describe, expect, it } from '@jest/globals';
import { disagreement, findOwn, ownAmong, ownerOf, transTypeOf } from '../../../src/payments/machine/matching.js';
import {
  directOrder,
  linkOrder,
  orders,
  paymentId,
  payoutOrder,
  transactionOf,
  transId,
} from '../../support/orders.js';

describe.each(orders)('a transaction of the payment $id', (order) => {
  const own = transactionOf(order);
  const unnamed = { ...own, externalId: undefined };

  it.each([
    ['both of its names', { externalId: order.id, userId: order.id }, 'payment'],
    ['its externalId alone', { externalId: order.id, userId: undefined }, 'payment'],
    ['its userId alone', { externalId: undefined, userId: order.id }, 'payment'],
    ['no name', { externalId: undefined, userId: undefined }, 'unnamed'],
    ['another externalId', { externalId: 'pay_other', userId: undefined }, 'another'],
    ['another userId', { externalId: undefined, userId: 'pay_other' }, 'another'],
    ['two other names', { externalId: 'pay_other', userId: 'pay_other' }, 'another'],
    ['its externalId, and another userId', { externalId: order.id, userId: 'pay_other' }, 'disputed'],
    ['another externalId, and its userId', { externalId: 'pay_other', userId: order.id }, 'disputed'],
  ] as const)('that the provider gives %s is counted accordingly', (_, names, whose) => {
    const isOwn: boolean = whose === 'payment' || whose === 'unnamed';
    expect(ownerOf(order.id, { ...own, ...names })).toBe(whose);
    expect(ownAmong(order, [{ ...own, ...names }])).toHaveLength(isOwn ? 1 : 0);
    expect(disagreement(order, { ...own, ...names }) === undefined).toBe(isOwn);
    // Where another payment goes by it, too, nobody can say whose it is, unless it names that payment alone.
    const taken = { ...own, ...names, takenBy: paymentId('pay_other') };
    expect(ownerOf(order.id, taken)).toBe(whose === 'another' ? 'another' : 'disputed');
    expect(ownAmong(order, [taken])).toEqual([]);
    expect(disagreement(order, taken)).toContain('pay_other');
  });

  it('is found in the list of the payment’s own id, even when it names nothing', () => {
    expect(findOwn(order, [])).toEqual({ kind: 'absent' });
    expect(findOwn(order, [own])).toEqual({ kind: 'found', transaction: own });
    expect(findOwn(order, [unnamed])).toEqual({ kind: 'found', transaction: unnamed });
    expect(findOwn(order, [{ ...own, externalId: 'pay_other' }])).toEqual({ kind: 'absent' });
  });

  it('is counted once, however often it is listed', () => {
    expect(ownAmong(order, [own, own])).toEqual([own]);
    expect(findOwn(order, [own, { ...own, externalId: 'pay_other', transId: transId('T2') }])).toEqual({
      kind: 'found',
      transaction: own,
    });
  });

  it('is one of several when there are two', () => {
    expect(findOwn(order, [own, { ...unnamed, transId: transId('T2') }])).toEqual({
      kind: 'several',
      reason: 'the provider has several transactions for this payment: T1, T2',
    });
  });

  it('agrees with the order, whatever the provider leaves out', () => {
    expect(disagreement(order, own)).toBeUndefined();
    expect(disagreement(order, { transId: own.transId, status: 'PENDING' })).toBeUndefined();
  });

  it('disagrees when it is of another amount, another direction or another payment', () => {
    const wrongs = [
      { amount: 1 },
      { transType: transTypeOf(order) === 'Payout' ? ('Collection' as const) : ('Payout' as const) },
      { externalId: 'pay_other' },
    ];
    for (const wrong of wrongs) expect(disagreement(order, { ...own, ...wrong })).toContain('T1');
    expect(findOwn(order, [{ ...own, amount: 1 }])).toEqual({
      kind: 'mismatch',
      reason: 'transaction T1 is of 1 XAF, and the order of 5,000 XAF',
    });
  });
});

describe('a transaction that is EXPIRED', () => {
  it('is one of a link alone', () => {
    const expired = (order: (typeof orders)[number]) =>
      disagreement(order, transactionOf(order, { status: 'EXPIRED' }));
    expect(expired(linkOrder)).toBeUndefined();
    expect(expired(directOrder)).toContain('only a payment link');
    expect(expired(payoutOrder)).toContain('only a payment link');
  });
});
