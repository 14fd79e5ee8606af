import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
} from '@temporalio/client';
import type { PaymentState } from '../../payments/payment-state.js';
import {
  type Hint,
  hintSignal,
  type PaymentResult,
  type PaymentWorkflowType,
  resendNotificationUpdate,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { type Found, findPayment } from './find-payment.js';
import { type PaymentWorkflow, paymentWorkflow } from './payment-workflow.js';
import { ask } from './temporal-calls.js';

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
 * Whether a payment's latest run is still the one that was found. To be asked right before the payment is opened again
 * from the state of that run: another run may have begun and ended since, and what it left would be lost.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function isLatest(
  api: Pick<Api, 'client' | 'descriptions'>,
  { id, runId }: Found,
): Promise<boolean> {
  return (await findPayment(api, id))?.runId === runId;
}

/**
 * Gives an ended payment a hint: it is opened again under its own id, from the state it ended with. When another
 * message has just opened it, that run gets the hint.
 *
 * @returns false when a run began or ended in that moment: the payment must be read anew
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function reopenWithHint(
  { client, taskQueue }: Pick<Api, 'client' | 'taskQueue'>,
  found: Found,
  state: PaymentState,
  hint: Hint,
): Promise<boolean> {
  try {
    await ask(client, () =>
      client.workflow.signalWithStart<PaymentWorkflow, [Hint]>(REOPENED, {
        ...reopening(found, state, taskQueue),
        signal: hintSignal,
        signalArgs: [hint],
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/**
 * Makes an ended payment deliver a notification again: it is opened again as {@link reopenWithHint} does.
 *
 * @throws {WorkflowExecutionAlreadyStartedError} when a run began or ended in that moment.
 */
export async function reopenToResend(
  { client, taskQueue }: Pick<Api, 'client' | 'taskQueue'>,
  found: Found,
  state: PaymentState,
  number: number,
  updateId: string,
): Promise<PaymentResult> {
  return await client.workflow.executeUpdateWithStart(resendNotificationUpdate, {
    updateId,
    args: [number],
    startWorkflowOperation: new WithStartWorkflowOperation<PaymentWorkflow>(
      REOPENED,
      reopening(found, state, taskQueue),
    ),
  });
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
