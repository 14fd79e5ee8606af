import { CancellationScope, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { reserveRefund } from '../payments/machine/refunds.js';
import { isHistoryLong, onQuery, onUpdate, readInput, wrongInput } from './handlers.js';
import { type RefundsInput, refundsQuery, refundsWorkflowId, reserveRefundUpdate } from './messages.js';
import { refundReservation, refundsInput } from './schemas.js';

/**
 * Keeps the refunds of a collection. It is one workflow for all API processes, which takes one reservation after the
 * other, so that no two refunds can take the same room. It never ends by itself, since it also keeps what Temporal has
 * forgotten; a request to cancel it has no effect.
 */
export function keepRefunds(given: RefundsInput): Promise<void> {
  return CancellationScope.nonCancellable(() => keep(given));
}

async function keep(given: unknown): Promise<void> {
  const input = readInput(refundsInput, given);
  const { collection, carried = [] } = input;
  if (refundsWorkflowId(collection) !== workflowInfo().workflowId) throw wrongInput('it is of another collection');
  let refunds = carried;
  onUpdate(reserveRefundUpdate, refundReservation, (reservation) => {
    const next = reserveRefund(refunds, reservation, Date.now());
    refunds = next.refunds;
    return next.answer;
  });
  onQuery(refundsQuery, () => refunds);
  await condition(isHistoryLong);
  await continueAsNew<typeof keepRefunds>({ ...input, carried: refunds });
}
