import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

/**
 * Keeps a query from changing the payment that it asks. The query may come to a worker with what has happened since the last
 * workflow task: a timer that is over, a signal. The SDK gives that to the workflow, at the time of the task before, and throws away
 * the commands that come of it; when the task itself comes, nothing is left to do in it, and no replay would come to the same
 * history. So the workflow takes nothing new in a query: the query fails, the worker forgets the workflow, and reads its history
 * anew for the task (docs/decisions/0017).
 */
class QueryGuard implements WorkflowInternalsInterceptor {
  /** The last workflow task: when a worker took it, and the length of the history by then. */
  #task = { time: '', events: 0 };

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { timestamp, historyLength, isReplaying } = input.activation;
    const task = { time: `${timestamp?.seconds}.${timestamp?.nanos}`, events: historyLength ?? 0 };
    // Each task has a time of its own. Within it, the history that the workflow sees doesn't grow.
    const isAhead = task.time === this.#task.time && task.events > this.#task.events && isReplaying !== true;
    if (isAhead) throw new Error(AHEAD);
    this.#task = task;
    next(input);
  }
}

const AHEAD =
  'a query came with news of the payment, for which a workflow task is waiting: ask again after it';

export const interceptors = (): WorkflowInterceptors => ({ internals: [new QueryGuard()] });
