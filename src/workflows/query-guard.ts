import type { ActivateInput, Next, WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';

/**
 * Keeps a query from changing the payment that it asks. The query may come to a worker with what has happened since the
 * last workflow task: a timer that is over, a signal. The SDK gives that to the workflow, at the time of the task
 * before, and throws away the commands that come of it; when the task itself comes, nothing is left to do in it, and no
 * replay would come to the same history. So such a query fails: the worker forgets the workflow then, and reads its
 * history anew for the task (docs/decisions/0017). The Web UI sends one for the details that it shows.
 */
class QueryGuard implements WorkflowInternalsInterceptor {
  /** The last workflow task: when a worker took it, and the length of the history by then. */
  #task = { time: '', events: 0 };
  #isAhead = false;

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { timestamp, historyLength, isReplaying, jobs } = input.activation;
    const queries = (jobs ?? []).map(({ queryWorkflow }) => queryWorkflow).filter((query) => query != null);
    if (queries.length > 0) {
      if (this.#isAhead) throw new Error(AHEAD);
    } else {
      const task = { time: `${timestamp?.seconds}.${timestamp?.nanos}`, events: historyLength ?? 0 };
      // Each task has a time of its own. Within it, the history that the workflow sees doesn't grow.
      if (task.time !== this.#task.time) this.#isAhead = false;
      else if (task.events > this.#task.events && isReplaying !== true) this.#isAhead = true;
      this.#task = task;
    }
    next(input);
  }
}

const AHEAD = 'the query came with news of the payment, for which a workflow task is waiting: ask again after it';

export const interceptors = (): WorkflowInterceptors => ({ internals: [new QueryGuard()] });
