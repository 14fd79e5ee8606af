import { type PaymentOrder, sendAtOf } from '../payments/words/order.js';
import type { MerchantLimits } from '../settings/merchants.js';
import { AmountTooLarge, DailyLimitReached } from './errors.js';

/** Returns the limit for the payouts of a day that an order counts against, in XAF, if there is one. */
export function maxPerDayOf(order: PaymentOrder, limits: MerchantLimits): number | undefined {
  return order.kind === 'payout' ? limits.maxPayoutsPerDay : undefined;
}

/**
 * Objects to an order beyond its merchant's limits on any day, whatever else was ordered.
 *
 * @param now ms since the epoch
 */
export function objectionToAmount(
  order: PaymentOrder,
  limits: MerchantLimits,
  now: number,
): AmountTooLarge | DailyLimitReached | undefined {
  const { amount } = order;
  const maxAmount = order.kind === 'payout' ? limits.maxPayout : limits.maxCollection;
  if (maxAmount !== undefined && amount > maxAmount) return new AmountTooLarge(maxAmount);
  const maxPerDay = maxPerDayOf(order, limits);
  if (maxPerDay === undefined || amount <= maxPerDay) return undefined;
  const sendAt = sendAtOf(order);
  return new DailyLimitReached(maxPerDay, undefined, Math.max(now, sendAt ?? now), sendAt !== undefined);
}
