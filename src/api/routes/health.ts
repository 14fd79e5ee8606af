import { z } from 'zod';
import { shareAnswers } from '../../engine/shared-answers.js';
import { callTemporal } from '../../engine/temporal-calls.js';
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
 * Readiness: the book and Temporal answer, the namespace has what payments need, and the process isn't stopping. The
 * namespace was checked at the start; this shows later changes to it.
 */
export const readyz = publicRoute({
  method: 'get',
  path: '/readyz',
  summary: 'Readiness of the process',
  operationId: 'getReadiness',
  tag: 'Operations',
  responses: {
    200: {
      description: 'It can serve.',
      schema: z.object({ status: z.literal('ready') }),
    },
  },
  problems: ['temporarily_unavailable'],
  async handle(_, { shutdown, readiness }) {
    if (shutdown.begun) throw temporarilyUnavailable('This process is stopping.');
    await readiness();
    return { status: 200, json: { status: 'ready' as const } };
  },
});

/** The process's readiness is reused for this long, in ms. */
const READINESS_REUSED_MS = 1_000;

/** Checks readiness once for all who ask together: they need no key and aren't limited. */
export function sharedReadiness({
  client,
  namespace,
  book,
}: Pick<ApiContext, 'client' | 'namespace' | 'book'>): ApiContext['readiness'] {
  return shareAnswers(async () => {
    const [gaps] = await Promise.all([
      callTemporal(client, () => findSetupGaps(client.connection, namespace)),
      book.query('SELECT 1 FROM payments LIMIT 1'),
    ]);
    if (gaps.length > 0) throw temporarilyUnavailable(describeGaps(namespace, gaps));
  }, READINESS_REUSED_MS);
}
