import { WithStartWorkflowOperation } from '@temporalio/client';
import type { PaymentOrder } from '../../payments/order.js';
import type { PaymentWorkflowType } from '../../workflows/messages.js';
import { type PaymentStart, type PaymentWorkflow, paymentWorkflow } from './payment-workflow.js';

/**
 * The start of a payment's workflow, for an update to go with it. The same id never starts twice: while the first
 * runs it is the one that gets the update, and once it has ended the start is refused.
 */
export function startOperation(start: PaymentStart) {
  return new WithStartWorkflowOperation<PaymentWorkflow>(workflowTypeOf(start.input.order), {
    ...paymentWorkflow(start),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

function workflowTypeOf(order: PaymentOrder): PaymentWorkflowType {
  if (order.kind === 'payout') return 'payOut';
  return order.method === 'link' ? 'collectByLink' : 'collectDirect';
}
