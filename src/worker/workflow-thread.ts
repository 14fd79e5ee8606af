/*
 * A thread that runs workflows: the SDK's own program without two of its precautions, which no option turns off. They
 * take a paid link's workflow from 1.5 to 5.5 ms of CPU time (docs/decisions/0030). `workflow-threads.ts` starts it.
 */
import { Script } from 'node:vm';
import { BaseVMWorkflow, globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

// A stack trace of every promise, for the Web UI's "Call Stack" tab. Stack traces of errors stay.
Object.assign(globalHandlers, { setPromiseHook: () => undefined });

/** Longest that a workflow may compute without waiting, in ms: the SDK allows each of its calls as much. */
const ACTIVATION_LIMIT_MS = 5_000;

// The SDK limits each call into a workflow, some four an activation, and each limit takes a thread. Here the activation
// has one, since all of it happens before its first wait.
const limited = new Script('runActivation()');
const { activate } = BaseVMWorkflow.prototype;
BaseVMWorkflow.prototype.activate = function (activation): ReturnType<typeof activate> {
  Object.assign(globalThis, { runActivation: () => activate.call(this, activation) });
  try {
    return limited.runInThisContext({ timeout: ACTIVATION_LIMIT_MS });
  } catch (error) {
    // The workflow task fails, and Temporal tries it again. Other workflows go on.
    const message = error instanceof Error ? error.message : String(error);
    return Promise.resolve({ runId: this.runId, failed: { failure: { message } } });
  }
};

await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
