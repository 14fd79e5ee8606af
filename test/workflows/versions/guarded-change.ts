import { patched, upsertMemo, type WorkflowInterceptors } from '@temporalio/workflow';

/**
 * A change to the workflows that adds a command for payments which begin with it, and leaves the others as they are.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        if (patched('notes-its-version')) upsertMemo({ version: 'guarded' });
        return await next(input);
      },
    },
  ],
});
