import got from 'got';
import { lazyConnection, type TemporalTarget } from '../../src/temporal/connection.js';

const PROBE_LIMIT_MS = 5_000;

/** Whether a GET there is answered with a 2xx. */
export async function answers(url: string): Promise<boolean> {
  const { ok } = await got(url, {
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { request: PROBE_LIMIT_MS },
  });
  return ok;
}

/**
 * A probe that tells whether the worker with this process id polls the task queue: then, and no earlier, payments
 * are taken up. Temporal knows a worker by its process id and host.
 */
export function workerPolls(target: TemporalTarget, taskQueue: string, pid: number): () => Promise<boolean> {
  return async () => {
    const connection = lazyConnection(target);
    try {
      const { pollers } = await connection.withDeadline(Date.now() + PROBE_LIMIT_MS, () =>
        connection.workflowService.describeTaskQueue({
          namespace: target.namespace,
          taskQueue: { name: taskQueue },
          taskQueueType: WORKFLOW_TASKS,
        }),
      );
      return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`));
    } finally {
      await connection.close();
    }
  };
}

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's interface. */
const WORKFLOW_TASKS = 1;
