import { afterEach, describe, it } from '@jest/globals';
import { allHealthy, compose, signal, untilHealth } from './compose.js';

afterEach(allHealthy);

describe('a health check', () => {
  it.each(['balancer', 'desk', 'codec', 'sandbox'])('of %s fails while it stands still', async (service) => {
    await signal(service, 'STOP');
    await untilHealth(service, 'unhealthy').finally(() => signal(service, 'CONT'));
  });

  it('of the API and of a worker fails while Temporal is away', async () => {
    await compose('stop', 'temporal');
    await untilHealth('api', 'unhealthy').finally(() => compose('start', 'temporal'));
  });

  it('of a worker fails when Temporal does not hear of it', async () => {
    await signal('worker', 'STOP');
    await untilHealth('worker', 'unhealthy').finally(() => signal('worker', 'CONT'));
  });

  it('of Temporal and PostgreSQL fails while they stand still', async () => {
    await signal('postgres', 'STOP');
    await untilHealth('postgres', 'unhealthy').finally(() => signal('postgres', 'CONT'));
  });
});
