import { CancellationScope, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

/**
 * Lets every timer run out, also when nobody waits for it any more. The time-skipping server breaks down for good when a
 * timer that is just firing is cancelled; a real one takes that as it comes. Runs inside the workflows.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      async startTimer(input, next) {
        const cancelled = CancellationScope.current().cancelRequested;
        await Promise.race([CancellationScope.nonCancellable(() => next(input)), cancelled]);
      },
    },
  ],
});
