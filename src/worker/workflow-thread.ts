/*
 * A thread that runs workflows: the SDK's own program, but for two things that cost more CPU time than the workflows,
 * and that no option of the SDK turns off. `workflow-threads.ts` starts it.
 */
import { Script } from 'node:vm';
import { BaseVMWorkflow, globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

// The SDK takes a stack trace of every promise, for the Web UI's "Call Stack" tab. Stack traces of errors stay as they
// are.
globalHandlers.install();
const { prepareStackTrace } = Error;
globalHandlers.uninstall();
Error.prepareStackTrace = prepareStackTrace;
globalHandlers.installed = true;
globalHandlers.promiseHookInstalled = false;

/** How long a workflow may compute without waiting for anything, in ms: what the SDK allows each of its calls. */
const ACTIVATION_LIMIT_MS = 5_000;

// The SDK gives each of its calls into a workflow, some four an activation, a time limit, which takes a thread each
// time. Here the whole activation has one: all of it happens before its first wait.
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
