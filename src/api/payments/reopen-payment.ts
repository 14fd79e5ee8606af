import { WithStartWorkflowOperation, WorkflowFailedError } from '@temporalio/client';
import type { PaymentState } from '../../payments/payment-state.js';
import {
  type Hint,
  hintSignal,
  type PaymentResult,
  type PaymentWorkflowType,
  resendNotificationUpdate,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import type { Found } from './find-payment.js';
import { type PaymentWorkflow, paymentWorkflow } from './payment-workflow.js';
import { ask, deliver, type Waited, waitFor } from './temporal-calls.js';

const REOPENED: PaymentWorkflowType = 'reopenPayment';

/**
 * What is known of a payment whose workflow has ended; `undefined` when it was stopped and could leave nothing.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function endedState(
  { client }: Pick<Api, 'client'>,
  { handle }: Found,
): Promise<PaymentState | undefined> {
  try {
    const { state }: Partial<{ state: PaymentState }> = await ask(client, () => handle.result());
    return state;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return undefined;
    throw error;
  }
}

/**
 * Gives an ended payment a hint: it is opened again under its own id, from the state it ended with. When another
 * message was faster, the payment that runs already gets it.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function reopenWithHint(
  { client, taskQueue }: Pick<Api, 'client' | 'taskQueue'>,
  found: Found,
  state: PaymentState,
  hint: Hint,
): Promise<void> {
  await deliver(client, () =>
    client.workflow.signalWithStart<PaymentWorkflow, [Hint]>(REOPENED, {
      ...reopening(found, state, taskQueue),
      signal: hintSignal,
      signalArgs: [hint],
    }),
  );
}

/**
 * Makes an ended payment deliver a notification again: it is opened again as {@link reopenWithHint} does. `undefined`
 * when no worker has answered until the signal.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function reopenToResend(
  { client, taskQueue, answerWithinMs }: Pick<Api, 'client' | 'taskQueue' | 'answerWithinMs'>,
  found: Found,
  state: PaymentState,
  number: number,
  signal: AbortSignal,
): Promise<Waited<PaymentResult>> {
  return await waitFor(client, signal, answerWithinMs, () =>
    client.workflow.executeUpdateWithStart(resendNotificationUpdate, {
      args: [number],
      startWorkflowOperation: new WithStartWorkflowOperation<PaymentWorkflow>(
        REOPENED,
        reopening(found, state, taskQueue),
      ),
    }),
  );
}

function reopening(
  { owner, fingerprint, attempt, createdAt }: Found,
  state: PaymentState,
  taskQueue: string,
) {
  const { order, terms } = state;
  const input = { order, terms, fingerprint, requestId: attempt, carried: state };
  return {
    ...paymentWorkflow({ input, owner, taskQueue, createdAt }),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  } as const;
}
