import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { LeanWorker } from '../../src/worker/workflow-threads.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { closeServers } from '../support/local-servers.js';
import { createLonelyWorker } from '../support/payment-worker.js';
import { testEncryption } from '../support/test-encryption.js';
import { computeForever, fail, finish, waitTwice } from '../support/thread-workflows.js';

const require = createRequire(import.meta.url);

let server: DevServer;
let connection: NativeConnection;
let client: Client;
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), shutdownSignals: [] });
  server = await startDevServer({ ui: false, report: () => undefined });
  connection = await NativeConnection.connect({ address: server.address });
  client = new Client({ connection });
  const workflowsPath = require.resolve('../support/thread-workflows.ts');
  const logger = new DefaultLogger('ERROR');
  workflowBundle = await bundleWorkflowCode({ workflowsPath, preloadModules: [workflowsPath], logger });
});

afterAll(async () => {
  await closeServers();
  await connection?.close();
  await server?.stop();
});

/** Does something while a worker of this kind runs. */
async function withWorker<T>(kind: typeof Worker, taskQueue: string, task: () => Promise<T>): Promise<T> {
  const worker = await kind.create({ connection, taskQueue, workflowBundle });
  return await worker.runUntil(task());
}

/** Returns the call stack of a waiting workflow that Temporal's Web UI would show, or the reason why it shows none. */
async function callStackOf(asking: Client, taskQueue: string): Promise<string> {
  const options = { taskQueue, workflowId: taskQueue, args: [false] as [boolean] };
  const handle = await asking.workflow.start(waitTwice, options);
  const stack = await handle.query<string>('__stack_trace').catch((error: Error) => error.message);
  await handle.signal(finish);
  await handle.result();
  return stack;
}

describe('a thread that runs workflows', () => {
  it("keeps no call stacks, and says so; the SDK's own does", async () => {
    const ask = (kind: typeof Worker, taskQueue: string) =>
      withWorker(kind, taskQueue, () => callStackOf(client, taskQueue));
    expect(await ask(LeanWorker, 'lean')).toMatch(/stack traces are not enabled/);
    expect(await ask(Worker, 'usual')).toMatch(/at .*thread-workflows\.ts:\d+/);
  });

  it('is what payments run in, unless call stacks are asked for', async () => {
    const encrypted = new Client({ connection, dataConverter: dataConverterOf(testEncryption) });
    const ask = async (taskQueue: string, given: { readonly callStacks?: boolean } = {}) => {
      const worker = await createLonelyWorker({ connection, taskQueue, workflowBundle, ...given });
      const running = worker.run();
      try {
        return await Promise.race([callStackOf(encrypted, taskQueue), running]);
      } finally {
        worker.shutdown();
        await running;
      }
    };
    expect(await ask('payments-by-default')).toMatch(/stack traces are not enabled/);
    expect(await ask('payments-with-call-stacks', { callStacks: true })).toMatch(/at .*thread-workflows\.ts:\d+/);
  });

  it('ends though the last call went into a workflow that was never dropped', async () => {
    const taskQueue = 'not-dropped';
    class Watched extends LeanWorker {
      protected static override async createWorkflowCreator(
        ...given: Parameters<(typeof LeanWorker)['createWorkflowCreator']>
      ): Promise<WorkflowCreator> {
        const creator = await LeanWorker.createWorkflowCreator(...given);
        const { createWorkflow } = creator;
        creator.createWorkflow = async (options) => {
          const workflow = await createWorkflow.call(creator, options);
          workflow.dispose = async () => undefined;
          return workflow;
        };
        return creator;
      }
    }
    await withWorker(Watched, taskQueue, async () => {
      const options = { taskQueue, workflowId: taskQueue, args: [false] as [boolean] };
      const handle = await client.workflow.start(waitTwice, options);
      await handle.signal(finish);
      await handle.result();
    });
  });

  it('keeps the scopes of workflows apart that it runs at the same time', async () => {
    const taskQueue = 'scopes';
    const cancels = [true, false, true, false];
    const results = await withWorker(LeanWorker, taskQueue, async () => {
      const handles = await Promise.all(
        cancels.map((cancel, index) =>
          client.workflow.start(waitTwice, { taskQueue, workflowId: `scopes-${index}`, args: [cancel] }),
        ),
      );
      await Promise.all(handles.map((handle) => handle.signal(finish)));
      return await Promise.all(handles.map((handle) => handle.result()));
    });
    const kept = ['first kept its scope', 'second kept its scope'];
    const cancelled = [...kept, 'first cancelled'];
    expect(results.map((seen) => seen.sort())).toEqual(
      cancels.map((cancel) => (cancel ? [...cancelled].sort() : kept)),
    );
  });

  it('fails the task of a workflow that computes for 5 seconds, and runs the others', async () => {
    const taskQueue = 'busy';
    const [failure, other] = await withWorker(LeanWorker, taskQueue, async () => {
      const stuck = await client.workflow.start(computeForever, { taskQueue, workflowId: 'stuck' });
      const failure = await taskFailure('stuck');
      const options = { taskQueue, workflowId: 'well', args: [false] as [boolean] };
      const well = await client.workflow.start(waitTwice, options);
      await well.signal(finish);
      const other = await well.result();
      await stuck.terminate();
      return [failure, other] as const;
    });
    expect(failure?.message).toMatch(/timed out after 5000ms/);
    expect(other).toHaveLength(2);
  });

  it("shows in a failure's stack trace where the source went wrong", async () => {
    const taskQueue = 'failing';
    const failure = await withWorker(LeanWorker, taskQueue, async () => {
      const failing = await client.workflow.start(fail, { taskQueue, workflowId: 'failing' });
      const failure = await taskFailure('failing');
      await failing.terminate();
      return failure;
    });
    expect(failure?.message).toBe('a mistake in a workflow');
    expect(failure?.stackTrace).toMatch(/at fail \(.*thread-workflows\.ts:\d+:\d+\)/);
  });
});

/** Returns the failure of a task of the workflow, as soon as one has failed. */
async function taskFailure(workflowId: string) {
  for (;;) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const failed = events?.find(({ workflowTaskFailedEventAttributes: attributes }) => attributes);
    if (failed) return failed.workflowTaskFailedEventAttributes?.failure;
    await pause(100);
  }
}
