import type { PaymentNotification } from '../../payments/notification.js';
import type { PaymentId } from '../../payments/payment-id.js';
import {
  notificationsQuery,
  type PaymentResult,
  resendNotificationUpdate,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { noSuchNotification, temporarilyUnavailable } from '../problem.js';
import { askRunning, type Found, stateAtStart, wasNeverBegun } from './find-payment.js';
import { endedState, updateOrReopen } from './reopen-payment.js';
import { ask, refusalOf, type Waited } from './temporal-calls.js';

/**
 * What the merchant was notified of, or is still to be notified of, oldest first.
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
  if (state !== undefined) return state.notifications;
  try {
    return await ask(api.client, query);
  } catch (error) {
    if (!wasNeverBegun(error)) throw error;
    return (await stateAtStart(api, found)).notifications;
  }
}

/**
 * Has a notification delivered again, once more with all its tries; a payment that has ended is opened again for it.
 * Answers with the payment as soon as the delivery is on its way.
 *
 * @throws {ApiError} `no_such_notification`, `too_many_requests`, `temporarily_unavailable`.
 */
export async function resendNotification(api: Api, id: PaymentId, number: number): Promise<PaymentResult> {
  let waited: Waited<PaymentResult>;
  try {
    waited = await updateOrReopen(api, id, {
      name: `resend.${number}`,
      reopenable(state) {
        if (state?.notifications.some((notification) => notification.number === number)) return state;
        throw noSuchNotification();
      },
      send: (handle, updateId) =>
        handle.executeUpdate(resendNotificationUpdate, { updateId, args: [number] }),
      sendWithStart: (startWorkflowOperation, updateId) =>
        api.client.workflow.executeUpdateWithStart(resendNotificationUpdate, {
          updateId,
          args: [number],
          startWorkflowOperation,
        }),
    });
  } catch (error) {
    throw refusalOf(error) === 'NoSuchNotification' ? noSuchNotification() : error;
  }
  // Whether it was taken down is not known, and to deliver it twice does no harm.
  if (waited === undefined) throw temporarilyUnavailable();
  return waited.value;
}
