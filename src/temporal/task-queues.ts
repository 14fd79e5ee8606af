/**
 * The task queue of slow deliveries to the merchant: apart from the payments', so that a dead endpoint never holds up
 * a request that moves money.
 */
export function notificationsQueue(paymentsQueue: string): string {
  return `${paymentsQueue}-notifications`;
}
