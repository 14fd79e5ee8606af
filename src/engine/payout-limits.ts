import { type CountedPayout, countedAt } from '../payments/machine/counted-payouts.js';
import { type PaymentOrder, sendAtOf } from '../payments/words/order.js';
import { dayOf, endOfDay, HOUR_MS } from '../payments/words/time.js';
import type { MerchantLimits } from '../settings/merchants.js';
import {
  countPayoutsUpdate,
  PAYOUT_LIMIT_WORKFLOW_TYPE,
  type PayoutCount,
  type PayoutLimitInput,
  payoutLimitWorkflowId,
} from '../workflows/messages.js';
import { AmountTooLarge, DailyLimitReached } from './errors.js';
import { findPayment, refuseUnlessStarted } from './find-payment.js';
import { UNCHECKED } from './recorded-payments.js';
import type { UpdateContext } from './update-payment.js';
import { updateWithStart } from './update-with-start.js';

/** Dependencies of merchants' limits. */
export interface LimitContext extends UpdateContext {
  readonly payoutLimits: PayoutLimits;
}

/** A merchant with its limits. */
interface LimitedMerchant {
  readonly merchant: string;
  readonly limits: MerchantLimits;
}

/**
 * Refuses an order for more than the merchant may collect or pay out. A payout is counted against the limit of its day
 * before it starts, so that no payment exists uncounted. An order whose payment exists, because the request is
 * repeated, is never refused and never counted again.
 *
 * @throws {AmountTooLarge | DailyLimitReached | RecordsUnavailable}
 * @throws {Unavailable} also when it can't be counted.
 */
export async function refuseBeyondLimits(
  context: LimitContext,
  { merchant, limits }: LimitedMerchant,
  order: PaymentOrder,
): Promise<void> {
  await refuseBeyondAnyDay(context, { limits }, order);
  const maxPerDay = maxPerDayOf(order, limits);
  if (maxPerDay === undefined || (await findPayment(context, order.id, UNCHECKED)) !== undefined) return;

  const { id, amount } = order;
  const at = countedAt(order, Date.now());
  const { isAccepted, total } = await context.payoutLimits.count(context, merchant, { id, amount }, maxPerDay, at);
  if (isAccepted) return;
  // The same request may have been counted on the day before, just before midnight.
  await refuseUnlessStarted(context, order, new DailyLimitReached(maxPerDay, total, at, sendAtOf(order) !== undefined));
}

/**
 * Refuses an order beyond its merchant's limits on any day, whatever else was ordered. It leaves nothing behind.
 *
 * @throws {AmountTooLarge | DailyLimitReached | RecordsUnavailable}
 */
export function refuseBeyondAnyDay(
  context: LimitContext,
  { limits }: Pick<LimitedMerchant, 'limits'>,
  order: PaymentOrder,
): Promise<void> {
  return refuseUnlessStarted(context, order, refusalOnAnyDay(order, limits));
}

function refusalOnAnyDay(order: PaymentOrder, limits: MerchantLimits): AmountTooLarge | DailyLimitReached | undefined {
  const { amount } = order;
  const maxAmount = order.kind === 'payout' ? limits.maxPayout : limits.maxCollection;
  if (maxAmount !== undefined && amount > maxAmount) return new AmountTooLarge(maxAmount);
  const maxPerDay = maxPerDayOf(order, limits);
  if (maxPerDay === undefined || amount <= maxPerDay) return undefined;
  return new DailyLimitReached(maxPerDay, undefined, countedAt(order, Date.now()), sendAtOf(order) !== undefined);
}

function maxPerDayOf(order: PaymentOrder, limits: MerchantLimits): number | undefined {
  return order.kind === 'payout' ? limits.maxPayoutsPerDay : undefined;
}

/** The result of counting a payout, with the day's sum so far, in XAF. */
interface Counted {
  readonly isAccepted: boolean;
  readonly total: number;
}

interface Batch {
  readonly payouts: CountedPayout[];
  readonly counted: Promise<PayoutCount>;
}

/** The workflow still counts payouts for this long after its day, in ms: API processes' clocks differ a little. */
const LINGER_MS = HOUR_MS;

/** Payouts that one update counts. */
const MAX_BATCH = 200;

/**
 * Counts payouts against merchants' limits of a day, in a workflow for each merchant and day. Payouts that come while
 * an update is under way go together in the next one, because Temporal takes few updates of one workflow at a time.
 */
export class PayoutLimits {
  /** The batch that is being gathered for each workflow and limit, and the end of the one before it. */
  readonly #gathering = new Map<string, Batch>();
  readonly #underway = new Map<string, Promise<unknown>>();

  /**
   * @param max the limit, in XAF
   * @param at a time of the day that it counts on, in ms since the epoch
   * @throws {Unavailable} when it isn't known whether it was counted.
   */
  async count(
    context: UpdateContext,
    merchant: string,
    payout: CountedPayout,
    max: number,
    at: number,
  ): Promise<Counted> {
    const day = dayOf(at);
    const key = `${payoutLimitWorkflowId(merchant, day)} ${max}`;
    const gathering = this.#gathering.get(key);
    const batch =
      gathering === undefined || gathering.payouts.length >= MAX_BATCH
        ? this.#begin(context, key, { merchant, day, max, until: endOfDay(at) + LINGER_MS })
        : gathering;
    const place = batch.payouts.push(payout) - 1;
    const { isAccepted, total } = await batch.counted;
    return { isAccepted: isAccepted[place] === true, total };
  }

  #begin(context: UpdateContext, key: string, counter: Counter): Batch {
    const payouts: CountedPayout[] = [];
    const before = this.#underway.get(key) ?? Promise.resolve();
    const counted = before.then(() => {
      if (this.#gathering.get(key) === batch) this.#gathering.delete(key);
      return send(context, counter, payouts);
    });
    const batch: Batch = { payouts, counted };
    const ended = counted
      .catch(() => undefined)
      .finally(() => {
        if (this.#underway.get(key) === ended) this.#underway.delete(key);
      });
    this.#gathering.set(key, batch);
    this.#underway.set(key, ended);
    return batch;
  }
}

/** The workflow that counts a merchant's payouts of a day, and their limit in XAF. */
interface Counter extends Omit<PayoutLimitInput, 'v'> {
  readonly max: number;
}

function send(
  context: UpdateContext,
  { max, ...input }: Counter,
  payouts: readonly CountedPayout[],
): Promise<PayoutCount> {
  return updateWithStart(context, {
    update: countPayoutsUpdate,
    argument: { payouts, max },
    workflowType: PAYOUT_LIMIT_WORKFLOW_TYPE,
    workflowId: payoutLimitWorkflowId(input.merchant, input.day),
    // An ended workflow can't start again: it would begin with Temporal's index, which may be a moment behind.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    input: { v: 1, ...input } satisfies PayoutLimitInput,
    uncertain:
      "It can't be checked at the moment whether the payout is within the limit of the day, so it was not made. Try again shortly.",
    unanswered: 'no worker counted the payout in time',
  });
}
