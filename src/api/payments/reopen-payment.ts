import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import type { PaymentState } from '../../payments/payment-state.js';
import {
  type Hint,
  hintSignal,
  type PaymentResult,
  type PaymentWorkflowType,
} from '../../workflows/messages.js';
import { paymentNotFound, temporarilyUnavailable } from '../http/problem.js';
import { type FoundPayment, findPayment, type PaymentWorkflow, type ReadContext } from './find-payment.js';
import { workflowOptions } from './start-payment.js';
import { callTemporal, type WaitResult, waitFor, wasOvertaken } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';

const REOPENED: PaymentWorkflowType = 'reopenPayment';

/** A payment can end, or be reopened, between two of our calls. */
const MAX_TRIES = 3;

/**
 * The state that an ended payment has left; `undefined` when its workflow was stopped and could leave none.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function endedState(
  { client }: Pick<ReadContext, 'client'>,
  { handle }: FoundPayment,
): Promise<PaymentState | undefined> {
  try {
    const { state }: Partial<{ state: PaymentState }> = await callTemporal(client, () => handle.result());
    return state;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return undefined;
    throw error;
  }
}

/**
 * Whether the run that was found is still the payment's latest. Check it right before reopening the payment
 * from the state of that run: another run may have begun and ended since, and what it has left would be lost.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function isLatest(context: ReadContext, { id, runId }: FoundPayment): Promise<boolean> {
  return (await findPayment(context, id))?.runId === runId;
}

/**
 * Gives an ended payment a hint: reopens it under its own id, from the state that it ended with. If another
 * message has just reopened it, that run gets the hint.
 *
 * @returns false when a run began or ended in that moment: the payment must be read again
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function reopenWithHint(
  { client, taskQueue }: Pick<UpdateContext, 'client' | 'taskQueue'>,
  found: FoundPayment,
  state: PaymentState,
  hint: Hint,
): Promise<boolean> {
  try {
    await callTemporal(client, () =>
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

/** An update that an ended payment is reopened for. */
export interface ReopeningUpdate {
  /** Requests with one name for one payment share one update, so they must mean the same. */
  readonly name: string;
  /**
   * The state to reopen an ended payment from. It is given the one that the payment has left: `undefined`
   * when its workflow was stopped.
   *
   * @throws {ApiError} when reopening it would be of no use.
   */
  reopenable(state: PaymentState | undefined): PaymentState;
  /** Sends the update to the payment's running workflow. */
  send(handle: WorkflowHandle<PaymentWorkflow>, updateId: string): Promise<PaymentResult>;
  /** Sends the update with the start of the run that reopens the payment. */
  sendWithStart(
    startWorkflowOperation: WithStartWorkflowOperation<PaymentWorkflow>,
    updateId: string,
  ): Promise<PaymentResult>;
}

/**
 * Sends a payment an update; one that has ended is reopened for it, as {@link reopenWithHint} does.
 *
 * @returns `undefined` when the payment didn't answer within the time for the response
 * @throws {ApiError} `too_many_requests`, `temporarily_unavailable`, and what `reopenable` throws.
 * @throws {WorkflowUpdateFailedError} when the payment refuses.
 */
export async function updateOrReopen(
  context: UpdateContext,
  id: PaymentId,
  update: ReopeningUpdate,
): Promise<WaitResult<PaymentResult>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await findPayment(context, id);
    if (found === undefined) throw paymentNotFound();
    const state = found.running ? undefined : update.reopenable(await endedState(context, found));
    if (state !== undefined && !(await isLatest(context, found))) continue;
    try {
      return await send(context, found, state, update);
    } catch (error) {
      if (!wasOvertaken(error)) throw error;
    }
  }
  throw temporarilyUnavailable();
}

function send(
  { client, taskQueue, answerWithinMs, shutdown, updates }: UpdateContext,
  found: FoundPayment,
  state: PaymentState | undefined,
  update: ReopeningUpdate,
): Promise<WaitResult<PaymentResult>> {
  const execute = (updateId: string) =>
    state === undefined
      ? update.send(found.handle, updateId)
      : update.sendWithStart(
          new WithStartWorkflowOperation(REOPENED, reopening(found, state, taskQueue)),
          updateId,
        );
  return shutdown.commands.within(answerWithinMs, (signal) =>
    waitFor(client, signal, answerWithinMs, () => updates.send(found.id, update.name, execute)),
  );
}

function reopening(
  { owner, fingerprint, requestId, createdAt }: FoundPayment,
  state: PaymentState,
  taskQueue: string,
) {
  const { order, terms } = state;
  const input = { order, terms, fingerprint, requestId, carried: state };
  return {
    ...workflowOptions({ input, owner, taskQueue, createdAt }),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  } as const;
}
