import { CancellationScope, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Timers end at multiples of this, in ms. */
const GRID_MS = 1_000;
/** More than a workflow task ever takes, in real ms. */
const SOON_MS = 60_000;

/**
 * Timers that the time-skipping server can bear. Runs inside the workflows.
 *
 * They end on whole seconds, up to one late: those of many payments are then due together, and the workers busy with
 * all of them. The server moves time on to one timer after the other, and waits at each for all that it brings about.
 *
 * A timer that is about to end can't be cancelled: this server breaks down for good when the task that is open as a
 * timer fires cancels it. A real server copes with that.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      async startTimer(input, next) {
        const due = Math.ceil((Date.now() + input.durationMs) / GRID_MS) * GRID_MS;
        const { cancelRequested } = CancellationScope.current();
        await CancellationScope.nonCancellable(async () => {
          const timer = new CancellationScope();
          const cancelled = cancelRequested.catch((error: unknown) => {
            if (due - Date.now() > SOON_MS) timer.cancel();
            throw error;
          });
          const ended = timer.run(() => next({ ...input, durationMs: due - Date.now() }));
          await Promise.race([ended, cancelled]);
        });
      },
    },
  ],
});
