import { types } from 'node:util';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DEFAULT_NAMESPACE } from '../../src/temporal/connection.js';
import { searchAttributeTypes } from '../../src/temporal/namespace.js';
import { type FindTestServerOptions, findTestServer } from './find-test-server.js';

/** The SDK allows a server 5 s to start, which a machine that is busy with other tests may exceed. */
const ATTEMPTS = 10;

/**
 * Starts Temporal's time-skipping test server with Sanaga's search attributes. End it with `teardown()`.
 *
 * `result()` of the environment's own client lets time skip while it waits. Wait for one result at a time with it: two at
 * once confuse the server's count of who has locked the time. For several at once, take a plain `Client` on
 * `environment.connection`, and `environment.sleep` to move the time on.
 *
 * The executable may be a Java program, and it listens on all addresses of the machine: it is for tests alone.
 *
 * @throws NothingWorkedError when there is no test server to be had.
 * @throws Error when it does not start.
 */
export async function startTimeSkippingEnvironment(
  options: FindTestServerOptions,
): Promise<TestWorkflowEnvironment> {
  const path = await findTestServer(options);
  const environment = await createWithPatience(path, options.report);
  try {
    // The test server begins without any, and cannot list them, so there is nothing to compare with.
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

async function createWithPatience(
  path: string,
  report: (line: string) => void,
): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      // Not `instanceof`: in a test's sandbox the error is of another realm.
      const isLate = types.isNativeError(error) && error.message.includes('Failed connecting to test server');
      if (!isLate || attempt === ATTEMPTS) throw error;
      report(`test server: too slow to start, trying again (${attempt + 1} of ${ATTEMPTS})`);
    }
  }
}
