import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { shareAnswers } from '../../engine/shared-answers.js';
import { callTemporal } from '../../engine/temporal-calls.js';
import { isoTime } from '../../payments/words/time.js';
import { RecordsUnavailableError } from '../../records/database.js';
import type { Records } from '../../records/records.js';
import { findSetupGaps } from '../../temporal/namespace.js';
import { describeGaps } from '../../temporal/setup-gaps.js';
import { temporarilyUnavailable } from '../api-error.js';
import type { ApiContext } from '../context.js';
import { publicRoute } from '../route.js';

/** Liveness: the process is up. */
export const healthz = publicRoute({
  method: 'get',
  path: '/healthz',
  summary: 'Liveness of the process',
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
  summary: 'Readiness of the process',
  operationId: 'getReadiness',
  tag: 'Operations',
  responses: {
    200: {
      description: 'It can, perhaps with warnings.',
      schema: z.object({
        status: z.literal('ready'),
        warnings: z.array(z.string()).optional().describe('Warnings for an operator to look into'),
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

/** The process's readiness is reused for this long, in ms. */
const READINESS_REUSED_MS = 1_000;

/**
 * Checks readiness once for all who ask together: they need no key and aren't limited, and each check takes several
 * calls to Temporal and one to the records.
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

/** Payments that stay unrecorded for longer than this, in ms, are a warning. */
const MAX_LAG_MS = 10 * 60_000;

/** Time limit for the records to report their lag, in ms: a readiness probe can't wait for long. */
const RECORDS_LIMIT_MS = 2_000;

/** Warns of a problem with the records. It is no failure: most calls don't need them. */
async function warningOf(records: Records): Promise<string | undefined> {
  try {
    const late = pause(RECORDS_LIMIT_MS, undefined, { ref: false });
    const state = await Promise.race([records.recorderState(), late]);
    if (state === undefined) return UNREADABLE;
    const { recordedUntil } = state;
    if (recordedUntil !== undefined && Date.now() - recordedUntil <= MAX_LAG_MS) return undefined;
    const since = recordedUntil === undefined ? 'yet' : `since ${isoTime(recordedUntil)}`;
    return `No payments were recorded ${since}. Is a worker running with RECORDS_URL? Once Temporal has deleted what wasn't recorded, its Idempotency-Keys no longer hold.`;
  } catch (error) {
    if (!(error instanceof RecordsUnavailableError)) throw error;
    return UNREADABLE;
  }
}

const UNREADABLE =
  "The records can't be read: payouts and direct collections are refused, and payments of long ago not found.";
