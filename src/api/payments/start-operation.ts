import { WithStartWorkflowOperation } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { PaymentOrder } from '../../payments/order.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import type { PaymentInput, PaymentWorkflowType } from '../../workflows/messages.js';
import { describeOrder } from './describe-order.js';
import type { PaymentMemo, PaymentWorkflow } from './find-payment.js';

interface Start {
  readonly input: PaymentInput;
  readonly owner: string;
  readonly taskQueue: string;
}

/**
 * The start of a payment's workflow, for an update to go with it. The same id never starts twice: while the first
 * runs it is the one that gets the update, and once it has ended the start is refused.
 */
export function startOperation({ input, taskQueue, owner }: Start) {
  const { summary, details } = describeOrder(input.order, owner);
  const memo: PaymentMemo = { owner, fingerprint: input.fingerprint, attempt: input.requestId };
  return new WithStartWorkflowOperation<PaymentWorkflow>(workflowTypeOf(input.order), {
    workflowId: input.order.id,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo,
    typedSearchAttributes: searchAttributes(input.order),
    staticSummary: summary,
    staticDetails: details,
  });
}

function workflowTypeOf(order: PaymentOrder): PaymentWorkflowType {
  if (order.kind === 'payout') return 'payOut';
  return order.method === 'link' ? 'collectByLink' : 'collectDirect';
}

function searchAttributes({ kind, amount, externalId, userId }: PaymentOrder): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: attributes.status, value: 'CREATED' },
    { key: attributes.kind, value: kind },
    { key: attributes.amount, value: amount },
    ...(externalId === undefined ? [] : [{ key: attributes.externalId, value: externalId }]),
    ...(userId === undefined ? [] : [{ key: attributes.userId, value: userId }]),
  ]);
}
