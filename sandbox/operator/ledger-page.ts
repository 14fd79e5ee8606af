import { z } from 'zod';
import type { Entry } from '../entry.js';
import type { Faults } from '../faults/faults.js';
import type { Ledger } from '../ledger.js';
import type { PostLog } from '../post-log.js';
import type { Traffic } from '../traffic.js';
import type { WebhookSender } from '../webhook-sender.js';
import { wireTransaction } from '../wire-transaction.js';

/** Whatever keeps count of something in the sandbox. */
export interface Books {
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly posts: PostLog;
  readonly traffic: Traffic;
  readonly webhooks: WebhookSender;
}

const count = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);

/** Filters and paging of the ledger; as in a search, values that make no sense are ignored. */
export const ledgerQuery = z.object({
  externalId: z.string().optional().catch(undefined),
  transId: z.string().optional().catch(undefined),
  userId: z.string().optional().catch(undefined),
  offset: count.catch(0),
  limit: count.pipe(z.int().min(1).max(1000)).catch(100),
});

/** One transaction and all that happened to it. Its webhook address, a secret of the merchant's, stays out. */
function account(entry: Entry) {
  const { webhook: _secret, ...transaction } = wireTransaction(entry);
  return {
    transaction,
    service: entry.service,
    method: entry.method,
    createdAt: entry.createdAt,
    expiresAt: entry.expiresAt,
    history: entry.history,
    statusCalls: { answered: entry.statusCalls.answered, throttled: entry.statusCalls.throttled },
    attempts: entry.attempts,
    notifications: entry.notifications,
    faults: Object.fromEntries(entry.faults),
  };
}

function totals({ ledger, faults, traffic, webhooks }: Books, entries: readonly Entry[]) {
  const statuses: Record<string, number> = {};
  for (const { status } of entries) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    created: ledger.created,
    held: entries.length,
    statuses,
    requests: Object.fromEntries(traffic.requests),
    throttled: traffic.throttled,
    notifications: webhooks.totals,
    faults: Object.fromEntries(faults.totals),
  };
}

/**
 * One page of the ledger, oldest first, and the totals of all of it. Times are ms since the epoch. Beside the
 * transactions it has the POSTs that were to make some, by externalId, also those that made none: with a filter those of
 * its externalId or of the transactions found.
 */
export function ledgerPage(query: z.output<typeof ledgerQuery>, options: Books) {
  const { externalId, transId, userId, offset, limit } = query;
  const entries = options.ledger.all();
  const found = entries.filter(
    (entry) =>
      (externalId === undefined || entry.externalId === externalId) &&
      (transId === undefined || entry.transId === transId) &&
      (userId === undefined || entry.userId === userId),
  );
  const ids = new Set(found.map((entry) => entry.externalId));
  const ofAnyTransaction = transId === undefined && userId === undefined;
  const posts = (externalId === undefined ? options.posts.all() : [options.posts.of(externalId)]).filter(
    (count) => ofAnyTransaction || ids.has(count.externalId),
  );
  const end = offset + limit;
  return {
    transactions: found.slice(offset, end).map(account),
    found: found.length,
    posts: posts.slice(offset, end),
    next: end < Math.max(found.length, posts.length) ? end : null,
    totals: totals(options, entries),
  };
}
