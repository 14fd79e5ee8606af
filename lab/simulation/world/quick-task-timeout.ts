import type { WorkflowClientInterceptor } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto from '@temporalio/proto';

/** Real seconds after which a task of a worker that is gone goes to another; ten unless set. */
const workflowTaskTimeout = proto.google.protobuf.Duration.fromObject({ seconds: 3 });

/** Has a dead worker's tasks time out soon: simulated time stands until they do. */
export const quickTaskTimeout: WorkflowClientInterceptor = {
  startUpdateWithStart: (input, next) =>
    next({ ...input, workflowStartOptions: { ...input.workflowStartOptions, workflowTaskTimeout } }),
  signalWithStart: (input, next) => next({ ...input, options: { ...input.options, workflowTaskTimeout } }),
};
