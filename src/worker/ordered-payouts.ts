import { status as grpc } from '@grpc/grpc-js';
import { Context } from '@temporalio/activity';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { type CountedPayout, type CountedPayouts, NO_PAYOUTS, summed } from '../payments/counted-payouts.js';
import { type PaymentId, parsePaymentId } from '../payments/payment-id.js';
import { endOfDay, startOf } from '../payments/time.js';
import { grpcErrorOf } from '../temporal/connection.js';
import { pagesOf } from '../temporal/list-workflows.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';

/** Each is listed with all that its merchant has stored in it: 40 kB at most. */
const PAGE_SIZE = 100;

/**
 * An activity: the payouts that Temporal's index has of a merchant's day: what a day's count begins with, in case somebody has deleted the
 * workflow that had counted them.
 */
export async function orderedPayouts(merchant: string, day: string): Promise<CountedPayouts> {
  const { client } = Context.current();
  const begin = startOf(day);
  const { merchant: owner, createdAt, amount } = attributes;
  const query = `WorkflowType = "payOut" AND ${owner.name} = "${merchant}" AND ${createdAt.name} >= ${begin} AND ${createdAt.name} < ${endOfDay(begin)}`;
  const found = new Map<PaymentId, CountedPayout>();
  try {
    for await (const { executions } of pagesOf(client, { query, pageSize: PAGE_SIZE }, (list) => list())) {
      for (const { execution, searchAttributes } of executions ?? []) {
        const indexed = decodeTypedSearchAttributes(searchAttributes?.indexedFields);
        const [id, ordered] = [parsePaymentId(execution?.workflowId), indexed.get(amount)];
        // Some of the index's stores ignore case.
        if (id === undefined || ordered === undefined || indexed.get(owner) !== merchant) continue;
        // A payment may have several runs.
        found.set(id, { id, amount: ordered });
      }
    }
  } catch (error) {
    // A server without an index can't be asked.
    if (grpcErrorOf(error)?.code === grpc.UNIMPLEMENTED) return NO_PAYOUTS;
    throw error;
  }
  // The index lists the newest first.
  return summed([...found.values()].reverse());
}
