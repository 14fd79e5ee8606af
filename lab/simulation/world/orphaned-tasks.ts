import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto, { type temporal } from '@temporalio/proto';
import { NAMESPACE, TASK_QUEUE } from './worker-settings.js';

type WorkflowExecution = temporal.api.common.v1.IWorkflowExecution;

const { TaskQueueKind, WorkflowTaskFailedCause, QueryResultType } = proto.temporal.api.enums.v1;

/** Real ms for which one question for tasks may stay open. */
const POLL_MS = 60_000;

/**
 * Gives the workflow tasks of a worker that is gone back to the others. A real server does so after ten seconds, by
 * itself; the test server leaves a task for ever on the queue of the worker that had the workflow in its memory.
 * Goes on until the signal, for a workflow may sleep for days before its next task.
 */
export async function returnOrphanedTasks(
  connection: Connection,
  queue: string,
  signal: AbortSignal,
): Promise<void> {
  const { workflowService } = connection;
  const taskQueue = { name: queue, kind: TaskQueueKind.TASK_QUEUE_KIND_STICKY, normalName: TASK_QUEUE };
  const common = { namespace: NAMESPACE, identity: 'undertaker' };
  while (!signal.aborted) {
    try {
      const task = await pollUntil(signal, (end) =>
        connection.withAbortSignal(end, () =>
          connection.withDeadline(Date.now() + POLL_MS, () =>
            workflowService.pollWorkflowTaskQueue({ ...common, taskQueue }),
          ),
        ),
      );
      const { taskToken } = task;
      if (taskToken === undefined || taskToken === null || taskToken.length === 0) continue;
      if (task.query) {
        await workflowService.respondQueryTaskCompleted({
          ...common,
          taskToken,
          completedType: QueryResultType.QUERY_RESULT_TYPE_FAILED,
          errorMessage: 'the worker is gone',
        });
        await awaken(workflowService, task.workflowExecution);
      } else {
        await workflowService.respondWorkflowTaskFailed({
          ...common,
          taskToken,
          cause: WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
        });
      }
    } catch {
      // The time to wait was over, or the task was: the next question follows.
    }
  }
}

/**
 * Has a workflow go to another worker. One that waits for nothing but messages, as a payment under review may, would
 * never have a task again, and queries alone don't move it. The signal means nothing to it.
 */
async function awaken(
  workflowService: Connection['workflowService'],
  workflowExecution: WorkflowExecution | null | undefined,
): Promise<void> {
  if (!workflowExecution) return;
  await workflowService.signalWorkflowExecution({
    namespace: NAMESPACE,
    workflowExecution,
    signalName: 'awaken',
    requestId: randomUUID(),
  });
}

/** Each call gets a signal of its own, as the client never lets go of one. */
async function pollUntil<Task>(
  signal: AbortSignal,
  poll: (end: AbortSignal) => Promise<Task>,
): Promise<Task> {
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await poll(end.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
