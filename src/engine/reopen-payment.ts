import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type { Actor, Checker } from '../payments/machine/events.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import {
  type EndedState,
  type Hint,
  hintSignal,
  type PaymentResult,
  type PaymentWorkflow,
  REOPENING,
  recheckUpdate,
  resendNotificationUpdate,
} from '../workflows/messages.js';
import { PaymentNotFound, Stopped, Unavailable } from './errors.js';
import { type FoundPayment, findPayment, type ReadContext } from './find-payment.js';
import { readEnded } from './read-payment.js';
import { callTemporal, failureTypeOf, type WaitResult, waitForAnswer, wasOvertaken } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';
import { workflowOptions } from './workflow-start.js';

/** A payment can end, or be reopened, between two of our calls. */
const MAX_TRIES = 3;

/**
 * Reports whether the run that was found is still the payment's latest. Check it right before reopening the payment
 * from the state of that run: another run may have begun and ended since, and its result would be lost.
 *
 * @throws {Unavailable}
 */
export async function isLatest(context: ReadContext, { id, runId }: FoundPayment): Promise<boolean> {
  return (await findPayment(context, id))?.runId === runId;
}

/**
 * Delivers a hint to an ended payment: reopens it under its own id, from its last state. If another message has just
 * reopened it, that run gets the hint.
 *
 * @returns false when a run began or ended in that moment: the payment must be read again
 * @throws {Unavailable}
 */
export async function reopenWithHint(
  { client, taskQueue }: Pick<UpdateContext, 'client' | 'taskQueue'>,
  found: FoundPayment,
  ended: EndedState,
  hint: Hint,
): Promise<boolean> {
  try {
    await callTemporal(client, () =>
      client.workflow.signalWithStart<PaymentWorkflow, [Hint]>(REOPENING, {
        ...reopening(found, ended, taskQueue),
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
export interface ReopeningUpdate<Answer = PaymentResult> {
  /** Requests with one name, of one actor, for one payment share one update, so they must mean the same. */
  readonly name: string;
  readonly by?: Checker;
  /** Sends the update to the payment's running workflow. */
  send(handle: WorkflowHandle<PaymentWorkflow>, updateId: string): Promise<Answer>;
  /** Sends the update with the start of the run that reopens the payment. */
  sendWithStart(startWorkflowOperation: WithStartWorkflowOperation<PaymentWorkflow>, updateId: string): Promise<Answer>;
}

/**
 * Sends a payment an update; one that has ended is reopened for it, as {@link reopenWithHint} does.
 *
 * @returns `undefined` when the payment didn't answer within the time for the response
 * @throws {PaymentNotFound | Stopped | TooManyUpdates | Unavailable | RecordUnreadable}
 * @throws {WorkflowUpdateFailedError} when the payment refuses.
 */
export async function updateOrReopen<Answer>(
  context: UpdateContext,
  id: PaymentId,
  update: ReopeningUpdate<Answer>,
): Promise<WaitResult<Answer>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await findPayment(context, id);
    if (found === undefined) throw new PaymentNotFound();
    const ended = found.running ? undefined : await readEnded(context, found);
    if (!found.running && ended === undefined) throw new Stopped();
    if (ended !== undefined && !(await isLatest(context, found))) continue;
    try {
      return await send(context, found, ended, update);
    } catch (error) {
      if (!wasOvertaken(error)) throw error;
    }
  }
  throw new Unavailable();
}

/**
 * Has a payment compare itself with the provider's records now. A contradiction of its outcome puts it under review.
 *
 * @returns `undefined` when the payment didn't answer within the time for the response
 * @throws {EngineError | Stopped} as {@link updateOrReopen} does.
 * @throws {WorkflowUpdateFailedError} when the payment refuses.
 */
export function recheckPayment(context: UpdateContext, id: PaymentId, by: Checker): Promise<WaitResult<PaymentResult>> {
  return updateOrReopen(context, id, {
    name: 'recheck',
    by,
    ...sending(context, recheckUpdate, { by }),
  });
}

/**
 * Delivers a notification again, with a full set of attempts. A payment that has ended is reopened for it.
 *
 * @returns `undefined` when there is no such notification, or nobody to deliver it
 * @throws {TooManyUpdates | Unavailable}
 */
export async function resendNotification(
  context: UpdateContext,
  found: FoundPayment,
  number: number,
  by: Actor,
): Promise<PaymentResult | undefined> {
  if (!found.running) {
    const ended = await readEnded(context, found);
    if (!ended?.state.notifications.some((notification) => notification.number === number)) return undefined;
  }
  let answer: WaitResult<PaymentResult>;
  try {
    answer = await updateOrReopen(context, found.id, {
      name: `resend.${number}`,
      by,
      ...sending(context, resendNotificationUpdate, { number, by }),
    });
  } catch (error) {
    if (error instanceof Stopped || failureTypeOf(error) === 'NoSuchNotification') return undefined;
    throw error;
  }
  // The request may have been accepted. Delivering the notification twice does no harm.
  if (answer === undefined) throw new Unavailable();
  return answer.value;
}

/** Sends an update that has one argument, alone or with a start. */
function sending<Answer, Argument>(
  { client }: UpdateContext,
  update: UpdateDefinition<Answer, [Argument]>,
  argument: Argument,
): Pick<ReopeningUpdate<Answer>, 'send' | 'sendWithStart'> {
  const args: [Argument] = [argument];
  return {
    send: (handle, updateId) => handle.executeUpdate(update, { updateId, args }),
    sendWithStart: (startWorkflowOperation, updateId) =>
      client.workflow.executeUpdateWithStart(update, { updateId, args, startWorkflowOperation }),
  };
}

function send<Answer>(
  { client, taskQueue, answerWithinMs, shutdown, updates }: UpdateContext,
  found: FoundPayment,
  ended: EndedState | undefined,
  update: ReopeningUpdate<Answer>,
): Promise<WaitResult<Answer>> {
  const execute = (updateId: string) =>
    ended === undefined
      ? update.send(client.workflow.getHandle(found.id), updateId)
      : update.sendWithStart(new WithStartWorkflowOperation(REOPENING, reopening(found, ended, taskQueue)), updateId);
  return shutdown.commands.within(answerWithinMs, (signal) =>
    waitForAnswer(client, signal, answerWithinMs, () => updates.send(found.id, update.name, execute, update.by)),
  );
}

function reopening(
  { merchant, fingerprint = '', requestId = '', createdAt }: FoundPayment,
  { state, timeline }: EndedState,
  taskQueue: string,
) {
  const { order, terms } = state;
  const input = { v: 1, order, terms, fingerprint, requestId, carried: state, timeline } as const;
  return {
    ...workflowOptions({ input, merchant, taskQueue, createdAt, payment: state }),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  } as const;
}
