import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentNotification } from '../../payments/notification.js';
import type { PaymentId } from '../../payments/payment-id.js';
import type { PaymentState } from '../../payments/payment-state.js';
import {
  notificationsQuery,
  type PaymentResult,
  resendNotificationUpdate,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { noSuchNotification, paymentNotFound, temporarilyUnavailable } from '../problem.js';
import { askRunning, type Found, findPayment } from './find-payment.js';
import { endedState, isLatest, reopenToResend } from './reopen-payment.js';
import { ask, ENDED_MEANWHILE, refusalOf, type Waited, waitFor } from './temporal-calls.js';

/** A payment can end, or be opened again, between two calls of ours. */
const TRIES = 3;

/**
 * What the merchant was told of a payment, or is still to be told, oldest first.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function readNotifications(
  api: Pick<Api, 'client' | 'descriptions'>,
  found: Found,
): Promise<readonly PaymentNotification[]> {
  const query = () => found.handle.query(notificationsQuery);
  if (found.running) return await askRunning(api, found, query);
  const state = await endedState(api, found);
  return state === undefined ? await ask(api.client, query) : state.notifications;
}

/**
 * Has a notification delivered again, once more with all its tries; a payment that has ended is opened again for it.
 * Answers with the payment as soon as the delivery is on its way.
 *
 * @throws {ApiError} `no_such_notification`, `too_many_requests`, `temporarily_unavailable`.
 */
export async function resendNotification(api: Api, id: PaymentId, number: number): Promise<PaymentResult> {
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await findPayment(api, id);
    if (found === undefined) throw paymentNotFound();
    const state = found.running ? undefined : await endedState(api, found);
    if (!found.running && !has(state, number)) throw noSuchNotification();
    if (state !== undefined && !(await isLatest(api, found))) continue;
    try {
      const waited = await resend(api, found, state, number);
      // Whether it was taken down is not known, and to deliver it twice does no harm.
      if (waited === undefined) throw temporarilyUnavailable();
      return waited.value;
    } catch (error) {
      if (refusalOf(error) === 'NoSuchNotification') throw noSuchNotification();
      if (!isOvertaken(error)) throw error;
    }
  }
  throw temporarilyUnavailable();
}

function resend(
  api: Api,
  found: Found,
  state: PaymentState | undefined,
  number: number,
): Promise<Waited<PaymentResult>> {
  const { client, answerWithinMs, shutdown, updates } = api;
  const send = (updateId: string) =>
    state === undefined
      ? found.handle.executeUpdate(resendNotificationUpdate, { updateId, args: [number] })
      : reopenToResend(api, found, state, number, updateId);
  return shutdown.commands.within(answerWithinMs, (signal) =>
    waitFor(client, signal, answerWithinMs, () => updates.send(found.id, `resend.${number}`, send)),
  );
}

function has(state: PaymentState | undefined, number: number): boolean {
  return state?.notifications.some((notification) => notification.number === number) ?? false;
}

/** The payment's run ended, or another one began, in the moment of the call. */
function isOvertaken(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof WorkflowExecutionAlreadyStartedError ||
    refusalOf(error) === ENDED_MEANWHILE
  );
}
