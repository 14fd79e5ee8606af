import { TypedSearchAttributes } from '@temporalio/common';
import { z } from 'zod';
import { statusOf, transIdOf } from '../../payments/payment-state.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import type { EndedPayment, PaymentInput } from '../../workflows/messages.js';
import { describeOrder } from './describe-order.js';

/** Any payment's workflow, by its type alone. */
export type PaymentWorkflow = (input: PaymentInput) => Promise<EndedPayment>;

/** What is put down beside a payment's workflow when it starts, readable without a worker. */
export const memoSchema = z.object({
  owner: z.string(),
  fingerprint: z.string(),
  /** The attempt to begin the payment that did begin it. */
  attempt: z.string(),
});
export type PaymentMemo = z.infer<typeof memoSchema>;

/** What a run of a payment's workflow is started with. */
export interface PaymentStart {
  readonly input: PaymentInput;
  readonly owner: string;
  readonly taskQueue: string;
  /** When the payment began, in ms since the epoch: the same for all of its runs. */
  readonly createdAt: number;
}

/**
 * Options for a run of a payment's workflow: everything that is readable of it without a worker. While one runs, a
 * start under its id never begins a second; what follows when it has ended is for the caller to choose.
 */
export function paymentWorkflow({ input, owner, taskQueue, createdAt }: PaymentStart) {
  const { order, fingerprint, requestId } = input;
  const { summary, details } = describeOrder(order, owner);
  const memo: PaymentMemo = { owner, fingerprint, attempt: requestId };
  return {
    workflowId: order.id,
    taskQueue,
    args: [input] as [PaymentInput],
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    typedSearchAttributes: searchAttributes(input, owner, createdAt),
    staticSummary: summary,
    staticDetails: details,
  } as const;
}

function searchAttributes(
  { order: { kind, amount, externalId, userId }, carried }: PaymentInput,
  owner: string,
  createdAt: number,
): TypedSearchAttributes {
  const transId = carried && transIdOf(carried);
  return new TypedSearchAttributes([
    { key: attributes.merchant, value: owner },
    { key: attributes.status, value: carried === undefined ? 'CREATED' : statusOf(carried) },
    { key: attributes.kind, value: kind },
    { key: attributes.amount, value: amount },
    { key: attributes.createdAt, value: createdAt },
    ...(externalId === undefined ? [] : [{ key: attributes.externalId, value: externalId }]),
    ...(userId === undefined ? [] : [{ key: attributes.userId, value: userId }]),
    ...(transId === undefined ? [] : [{ key: attributes.transId, value: transId }]),
  ]);
}
