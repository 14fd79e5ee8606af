import type { Client } from '@temporalio/client';
import { type PaymentId, parsePaymentId } from '../payments/words/payment-id.js';
import { visibilityQuery } from '../records/index-queries.js';
import { askRecords, type RecordsContext } from './recorded-payments.js';
import { callTemporal } from './temporal-calls.js';

/** Payments of one transaction that are read at once. */
const MAX_HOLDERS = 10;

/** Dependencies of looking for a transaction. */
type TransactionContext = { readonly client: Client } & RecordsContext;

/**
 * Finds the payments that have a transaction of the provider; there should be at most one. A payment is found some
 * moments after it got its transaction.
 *
 * @throws {Unavailable | RecordsUnavailable}
 */
export async function findByTransId(context: TransactionContext, transId: string): Promise<PaymentId[]> {
  const recorded = await recordedWith(context, transId);
  return [...new Set([...recorded, ...(await indexedWith(context, transId))])];
}

/**
 * Finds the payments that a hint about a transaction may be for: Temporal's or, only when it has none, those of the
 * records. A hint proves nothing, so it needn't wait for unavailable records when Temporal has its payment.
 *
 * @throws {Unavailable | RecordsUnavailable}
 */
export async function findForHint(context: TransactionContext, transId: string): Promise<PaymentId[]> {
  const indexed = await indexedWith(context, transId);
  return indexed.length > 0 ? indexed : await recordedWith(context, transId);
}

async function recordedWith({ records }: TransactionContext, transId: string): Promise<PaymentId[]> {
  const recorded = await askRecords(
    () => records?.list({ transId }, MAX_HOLDERS),
    "It can't be checked at the moment which payment has this transaction. Try again shortly.",
  );
  return (recorded ?? []).map(({ id }) => id);
}

async function indexedWith({ client }: TransactionContext, transId: string): Promise<PaymentId[]> {
  return await callTemporal(client, async () => {
    const ids = new Set<PaymentId>();
    const request = { query: visibilityQuery({ transId }), pageSize: MAX_HOLDERS };
    for await (const { workflowId } of client.workflow.list(request)) {
      const id = parsePaymentId(workflowId);
      if (id !== undefined) ids.add(id);
    }
    return [...ids];
  });
}
