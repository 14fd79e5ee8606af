import { Context } from '@temporalio/activity';
import { type CountedPayout, type CountedPayouts, sumUp } from '../payments/machine/counted-payouts.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { payoutsOfDay } from '../records/index-queries.js';
import { listRuns } from '../records/list-runs.js';

/**
 * Activity: lists the payouts that Temporal's index has of a merchant's day: ordered on it, or dated to it before. A
 * day's count begins with them, in case somebody deleted the workflow that had counted them. It fails while the index
 * can't be read: a limit that began with nothing would be none.
 */
export async function orderedPayouts(merchant: string, day: string): Promise<CountedPayouts> {
  const found = new Map<PaymentId, CountedPayout>();
  for await (const { runs } of listRuns(Context.current().client, payoutsOfDay(merchant, day))) {
    for (const { id, merchant: owner, indexed } of runs) {
      // Some stores of the index ignore case. A payment may have several runs.
      if (owner === merchant) found.set(id, { id, amount: indexed.amount });
    }
  }
  // The index lists the newest first.
  return sumUp([...found.values()].reverse());
}
