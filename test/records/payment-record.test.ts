import { expect, it } from '@jest/globals';
import { sentBy } from '../../src/payments/machine/refunds.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { type NewRecord, payersOf, withoutPayer } from '../../src/records/payment-record.js';
import { directOrder, linkOrder, payoutOrder, START } from '../support/orders.js';
import { paid } from '../support/scenario.js';

/** The record of a payment that was paid. */
function recordOf(order: PaymentOrder) {
  const { payment: state } = paid(order);
  const indexed = { ...toPayment(state), createdAt: START };
  const run = { id: order.id, merchant: 'shop', runId: 'r', startedAt: START, closedAt: START, stopped: false };
  const content = { state, requestId: 'r', fingerprint: 'f' };
  return { ...run, indexed, content } satisfies NewRecord;
}

it('of a refund still counts for its collection when its recipient’s data was erased', () => {
  const refund = { ...payoutOrder, name: 'Jane', refundOf: directOrder.id, refundReason: 'Jane is ill' };
  const { indexed, content } = withoutPayer(recordOf(refund));
  expect(indexed.refundOf).toBe(directOrder.id);
  expect(content?.state.order).toMatchObject({ refundOf: directOrder.id, amount: refund.amount });
  expect(content && sentBy(content.state)).toBe(refund.amount);
  expect(JSON.stringify(content)).not.toMatch(/Jane|670000000/);
});

it('of a link is found, and erased, by the number that its refunds go to', () => {
  const record = recordOf({ ...linkOrder, refundTo: '677000205' });
  expect(payersOf(record.content)).toEqual(['677000205']);
  expect(JSON.stringify(withoutPayer(record))).not.toContain('677000205');
});
