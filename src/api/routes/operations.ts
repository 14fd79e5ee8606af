import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { readUnmatched } from '../../engine/provider-notifications.js';
import { shareAnswers } from '../../engine/shared-answers.js';
import { callTemporal } from '../../engine/temporal-calls.js';
import { ApiError, providerUnavailable, temporarilyUnavailable } from '../../http/problem.js';
import { SERVICES } from '../../payments/words/order.js';
import type { BalanceAnswer } from '../../payments/words/outcome.js';
import { RecordsUnavailableError } from '../../records/database.js';
import type { Records } from '../../records/records.js';
import { SCOPES } from '../../settings/merchants.js';
import { describeGaps, findSetupGaps } from '../../temporal/namespace.js';
import {
  type ApiContext,
  authenticatedRoute,
  type BalanceReader,
  type KnownBalance,
  publicRoute,
  type SharedBalance,
} from '../route.js';
import { keySchema } from '../schemas/key.js';
import { unmatchedListSchema } from '../schemas/notification.js';
import { balanceSchema } from '../schemas/provider.js';

/** Liveness: the process is up. */
export const healthz = publicRoute({
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process is up',
  operationId: 'getHealth',
  tag: 'Operations',
  responses: { 200: { description: 'It is.', schema: z.object({ status: z.literal('ok') }) } },
  handle: () => ({ status: 200, json: { status: 'ok' as const } }),
});

/**
 * Readiness: Temporal answers, the namespace has what payments need, and the process isn't stopping. The namespace was
 * checked at the start; this shows later changes to it.
 */
export const readyz = publicRoute({
  method: 'get',
  path: '/readyz',
  summary: 'Whether the process can serve requests',
  operationId: 'getReadiness',
  tag: 'Operations',
  responses: {
    200: {
      description: 'It can, perhaps with warnings.',
      schema: z.object({
        status: z.literal('ready'),
        warnings: z.array(z.string()).optional().describe('What an operator has to look at'),
      }),
    },
  },
  problems: ['temporarily_unavailable'],
  async handle(_, { shutdown, readiness }) {
    if (shutdown.begun) throw temporarilyUnavailable('This process is stopping.');
    const warning = await readiness();
    return { status: 200, json: { status: 'ready' as const, ...(warning && { warnings: [warning] }) } };
  },
});

/** How long it is reused whether the process is ready, in ms. */
const READINESS_REUSED_MS = 1_000;

/**
 * Looks whether the process is ready, for all who ask together: they need no key and aren't limited, and each look
 * takes several calls to Temporal and one to the records.
 */
export function sharedReadiness({
  client,
  namespace,
  records,
}: Pick<ApiContext, 'client' | 'namespace' | 'records'>): ApiContext['readiness'] {
  return shareAnswers(async () => {
    const gaps = await callTemporal(client, () => findSetupGaps(client.connection, namespace));
    if (gaps.length > 0) throw temporarilyUnavailable(describeGaps(namespace, gaps));
    return records && (await warningOf(records));
  }, READINESS_REUSED_MS);
}

/** How long payments may go unrecorded before it is a warning, in ms. */
const MAX_LAG_MS = 10 * 60_000;

/**
 * How long the records may take to say how far they are, in ms: anybody who asks for readiness doesn't wait for long.
 */
const RECORDS_LIMIT_MS = 2_000;

/** What is wrong with the records: most of what the API does doesn't need them. */
async function warningOf(records: Records): Promise<string | undefined> {
  try {
    const late = pause(RECORDS_LIMIT_MS, undefined, { ref: false });
    const state = await Promise.race([records.recorderState(), late]);
    if (state === undefined) return UNREADABLE;
    const { recordedUntil } = state;
    if (recordedUntil !== undefined && Date.now() - recordedUntil <= MAX_LAG_MS) return undefined;
    const since = recordedUntil === undefined ? 'yet' : `since ${new Date(recordedUntil).toISOString()}`;
    return `No payments were recorded ${since}. Is a worker running with RECORDS_URL? Once Temporal has deleted what wasn't recorded, its Idempotency-Keys no longer hold.`;
  } catch (error) {
    if (!(error instanceof RecordsUnavailableError)) throw error;
    return UNREADABLE;
  }
}

const UNREADABLE =
  "The records can't be read: payouts and direct collections are refused, and payments of long ago not found.";

/** They come from payments made by hand at the provider, from another system, or from forged requests. */
export const listUnmatched = authenticatedRoute({
  method: 'get',
  path: '/v1/notifications/unmatched',
  summary: "The provider's latest notifications that match no payment",
  description: 'For operators.',
  operationId: 'listUnmatchedNotifications',
  tag: 'Operations',
  responses: { 200: { description: 'The notifications, newest first.', schema: unmatchedListSchema } },
  problems: ['temporarily_unavailable'],
  scopes: ['review'],
  async handle(_, context) {
    return { status: 200, json: { data: await readUnmatched(context) } };
  },
});

/** So that a program can tell a person whose key it is before anything is done with it. */
export const getKey = authenticatedRoute({
  method: 'get',
  path: '/v1/key',
  summary: 'The API key of this request: whose it is, and what it allows',
  operationId: 'getKey',
  tag: 'Operations',
  responses: { 200: { description: 'The key, without its secret.', schema: keySchema } },
  scopes: SCOPES,
  async handle({ caller }) {
    const { owner, scopes } = caller;
    return { status: 200, json: { object: 'key' as const, name: owner, scopes: [...scopes] } };
  },
});

export const getBalance = authenticatedRoute({
  method: 'get',
  path: '/v1/balance',
  summary: 'The balance of a service at the provider',
  operationId: 'getBalance',
  tag: 'Balance',
  responses: { 200: { description: 'The balance, up to three seconds old.', schema: balanceSchema } },
  problems: ['provider_refused', 'provider_unavailable'],
  scopes: ['balance'],
  query: z.strictObject({ service: z.enum(SERVICES) }),
  async handle({ query: { service } }, { providers }) {
    const { answer, asOf } = await providers[service].balance();
    const { service: serviceName, balance, currency } = known(answer);
    return {
      status: 200,
      json: {
        object: 'balance' as const,
        service,
        serviceName,
        balance,
        currency,
        asOf: new Date(asOf).toISOString(),
      },
    };
  },
});

function known(answer: BalanceAnswer): Extract<BalanceAnswer, { kind: 'balance' }> {
  switch (answer.kind) {
    case 'balance':
      return answer;
    case 'refused':
    case 'unauthorized':
      throw new ApiError('provider_refused', `The provider refused the request for the balance: ${answer.message}`);
    case 'throttled':
      throw providerUnavailable('throttled', answer.retryAfterMs);
    case 'unavailable':
      throw providerUnavailable(answer.reason);
  }
}

/** How long a balance is reused, in ms. It changes with each payment, but no decision depends on it. */
const REUSED_MS = 3_000;

/**
 * Makes one call for the balance at a time, shared by all requests of all merchants, and reuses its answer for
 * {@link REUSED_MS}.
 */
export function sharedBalance(reader: BalanceReader): SharedBalance {
  const balance = async (): Promise<KnownBalance> => {
    const asOf = Date.now();
    return { answer: await reader.balance(), asOf };
  };
  return { balance: shareAnswers(balance, REUSED_MS) };
}
