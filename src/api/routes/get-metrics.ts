import type { OpenRoute } from '../route.js';

/** For Prometheus. It holds no secrets, but numbers of the business: keep it from the public at the proxy. */
export const getMetrics: OpenRoute = {
  method: 'get',
  path: '/metrics',
  summary: 'Metrics in the format of Prometheus',
  async answer(_, { metrics: { registry } }) {
    return { status: 200, headers: { 'Content-Type': registry.contentType }, text: await registry.metrics() };
  },
};
