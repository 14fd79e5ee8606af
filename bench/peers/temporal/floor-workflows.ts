import { condition, defineSignal, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { Link, Order, Transaction } from '../payment-services.ts';
import type * as activities from './activities.ts';

const { paymentStatus, notifyMerchant } = proxyLocalActivities<typeof activities>({
  startToCloseTimeout: '15 seconds',
});

const providerNotified = defineSignal('providerNotified');

/**
 * The least that sees a payment link through: it waits for the provider's notification, asks for the status and
 * notifies the merchant, in one workflow task.
 */
export async function payment(order: Order, { transId }: Link): Promise<Transaction['status']> {
  let isNotified = false;
  setHandler(providerNotified, () => {
    isNotified = true;
  });
  await condition(() => isNotified);
  const transaction = await paymentStatus(transId);
  await notifyMerchant(order, transaction);
  return transaction.status;
}
