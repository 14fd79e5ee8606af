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

/** Requests can be dealt with: Temporal answers for the namespace, and the process isn't about to stop. */
export const readyz: OpenRoute = {
  method: 'get',
  path: '/readyz',
  summary: 'Whether requests can be dealt with',
  async answer(_, { client, namespace, shutdown }) {
    if (shutdown.begun) throw temporarilyUnavailable('This process is about to stop.');
    await ask(client, () => client.workflowService.describeNamespace({ namespace }));
    return { status: 200, json: { status: 'ready' } };
  },
};
