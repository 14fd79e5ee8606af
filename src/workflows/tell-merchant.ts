import { condition, log, sleep } from '@temporalio/workflow';
import type { MerchantNotification } from '../activities/notify-merchant.js';
import { deliverAgainDelay } from '../payments/delivery-schedule.js';
import type { PendingNotification } from '../payments/pending-notification.js';
import { toPayment } from '../payments/to-payment.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Delivers the payment's notifications, in order, beside whatever else the payment does. Each try carries the payment
 * as it stands at that moment. The first try is a local activity, so that a merchant who is there costs one event;
 * the later ones are normal activities.
 */
export async function tellMerchant(run: PaymentRun): Promise<void> {
  for (;;) {
    await condition(() => run.state.undelivered.length > 0);
    const [next] = run.state.undelivered;
    if (next !== undefined) await deliver(run, next);
  }
}

/** Waits until the merchant has been told everything, or three days have passed. */
export async function merchantTold(run: PaymentRun): Promise<void> {
  while (run.state.undelivered.length > 0) {
    await condition(() => run.state.undelivered.length === 0 || run.long);
    await run.handOverWhenLong();
  }
}

async function deliver(run: PaymentRun, pending: PendingNotification): Promise<void> {
  const pause = pending.dueAt - Date.now();
  if (pause > 0) await sleep(pause, { summary: `Tell the merchant again: ${pending.type}` });
  const notification = compose(run, pending);
  const delivery =
    pending.tries === 0
      ? await run.world.notifyFirst(notification)
      : await run.world.notifyAgain(notification, pending.tries);

  const now = Date.now();
  const tries = pending.tries + 1;
  const delay = delivery.kind === 'failed' ? deliverAgainDelay(tries, pending.at, now) : undefined;
  if (delivery.kind === 'failed') {
    log.warn(delay === undefined ? 'merchant not told, given up' : 'merchant not told yet', {
      tries,
      ...delivery,
    });
  }
  const [, ...others] = run.state.undelivered;
  const undelivered = delay === undefined ? others : [{ ...pending, tries, dueAt: now + delay }, ...others];
  run.apply({ state: { ...run.state, undelivered } });
}

function compose(run: PaymentRun, { number, type, at }: PendingNotification): MerchantNotification {
  const payment = toPayment(run.state);
  return { id: `evt_${payment.id}_${number}`, type, timestamp: new Date(at).toISOString(), payment };
}
