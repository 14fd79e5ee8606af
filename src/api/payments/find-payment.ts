import { WorkflowFailedError, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import type { PaymentId } from '../../payments/payment-id.js';
import { type PaymentInput, type PaymentResult, paymentQuery } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { ask } from './temporal-calls.js';

/** Any payment's workflow, by its type alone. */
export type PaymentWorkflow = (input: PaymentInput) => Promise<PaymentResult>;

/** What is put down beside a payment's workflow when it starts, readable without a worker. */
export const memoSchema = z.object({
  owner: z.string(),
  fingerprint: z.string(),
  /** The attempt to begin the payment that did begin it. */
  attempt: z.string(),
});
export type PaymentMemo = z.infer<typeof memoSchema>;

/** A payment that exists. */
export interface Found extends PaymentMemo {
  readonly id: PaymentId;
  readonly handle: WorkflowHandle<PaymentWorkflow>;
  readonly running: boolean;
  readonly startedAt: Date;
}

/**
 * ms that a payment may take to say how it stands. One that is asking the provider within its workflow task is deaf
 * for up to the 8 s after which the worker extends the task, however healthy everything is.
 */
const STATE_LIMIT = 9_000;

/**
 * Finds a payment's workflow; `undefined` when there is none, or none that the API started.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function findPayment(
  { client }: Pick<Api, 'client'>,
  id: PaymentId,
): Promise<Found | undefined> {
  const handle = client.workflow.getHandle<PaymentWorkflow>(id);
  try {
    const { status, memo, startTime } = await ask(client, () => handle.describe());
    const read = memoSchema.safeParse(memo);
    if (!read.success) return undefined;
    return { ...read.data, id, handle, running: status.name === 'RUNNING', startedAt: startTime };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * The payment as it stands: a running one is asked, an ended one has left its result.
 *
 * @param limitMs how long it may take to answer, in ms
 * @throws {ApiError} `temporarily_unavailable`, also when no worker answers for a running one.
 */
export async function currentState(
  { client }: Pick<Api, 'client'>,
  { handle, running }: Found,
  limitMs: number = STATE_LIMIT,
): Promise<PaymentResult> {
  const query = () => ask(client, () => handle.query(paymentQuery), limitMs);
  if (running) return await query();
  try {
    return await ask(client, () => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return orphaned(await query());
  }
}

/** Nobody sees a payment through whose workflow was stopped: unless its outcome was known, a person must look. */
function orphaned(last: PaymentResult): PaymentResult {
  if (last.payment.final) return last;
  const reason = 'The payment was stopped before its outcome was known';
  return { ...last, payment: { ...last.payment, status: 'REVIEW', reason } };
}
