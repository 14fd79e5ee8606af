import { ApplicationFailure } from '@temporalio/workflow';
import type { PaymentOrder } from '../payments/order.js';

/**
 * The order as the workflow's own kind of order.
 *
 * @throws {ApplicationFailure} when the workflow was started with another kind, by hand or by a mistake: it ends at
 * once, and nothing is sent.
 */
export function ordered<Method extends PaymentOrder['method']>(
  order: PaymentOrder,
  method: Method,
): Extract<PaymentOrder, { readonly method?: Method }> {
  if (!isOrderedBy(order, method)) {
    throw ApplicationFailure.nonRetryable(
      `this workflow can't take an order by ${order.method ?? 'payout'}`,
      'WrongOrder',
    );
  }
  return order;
}

function isOrderedBy<Method extends PaymentOrder['method']>(
  order: PaymentOrder,
  method: Method,
): order is Extract<PaymentOrder, { readonly method?: Method }> {
  return order.method === method;
}
