import { types } from 'node:util';
import type { ConnectionPlugin } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DEFAULT_NAMESPACE, retryUntilClosed } from '../../src/temporal/connection.js';
import { searchAttributeTypes } from '../../src/temporal/namespace.js';
import { type FindTestServerOptions, findTestServer } from './test-server.js';

/** The SDK gives a server 5 s to start, which isn't always enough on a machine that is busy with other tests. */
const MAX_ATTEMPTS = 10;

/**
 * Starts Temporal's time-skipping test server with Sanaga's search attributes. End it with `teardown()`.
 *
 * `result()` of the environment's own client skips time while it waits. Wait for one result at a time with it: two at once
 * confuse the server's count of time locks. To wait for several, use a plain `Client` on `environment.connection`, and
 * `environment.sleep` to move time on.
 *
 * The server may be a Java program, and it listens on every address of the machine: use it for tests only.
 *
 * @throws NothingWorkedError when no test server can be found.
 * @throws Error when it doesn't start.
 */
export async function startTimeSkippingEnvironment(
  options: FindTestServerOptions,
): Promise<TestWorkflowEnvironment> {
  const path = await findTestServer(options);
  const environment = await createWithRetries(path, options.report);
  try {
    // A new test server has none, and can't list them: there is nothing to compare with.
    await environment.connection.operatorService.addSearchAttributes({
      namespace: DEFAULT_NAMESPACE,
      searchAttributes: searchAttributeTypes,
    });
  } catch (error) {
    await environment.teardown();
    throw error;
  }
  return environment;
}

/** The environment's own connection, as ours: a retry after its end doesn't end the process. */
const untilClosed: ConnectionPlugin = {
  name: 'retry-until-closed',
  configureConnection: (options) => ({ ...options, interceptors: retryUntilClosed() }),
};

async function createWithRetries(
  path: string,
  report: (line: string) => void,
): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
        plugins: [untilClosed],
      });
    } catch (error) {
      // Not `instanceof Error`: under jest, the error comes from another realm.
      const isLate = types.isNativeError(error) && error.message.includes('Failed connecting to test server');
      if (!isLate || attempt === MAX_ATTEMPTS) throw error;
      report(`test server: too slow to start, trying again (${attempt + 1} of ${MAX_ATTEMPTS})`);
    }
  }
}
