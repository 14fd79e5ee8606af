import { upsertMemo, type WorkflowInterceptors } from '@temporalio/workflow';

/** A mistake: a change to the workflows that adds a command for payments under way as well. */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        upsertMemo({ version: 'unguarded' });
        return await next(input);
      },
    },
  ],
});
