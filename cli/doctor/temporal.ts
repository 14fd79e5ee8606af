import { withTemporalApiKey } from '../../src/settings/secret-files.js';
import {
  lazyConnection,
  loadTemporalTarget,
  type TemporalTarget,
  workflowPollers,
} from '../../src/temporal/connection.js';
import { findSetupGaps } from '../../src/temporal/namespace.js';
import { describeGaps, howToSetUp } from '../../src/temporal/setup-gaps.js';
import { type Finding, fail, ok, reasonOf } from './finding.js';

const LIMIT_MS = 10_000;

/** Checks that Temporal answers, its namespace has what payments need, and a worker takes them. */
export async function checkTemporal(env: NodeJS.ProcessEnv, taskQueue: string): Promise<Finding[]> {
  let target: TemporalTarget;
  try {
    target = loadTemporalTarget(withTemporalApiKey(env));
  } catch (error) {
    const todo =
      "Correct Temporal's configuration file, or TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE, TEMPORAL_API_KEY_FILE and TEMPORAL_TLS_….";
    return [fail('temporal', `where it is can't be read: ${reasonOf(error)}`, todo)];
  }
  const { address, namespace } = target;
  const connection = lazyConnection(target);
  const within = <Result>(calls: () => Promise<Result>) => connection.withDeadline(Date.now() + LIMIT_MS, calls);
  try {
    const info = await within(() => connection.workflowService.getSystemInfo({}));
    const found = [ok('temporal', `${address} answers (version ${info.serverVersion ?? 'unknown'})`)];
    const gaps = await within(() => findSetupGaps(connection, namespace));
    if (gaps.length > 0) {
      return [...found, fail('namespace', describeGaps(namespace, gaps), howToSetUp(namespace, gaps).join('\n'))];
    }
    const pollers = await within(() => workflowPollers(connection, namespace, taskQueue));
    const names = [...new Set(pollers.map(({ identity }) => identity ?? 'unnamed'))];
    return [
      ...found,
      ok('namespace', `${namespace} has the search attributes`),
      names.length > 0
        ? ok('worker', `${names.join(', ')} ${names.length === 1 ? 'polls' : 'poll'} the task queue ${taskQueue}`)
        : fail(
            'worker',
            `nobody polls the task queue ${taskQueue}, so that no payment moves`,
            'Start a worker ("sanaga worker"), with the same TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_TASK_QUEUE. Its log says why, if it ends.',
          ),
    ];
  } catch (error) {
    const todo = 'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TLS and the API key, and whether the server is up.';
    return [fail('temporal', `no answer from ${address}: ${reasonOf(error)}`, todo)];
  } finally {
    await connection.close();
  }
}
