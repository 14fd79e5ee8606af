import type { Client } from '@temporalio/client';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { parsePaymentId } from '../../payments/payment-id.js';
import { DAY_MS } from '../../payments/time.js';
import { pagesOf } from '../../temporal/list-workflows.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import type { Place } from './list-payments.js';
import { callTemporal } from './temporal-calls.js';

/** Runs that one call to Temporal gives. */
const LISTED_AT_ONCE = 250;

/** Payments in the order of their creation, then of their ids. */
export interface OldestFirst {
  readonly payments: readonly Place[];
  /** There are more after the last of these. */
  readonly hasMore: boolean;
}

/** How many runs of payments Temporal's index has that a query finds. */
export async function countPayments(client: Client, query: string): Promise<number> {
  return (await callTemporal(client, () => client.workflow.count(query))).count;
}

/**
 * Open payments in Temporal's index, those created first at the beginning. Temporal lists the newest first, and in no other order;
 * but it counts. So a time is looked for before which there are enough of them, and few more.
 *
 * @param query finds one run of each
 * @param after the last payment of the page before
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function listOldestFirst(
  client: Client,
  query: string,
  limit: number,
  after?: Place,
): Promise<OldestFirst> {
  const created = (condition: string) => `${query} AND ${attributes.createdAt.name} ${condition}`;
  const sameTime = after === undefined ? [] : await readAll(client, created(`= ${after.createdAt}`));
  const rest = sameTime.filter(({ id }) => after !== undefined && id > after.id);
  const from = after === undefined ? 0 : after.createdAt + 1;
  const since = created(`>= ${from}`);
  const before = await timeAfter(client, since, from, limit);
  const later = await readAll(client, before === undefined ? since : `${since} AND ${createdBefore(before)}`);
  const payments = [...rest, ...later];
  return { payments: payments.slice(0, limit), hasMore: before !== undefined || payments.length > limit };
}

const createdBefore = (time: number): string => `${attributes.createdAt.name} < ${time}`;

/**
 * A time (ms since the epoch) before which more than `limit` of the payments were created, and hardly more than a call lists;
 * `undefined` when there aren't that many.
 */
async function timeAfter(
  client: Client,
  query: string,
  from: number,
  limit: number,
): Promise<number | undefined> {
  if ((await countPayments(client, query)) <= limit + LISTED_AT_ONCE) return undefined;
  let [low, high] = [from, Date.now() + DAY_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const count = await countPayments(client, `${query} AND ${createdBefore(middle)}`);
    if (count > limit + LISTED_AT_ONCE) high = middle;
    else if (count <= limit) low = middle;
    else return middle;
  }
  return high;
}

/** All payments that a query finds, in order. */
async function readAll(client: Client, query: string): Promise<Place[]> {
  const found = new Map<PaymentId, Place>();
  const request = { query, pageSize: LISTED_AT_ONCE };
  for await (const { executions } of pagesOf(client, request, (list) => callTemporal(client, list))) {
    for (const { execution, searchAttributes } of executions) {
      const id = parsePaymentId(execution?.workflowId);
      const indexed = decodeTypedSearchAttributes(searchAttributes?.indexedFields);
      const createdAt = indexed.get(attributes.createdAt);
      if (id !== undefined && createdAt !== undefined) found.set(id, { id, createdAt });
    }
  }
  return [...found.values()].sort(
    (one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
  );
}
