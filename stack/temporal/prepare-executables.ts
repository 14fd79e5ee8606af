import { type FindTemporalOptions, findTemporal } from './find-temporal.js';
import { type FindTestServerOptions, findTestServer } from './find-test-server.js';

/**
 * Makes sure that the dev server and the time-skipping test server are at hand, once before many processes need them:
 * on a fresh machine this may build for minutes, which is longer than a test may wait. Report lines tell of it.
 *
 * @throws NothingWorkedError
 */
export async function prepareExecutables(
  options: FindTemporalOptions & FindTestServerOptions,
): Promise<void> {
  await findTemporal(options);
  await findTestServer(options);
}
