import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { hasGivenUp } from '../payments/machine/notification.js';
import { linesOf, markdown } from '../payments/views/describe-payment.js';
import { amountPaidOf } from '../payments/views/to-payment.js';
import { xaf } from '../payments/words/limits.js';
import { type PaymentOrder, refundOf, sendAtOf, serviceOf } from '../payments/words/order.js';
import { isFinalPayment, type PaymentState, statusOf, transIdOf } from '../payments/words/payment-state.js';
import type { PaymentMemo } from '../records/read-run.js';
import { paymentSearchAttributes as attributes, toTransIdKeyword } from '../temporal/search-attributes.js';
import type { PaymentInput, PaymentWorkflow, PaymentWorkflowType } from '../workflows/messages.js';

/** Everything that a run of a payment's workflow is started with. */
export interface WorkflowStart {
  readonly input: PaymentInput;
  readonly merchant: string;
  readonly taskQueue: string;
  /** Time of the payment's creation, in ms since the epoch: the same for all of its runs. */
  readonly createdAt: number;
  /** The initial state, for a payment that already has one. */
  readonly payment?: PaymentState | undefined;
}

/** Starts a payment's workflow, which begins after the delay. @throws WorkflowExecutionAlreadyStartedError */
export function startNow(client: Client, start: WorkflowStart, startDelay?: number): Promise<unknown> {
  return client.workflow.start<PaymentWorkflow>(workflowTypeOf(start.input.order), {
    ...workflowOptions(start),
    ...(startDelay !== undefined && { startDelay }),
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

/**
 * Makes the start of a payment's workflow, for an update to go with. An id never starts twice: while its workflow runs,
 * that one gets the update; once it has ended, the start is refused.
 */
export function startOperation(start: WorkflowStart) {
  return new WithStartWorkflowOperation<PaymentWorkflow>(workflowTypeOf(start.input.order), {
    ...workflowOptions(start),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

const WORKFLOW_TYPES = { link: 'collectByLink', direct: 'collectDirect', payout: 'payOut' } as const;

export function workflowTypeOf(order: PaymentOrder): PaymentWorkflowType {
  return WORKFLOW_TYPES[order.kind];
}

/**
 * Returns options for a run of a payment's workflow, with the data that is readable without a worker. While a run is
 * open, a start under its id never begins a second one; the caller chooses what happens after its end.
 */
export function workflowOptions({ input, merchant, taskQueue, createdAt, payment }: WorkflowStart) {
  const { order, fingerprint, requestId } = input;
  const { summary, details } = describeOrder(order, merchant, payment);
  const memo: PaymentMemo = {
    owner: merchant,
    fingerprint,
    requestId,
    ...(order.kind !== 'payout' && { method: order.kind }),
    ...(Object.keys(order.metadata).length > 0 && { metadata: order.metadata }),
  };
  return {
    workflowId: order.id,
    taskQueue,
    args: [input] as [PaymentInput],
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    typedSearchAttributes: searchAttributes(order, merchant, createdAt, payment),
    staticSummary: summary,
    staticDetails: details,
  } as const;
}

function searchAttributes(
  order: PaymentOrder,
  merchant: string,
  createdAt: number,
  payment: PaymentState | undefined,
): TypedSearchAttributes {
  const { amount, externalId, userId } = order;
  const refunded = refundOf(order);
  const sendAt = sendAtOf(order);
  const transId = payment && transIdOf(payment);
  const amountPaid = payment && amountPaidOf(payment);
  const releasedAt = payment?.release?.at;
  return new TypedSearchAttributes([
    { key: attributes.merchant, value: merchant },
    { key: attributes.status, value: payment === undefined ? 'CREATED' : statusOf(payment) },
    // The workflow sets it when it changes, and a payment that is opened again may never change.
    ...(payment !== undefined && isFinalPayment(payment) ? [{ key: attributes.final, value: true }] : []),
    ...(payment !== undefined && hasGivenUp(payment.notifications) ? [{ key: attributes.givenUp, value: true }] : []),
    ...(releasedAt === undefined ? [] : [{ key: attributes.releasedAt, value: new Date(releasedAt) }]),
    { key: attributes.kind, value: serviceOf(order) },
    { key: attributes.amount, value: amount },
    ...(amountPaid === undefined ? [] : [{ key: attributes.amountPaid, value: amountPaid }]),
    { key: attributes.createdAt, value: createdAt },
    ...(sendAt === undefined ? [] : [{ key: attributes.sendAt, value: new Date(sendAt) }]),
    ...(externalId === undefined ? [] : [{ key: attributes.externalId, value: externalId }]),
    ...(userId === undefined ? [] : [{ key: attributes.userId, value: userId }]),
    ...(refunded === undefined ? [] : [{ key: attributes.refundOf, value: refunded }]),
    ...(transId === undefined ? [] : [{ key: attributes.transId, value: toTransIdKeyword(transId) }]),
  ]);
}

const TITLES = { link: 'Collection by link', direct: 'Collection from a phone', payout: 'Payout' } as const;

/**
 * Describes a payment for Temporal's Web UI: a title, and details in Markdown. Nothing about the payer or the
 * recipient, so that an operator can show the page to somebody.
 */
function describeOrder(
  order: PaymentOrder,
  merchant: string,
  payment: PaymentState | undefined,
): { summary: string; details: string } {
  const refunded = refundOf(order);
  const what = refunded === undefined ? TITLES[order.kind] : 'Refund';
  const amount = xaf(order.amount);
  const lines = [
    `**${what}** of **${amount}**`,
    '',
    `- Merchant: ${code(merchant)}`,
    ...(refunded === undefined ? [] : [`- Refunds: ${code(refunded)}`]),
    ...(order.externalId === undefined ? [] : [`- externalId: ${code(order.externalId)}`]),
    ...(order.userId === undefined ? [] : [`- userId: ${code(order.userId)}`]),
    ...(payment === undefined || isFinalPayment(payment) ? [] : ['', 'At its start:', '', ...linesOf(payment)]),
  ];
  return { summary: `${what} of ${amount}`, details: markdown(lines) };
}

const code = (text: string) => `\`${text}\``;
