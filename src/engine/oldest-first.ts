import type { Client } from '@temporalio/client';
import type { PaymentId } from '../payments/words/payment-id.js';
import { DAY_MS } from '../payments/words/time.js';
import { type ListedRun, listRuns, RUNS_PER_CALL } from '../records/list-runs.js';
import { compareOldest, type Place } from '../records/places.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';
import { callTemporal } from './temporal-calls.js';

/** Payments in the order of their creation, then of their ids. */
export interface OldestFirst {
  /** One run of each. */
  readonly runs: readonly ListedRun[];
  /** The place of the last of them, when there are more. */
  readonly last?: Place | undefined;
}

/** Counts the runs of payments that a query finds in Temporal's index. */
export async function countPayments(client: Client, query: string): Promise<number> {
  return (await callTemporal(client, () => client.workflow.count(query))).count;
}

/**
 * Lists payments in Temporal's index, the oldest first. Temporal lists the newest first, and in no other order; but it
 * counts. So this looks for a time before which there are enough of them, and few more.
 *
 * @param after the last payment of the page before
 * @throws {Unavailable}
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
  const all = [...rest, ...later];
  const runs = all.slice(0, limit);
  const end = before !== undefined || all.length > limit ? runs.at(-1) : undefined;
  return { runs, last: end && placeOf(end) };
}

const createdBefore = (time: number): string => `${attributes.createdAt.name} < ${time}`;

/**
 * Finds a time (ms since the epoch) before which more than `limit` of the runs were created, and hardly more than a
 * call lists; `undefined` when there aren't that many.
 */
async function timeAfter(client: Client, query: string, from: number, limit: number): Promise<number | undefined> {
  if ((await countPayments(client, query)) <= limit + RUNS_PER_CALL) return undefined;
  let [low, high] = [from, Date.now() + DAY_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const count = await countPayments(client, `${query} AND ${createdBefore(middle)}`);
    if (count > limit + RUNS_PER_CALL) high = middle;
    else if (count <= limit) low = middle;
    else return middle;
  }
  return high;
}

/** Reads all payments that a query finds, in order. */
async function readAll(client: Client, query: string): Promise<ListedRun[]> {
  const found = new Map<PaymentId, ListedRun>();
  for await (const { runs } of listRuns(client, query, (list) => callTemporal(client, list)))
    for (const run of runs) found.set(run.id, run);
  return [...found.values()].sort((one, other) => compareOldest(placeOf(one), placeOf(other)));
}

function placeOf({ id, indexed }: ListedRun): Place {
  return { id, createdAt: indexed.createdAt };
}
