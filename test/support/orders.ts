import { step } from '../../src/payments/machine/machine.js';
import type {
  DirectOrder,
  LinkOrder,
  PaymentOrder,
  PaymentTerms,
  PayoutOrder,
} from '../../src/payments/words/order.js';
import { type PaymentId, parsePaymentId, type TransId } from '../../src/payments/words/payment-id.js';
import { openPayment, type PaymentState } from '../../src/payments/words/payment-state.js';
import type { Transaction } from '../../src/payments/words/transaction.js';

/** Orders and terms for the domain's tests. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** 2026-01-01T00:00:00Z */
export const START = 1_767_225_600_000;

export const terms: PaymentTerms = {
  linkLifetimeMs: DAY,
  pollFirstMs: 3 * MINUTE,
  pollMaxMs: HOUR,
  ambiguousGraceMs: 15 * MINUTE,
  ambiguousPolicy: 'review',
  resolveAfterMs: 0,
  sendByMs: 24 * 60 * 60_000,
  providerTimeoutMs: 15_000,
};

export function paymentId(text: string): PaymentId {
  const id = parsePaymentId(text);
  if (id === undefined) throw new Error(`${text} is no payment id`);
  return id;
}

export const transId = (text: string) => text as TransId;

export const linkOrder: LinkOrder = {
  id: paymentId('col_1'),
  kind: 'link',
  amount: 5_000,
  metadata: {},
};

export const directOrder: DirectOrder = {
  id: paymentId('col_2'),
  kind: 'direct',
  phone: '670000000',
  amount: 5_000,
  metadata: {},
};

export const payoutOrder: PayoutOrder = {
  id: paymentId('pay_3'),
  kind: 'payout',
  phone: '670000000',
  amount: 5_000,
  metadata: {},
};

export const orders: readonly PaymentOrder[] = [linkOrder, directOrder, payoutOrder];

/** Returns the provider's data on an order's transaction. */
export function transactionOf(order: PaymentOrder, fields: Partial<Transaction> = {}): Transaction {
  return {
    transId: transId('T1'),
    status: 'CREATED',
    transType: order.kind === 'payout' ? 'Payout' : 'Collection',
    amount: order.amount,
    externalId: order.id,
    ...fields,
  };
}

/** A payment that the provider has taken at {@link START}. */
export function begun(order: PaymentOrder, given: PaymentTerms = terms): PaymentState {
  const link = order.kind === 'link' ? 'http://pay.example/1' : undefined;
  const outcome = { kind: 'accepted', transId: transId('T1'), link } as const;
  return step(openPayment(order, given, START), { kind: 'sent', outcome }, START).payment;
}
