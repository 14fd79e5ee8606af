import express, { Router } from 'express';
import { z } from 'zod';
import { ApiError, readBody, unknownTransaction } from './endpoints/endpoint.js';
import { type Entry, wireTransaction } from './entry.js';
import type { FaultInjector } from './faults/fault-injector.js';
import { faultRuleSchema } from './faults/fault-rule.js';
import type { Ledger } from './ledger.js';
import type { PostCounter, RequestCounter } from './request-counts.js';
import type { WebhookSender } from './webhook-sender.js';

export interface OperatorContext {
  readonly ledger: Ledger;
  readonly faults: FaultInjector;
  readonly posts: PostCounter;
  readonly requests: RequestCounter;
  readonly webhooks: WebhookSender;
}

const settleSchema = z.object({
  status: z.enum(['SUCCESSFUL', 'FAILED']),
  reason: z.string().max(200).optional(),
});

/**
 * The operator's interface under `/_sandbox`, which the provider doesn't have and which needs no credentials: reading
 * the ledger, settling pending transactions, injecting faults. Must never be exposed publicly.
 */
export function operatorApi(context: OperatorContext): Router {
  const { ledger, faults } = context;
  const router = Router();
  const json = express.json({ limit: '100kb' });

  router.get('/ledger', (request, response) => {
    response.json(ledgerPage(ledgerQuery.parse(request.query), context));
  });

  router.post('/transactions/:transId/settle', json, (request, response) => {
    const { status, reason } = readBody(settleSchema, request.body);
    const entry = ledger.find(String(request.params.transId));
    if (entry === undefined) throw unknownTransaction();
    if (!ledger.settle(entry, status, reason)) {
      throw new ApiError(409, `Only a PENDING transaction can be settled; this one is ${entry.status}`);
    }
    response.json(wireTransaction(entry));
  });

  router.get('/faults', (_request, response) => {
    response.json({ faults: faults.list(), totals: Object.fromEntries(faults.totals) });
  });
  router.post('/faults', json, (request, response) => {
    const { id, rule, hits } = faults.add(readBody(faultRuleSchema, request.body));
    response.status(201).json({ id, rule, hits });
  });
  router.delete('/faults', (_request, response) => {
    faults.clear();
    response.status(204).end();
  });
  router.delete('/faults/:id', (request, response) => {
    const id = count.safeParse(request.params.id);
    if (!id.success || !faults.remove(id.data)) throw new ApiError(404, 'id: no such active fault');
    response.status(204).end();
  });
  return router;
}

const count = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);

/** Filters and paging of the ledger; invalid values are ignored, as in a search. */
const ledgerQuery = z.object({
  externalId: z.string().optional().catch(undefined),
  transId: z.string().optional().catch(undefined),
  userId: z.string().optional().catch(undefined),
  offset: count.catch(0),
  limit: count.pipe(z.int().min(1).max(1000)).catch(100),
});

/**
 * One page of the ledger, oldest first, with the totals of the whole ledger. Times are ms since the epoch. `posts`
 * counts the POSTs that begin payments by externalId, including those that created no transaction; with a filter, only
 * those for the given externalId or for the transactions found.
 */
function ledgerPage(query: z.output<typeof ledgerQuery>, context: OperatorContext) {
  const { externalId, transId, userId, offset, limit } = query;
  const entries = context.ledger.all();
  const found = entries.filter(
    (entry) =>
      (externalId === undefined || entry.externalId === externalId) &&
      (transId === undefined || entry.transId === transId) &&
      (userId === undefined || entry.userId === userId),
  );
  const ids = new Set(found.map((entry) => entry.externalId));
  const ofAnyTransaction = transId === undefined && userId === undefined;
  const posts = (externalId === undefined ? context.posts.all() : [context.posts.of(externalId)]).filter(
    (posted) => ofAnyTransaction || ids.has(posted.externalId),
  );
  const end = offset + limit;
  return {
    transactions: found.slice(offset, end).map(ledgerEntry),
    found: found.length,
    posts: posts.slice(offset, end),
    next: end < Math.max(found.length, posts.length) ? end : null,
    totals: totals(context, entries),
  };
}

/** A transaction with its whole history, but without its webhook address, which is a secret of the merchant's. */
function ledgerEntry(entry: Entry) {
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

function totals({ ledger, faults, requests, webhooks }: OperatorContext, entries: readonly Entry[]) {
  const statuses: Record<string, number> = {};
  for (const { status } of entries) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    created: ledger.created,
    held: entries.length,
    statuses,
    requests: Object.fromEntries(requests.requests),
    throttled: requests.throttled,
    notifications: webhooks.totals,
    faults: Object.fromEntries(faults.totals),
  };
}
