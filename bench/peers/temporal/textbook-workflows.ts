import { condition, defineSignal, defineUpdate, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { Link, Order, Transaction } from '../payment-services.ts';
import type * as activities from './activities.ts';

/** A request for a link is sent once: the provider can't tell a repeated one from a new one. */
const { initiatePay } = proxyActivities<typeof activities>({
  startToCloseTimeout: '15 seconds',
  retry: { maximumAttempts: 1 },
});
const { paymentStatus, notifyMerchant } = proxyActivities<typeof activities>({
  startToCloseTimeout: '15 seconds',
});

export const getLink = defineUpdate<Link>('getLink');
export const providerNotified = defineSignal('providerNotified');

/** A payment link, from its order to the merchant's notification. */
export async function payment(order: Order): Promise<Transaction['status']> {
  let link: Link | undefined;
  let isNotified = false;
  setHandler(getLink, async () => {
    await condition(() => link !== undefined);
    return link as Link;
  });
  setHandler(providerNotified, () => {
    isNotified = true;
  });

  link = await initiatePay(order);
  await condition(() => isNotified, '24 hours');
  let transaction = await paymentStatus(link.transId);
  while (transaction.status === 'CREATED' || transaction.status === 'PENDING') {
    await sleep('30 seconds');
    transaction = await paymentStatus(link.transId);
  }
  await notifyMerchant(order, transaction);
  return transaction.status;
}
