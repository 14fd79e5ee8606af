import { extname } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { type Logger, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** The thread's program: compiled, or TypeScript, as this file is. */
const PROGRAM = new URL(`./workflow-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * The SDK's worker with a thread of our own, which runs workflows for a third of the CPU time. In exchange, nobody can
 * see where a workflow's code waits: the "Call Stack" tab of Temporal's Web UI says that it isn't enabled.
 */
export class LeanWorker extends Worker {
  protected static override async createWorkflowCreator(
    workflowBundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    // With TEMPORAL_DEBUG, workflows run in the main thread, where debuggers find them.
    if (options.debugMode) return await Worker.createWorkflowCreator(workflowBundle, options, logger);
    const thread = new WorkflowThread(new Thread(PROGRAM), logger);
    const start = {
      type: 'init',
      workflowBundle,
      // The thread limits a workflow's computing as a whole, and not each of the SDK's calls.
      isolateExecutionTimeoutMs: undefined,
      reuseV8Context: true,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    } as const;
    // @ts-expect-error: the SDK declares its time limit as a number, but hands it to node:vm, which also accepts none.
    await thread.send(start);
    return new ThreadedVMWorkflowCreator([thread]);
  }
}

class WorkflowThread extends WorkerThreadClient {
  /**
   * Ends the thread. The SDK first asks its sandbox, which refuses when the last call went into a workflow that the
   * worker hadn't yet dropped from its cache. The rest of the worker has ended by then, so the thread is ended all the
   * same.
   */
  override async destroy(): Promise<void> {
    try {
      await super.destroy();
    } catch (error) {
      this.logger.debug('a workflow thread did not end by itself, and is ended', { error });
      await this.workerThread.terminate();
    }
  }
}
