/*
 * A thread that runs workflows: the SDK's own program, but for one thing that costs more CPU time than the workflows, and that no
 * option of the SDK turns off. `workflow-threads.ts` starts it.
 */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

// The SDK takes a stack trace of every promise, for the Web UI's "Call Stack" tab. Stack traces of errors stay as they are.
globalHandlers.install();
const { prepareStackTrace } = Error;
globalHandlers.uninstall();
Error.prepareStackTrace = prepareStackTrace;
globalHandlers.installed = true;
globalHandlers.promiseHookInstalled = false;

await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
