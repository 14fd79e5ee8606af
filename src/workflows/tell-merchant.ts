import { condition, log } from '@temporalio/workflow';
import type { MerchantNotification } from '../activities/notify-merchant.js';
import { deliverAgainDelay } from '../payments/delivery-schedule.js';
import {
  type Delivery,
  nextDue,
  notificationId,
  type PaymentNotification,
  withDelivery,
} from '../payments/notification.js';
import { toPayment } from '../payments/to-payment.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Delivers the payment's notifications, in order, beside whatever else the payment does. Each try carries the payment
 * as it stands at that moment. The first try is a local activity, so that a merchant who is there costs one event;
 * the later ones are normal activities, on a queue of their own.
 */
export async function tellMerchant(run: PaymentRun): Promise<void> {
  for (;;) {
    await condition(() => nextDue(run.state.notifications) !== undefined);
    const next = nextDue(run.state.notifications);
    if (next !== undefined) await deliver(run, next, next.delivery);
  }
}

async function deliver(
  run: PaymentRun,
  notification: PaymentNotification,
  delivery: Delivery & { readonly kind: 'due' },
): Promise<void> {
  const { at, tries, since } = delivery;
  // Somebody may ask for it to be sent again, which begins it anew.
  const isOvertaken = () => deliveryOf(run, notification) !== delivery;
  const pause = at - Date.now();
  const summary = `Tell the merchant again: ${notification.type}`;
  if (pause > 0 && (await condition(isOvertaken, pause, { summary }))) return;
  const message = compose(run, notification);
  const outcome =
    tries === 0 ? await run.world.notifyFirst(message) : await run.world.notifyAgain(message, tries);

  const now = Date.now();
  if (isOvertaken()) return;
  if (outcome.kind !== 'failed') return record(run, notification, { kind: 'delivered', at: now });
  const delay = deliverAgainDelay(tries + 1, since, now);
  log.warn(delay === undefined ? 'merchant not told, given up' : 'merchant not told yet', {
    number: notification.number,
    tries: tries + 1,
    reason: outcome.reason,
  });
  record(
    run,
    notification,
    delay === undefined
      ? { kind: 'abandoned', at: now }
      : { kind: 'due', at: now + delay, tries: tries + 1, since },
  );
}

function deliveryOf({ state }: PaymentRun, { number }: PaymentNotification): Delivery | undefined {
  return state.notifications.find((told) => told.number === number)?.delivery;
}

function record(run: PaymentRun, { number }: PaymentNotification, delivery: Delivery): void {
  const notifications = withDelivery(run.state.notifications, number, delivery);
  if (notifications !== undefined) run.apply({ state: { ...run.state, notifications } });
}

function compose(run: PaymentRun, notification: PaymentNotification): MerchantNotification {
  const payment = toPayment(run.state);
  const { type, at } = notification;
  return {
    id: notificationId(payment.id, notification),
    type,
    timestamp: new Date(at).toISOString(),
    payment,
  };
}
