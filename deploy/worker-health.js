/*
 * Health check of a worker, run beside it in its container: succeeds when Temporal has seen this very worker ask for
 * work within the last two minutes. A worker listens on no port, and one that lives but can't reach Temporal is of no
 * use.
 */
import '../lib/supported-node.js';

import { hostname } from 'node:os';

const { readConfig } = await import('../lib/settings/read-settings.js');
const { withTemporalApiKey } = await import('../lib/settings/secret-files.js');
const { lazyConnection, loadTemporalTarget, workflowPollers } = await import('../lib/temporal/connection.js');

/** A poll lasts a minute at most, so that a worker which is well is seen at least as often. */
const FRESH_MS = 2 * 60 * 1000;

const {
  TEMPORAL_TASK_QUEUE: name,
  WORKER_DEPLOYMENT: deployment,
  WORKER_BUILD_ID: buildId,
} = readConfig('worker', process.env);
const version = buildId === undefined ? undefined : `${deployment}:${buildId}`;
const target = loadTemporalTarget(withTemporalApiKey(process.env));
const connection = lazyConnection(target);
try {
  const pollers = await connection.withDeadline(Date.now() + 5_000, () =>
    workflowPollers(connection, target.namespace, name, version),
  );
  const seen = pollers
    .filter(({ identity }) => identity.endsWith(`@${hostname()}`))
    .map(({ lastAccessTime }) => Number(lastAccessTime.seconds) * 1000);
  if (!seen.some((at) => Date.now() - at < FRESH_MS)) {
    process.stderr.write(`no worker of ${hostname()} asks for work at ${name}\n`);
    process.exitCode = 1;
  }
} finally {
  await connection.close();
}
