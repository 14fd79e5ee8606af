import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import type { PaymentState } from '../../payments/payment-state.js';
import {
  type Hint,
  hintSignal,
  type PaymentResult,
  type PaymentWorkflowType,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { paymentNotFound, temporarilyUnavailable } from '../problem.js';
import { type Found, findPayment } from './find-payment.js';
import { type PaymentWorkflow, paymentWorkflow } from './payment-workflow.js';
import { ask, ENDED_MEANWHILE, refusalOf, type Waited, waitFor } from './temporal-calls.js';

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

/** An update that a payment is opened again for when it has ended. */
export interface ReopeningUpdate {
  /** Requests of one name for one payment share one update, so they must mean the same. */
  readonly name: string;
  /**
   * The state that an ended payment is to be opened again from; `undefined` comes in when its workflow was stopped.
   *
   * @throws {ApiError} when that would be of no use.
   */
  reopenable(state: PaymentState | undefined): PaymentState;
  /** Sends it to the payment's running workflow. */
  send(handle: WorkflowHandle<PaymentWorkflow>, updateId: string): Promise<PaymentResult>;
  /** Sends it with the start of the run that opens the payment again. */
  sendWithStart(
    startWorkflowOperation: WithStartWorkflowOperation<PaymentWorkflow>,
    updateId: string,
  ): Promise<PaymentResult>;
}

/** A payment can end, or be opened again, between two calls of ours. */
const TRIES = 3;

/**
 * Sends a payment an update, whether it runs or has ended: one that has ended is opened again for it, as
 * {@link reopenWithHint} does.
 *
 * @returns `undefined` when the time to answer was over before the payment's answer came
 * @throws {ApiError} `too_many_requests`, `temporarily_unavailable`, and what `reopenable` throws.
 * @throws {WorkflowUpdateFailedError} when the payment refuses.
 */
export async function updateOrReopen(
  api: Api,
  id: PaymentId,
  update: ReopeningUpdate,
): Promise<Waited<PaymentResult>> {
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await findPayment(api, id);
    if (found === undefined) throw paymentNotFound();
    const state = found.running ? undefined : update.reopenable(await endedState(api, found));
    if (state !== undefined && !(await isLatest(api, found))) continue;
    try {
      return await send(api, found, state, update);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }
  throw temporarilyUnavailable();
}

function send(
  { client, taskQueue, answerWithinMs, shutdown, updates }: Api,
  found: Found,
  state: PaymentState | undefined,
  update: ReopeningUpdate,
): Promise<Waited<PaymentResult>> {
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

/** The payment's run ended, or another one began, in the moment of the call. */
function isOvertaken(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof WorkflowExecutionAlreadyStartedError ||
    refusalOf(error) === ENDED_MEANWHILE
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
