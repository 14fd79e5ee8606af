import { describeGaps, findSetupGaps } from '../../temporal/namespace.js';
import { ask } from '../payments/temporal-calls.js';
import { temporarilyUnavailable } from '../problem.js';
import type { OpenRoute } from '../route.js';

/** The process is up; whatever restarts it needs to know no more. */
export const healthz: OpenRoute = {
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process is up',
  answer: () => ({ status: 200, json: { status: 'ok' } }),
};

/**
 * Requests can be dealt with: Temporal answers, the namespace has what payments need, and the process isn't about to
 * stop. The namespace was checked at the start; here it shows when somebody has changed it since.
 */
export const readyz: OpenRoute = {
  method: 'get',
  path: '/readyz',
  summary: 'Whether requests can be dealt with',
  async answer(_, { client, namespace, shutdown }) {
    if (shutdown.begun) throw temporarilyUnavailable('This process is about to stop.');
    const gaps = await ask(client, () => findSetupGaps(client.connection, namespace));
    if (gaps.length > 0) throw temporarilyUnavailable(describeGaps(namespace, gaps));
    return { status: 200, json: { status: 'ready' } };
  },
};
