import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { sendIfNotReset } from '../../src/activities/reset-check.js';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { transId } from '../support/orders.js';
import { handOverThenSend } from './hand-over-workflow.js';

const require = createRequire(import.meta.url);
const DAY_MS = 24 * 60 * 60 * 1_000;
const taskQueue = 'reset';

/** A run is deleted once the server has noted that its last tasks are done; by default it notes that twice a minute. */
const QUICK_DELETION = {
  'history.transferProcessorUpdateAckInterval': '"500ms"',
  'history.visibilityProcessorUpdateAckInterval': '"500ms"',
};
const accepted: InitiationOutcome = { kind: 'accepted', transId: transId('T1') };

describe('a request that moves money', () => {
  let server: DevServer;
  let connection: NativeConnection;
  let client: Client;
  let worker: Worker;
  let running: Promise<void>;
  /** The second run of a workflow of two, once Temporal no longer has the first. */
  let remaining: Promise<string>;
  /** The runs that have sent. */
  const sentBy: (string | undefined)[] = [];

  const send = () =>
    sendIfNotReset(async () => {
      sentBy.push(Context.current().info.workflowExecution?.runId);
      return accepted;
    });

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
    server = await startDevServer({ ui: false, report: () => undefined, dynamicConfig: QUICK_DELETION });
    connection = await NativeConnection.connect({ address: server.address });
    client = new Client({ connection });
    worker = await Worker.create({
      connection,
      taskQueue,
      activities: { send },
      workflowsPath: require.resolve('./hand-over-workflow.ts'),
      bundlerOptions: {
        webpackConfigHook: (config) => ({
          ...config,
          resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
        }),
      },
    });
    running = worker.run();
    const { runId } = await begin('forgotten', 1);
    // The server takes seconds for it, in which the other facts can be seen.
    remaining = forget('forgotten', runId);
  });

  afterAll(async () => {
    worker.shutdown();
    await running;
    await connection.close();
    await server.stop();
  });

  beforeEach(() => {
    sentBy.length = 0;
  });

  /** Runs the workflow to its end, and returns its first run and its outcome. */
  async function begin(workflowId: string, handOvers: number) {
    const options = { workflowId, taskQueue, args: [handOvers] as [number] };
    const handle = await client.workflow.start(handOverThenSend, options);
    return { runId: handle.firstExecutionRunId, outcome: await handle.result() };
  }

  /** Resets a run to its first workflow task, as the Web UI does, and returns the outcome. */
  async function reset(workflowId: string, runId: string): Promise<InitiationOutcome> {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const tasks = events?.filter(({ workflowTaskCompletedEventAttributes: task }) => task) ?? [];
    const { runId: resetTo } = await client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      reason: 'a mistake in the Web UI',
      requestId: `reset of ${workflowId}`,
      workflowTaskFinishEventId: tasks.at(0)?.eventId ?? null,
    });
    const handle = client.workflow.getHandle<typeof handOverThenSend>(workflowId, resetTo);
    return await handle.result();
  }

  /** The check as an activity of this run would make it. */
  async function sendFrom(workflowId: string, runId: string, scheduledTimestampMs = Date.now()) {
    const info = {
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      scheduledTimestampMs,
      currentAttemptScheduledTimestampMs: scheduledTimestampMs,
    };
    const logger = new DefaultLogger('ERROR');
    return await new MockActivityEnvironment(info, { client, logger }).run(send);
  }

  /** Deletes a run, and returns the latest of the workflow when it is gone. */
  async function forget(workflowId: string, runId: string): Promise<string> {
    const workflowExecution = { workflowId, runId };
    await client.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution });
    const isThere = () =>
      client.workflow
        .getHandle(workflowId, runId)
        .fetchHistory()
        .then(
          () => true,
          () => false,
        );
    while (await isThere()) await pause(200);
    return await latestRun(workflowId);
  }

  async function latestRun(workflowId: string): Promise<string> {
    return (await client.workflow.getHandle(workflowId).describe()).runId;
  }

  it('is not sent by a run that began before Temporal was restored, but by one that began after that', async () => {
    const { runId } = await begin('of a backup', 0);
    const sends = (restoredAt: number) =>
      new MockActivityEnvironment(
        { namespace: 'default', workflowExecution: { workflowId: 'of a backup', runId } },
        { client, logger: new DefaultLogger('ERROR') },
      ).run(() => sendIfNotReset(async () => accepted, restoredAt));
    const now = Date.now();
    expect(await sends(now + 60_000)).toMatchObject({ kind: 'ambiguous', isReset: true });
    expect(await sends(now - 60_000)).toEqual(accepted);
  });

  it('is sent by a run that nobody has reset, the first or one that was handed over to', async () => {
    const first = await begin('untouched', 0);
    expect(first.outcome).toEqual(accepted);
    expect(sentBy).toEqual([first.runId]);
    expect((await begin('handed-over', 3)).outcome).toEqual(accepted);
    expect(sentBy).toEqual([first.runId, await latestRun('handed-over')]);
  });

  it('is not sent again by a run that was reset to before it, and is ambiguous', async () => {
    const { runId } = await begin('reset', 0);
    expect(await reset('reset', runId)).toEqual({
      kind: 'ambiguous',
      reason: 'the workflow was reset, and may have sent it before',
      isReset: true,
    });
    expect(sentBy).toEqual([runId]);
  });

  it.each([1, 3])('is not sent again when the run that was reset has handed over %d times since', async (handOvers) => {
    const workflowId = `reset-then-handed-over-${handOvers}`;
    const { runId, outcome } = await begin(workflowId, handOvers);
    expect(outcome).toEqual(accepted);
    expect(await reset(workflowId, runId)).toMatchObject({ kind: 'ambiguous' });
    expect(sentBy).toHaveLength(1);
  });

  describe('from a run that continues one which Temporal no longer has', () => {
    it('is not sent while a first request may still be due, for then somebody deleted that run', async () => {
      const runId = await remaining;
      sentBy.length = 0;
      expect(await sendFrom('forgotten', runId)).toEqual({
        kind: 'ambiguous',
        reason: "an earlier run of the workflow was deleted, so it can't be ruled out that it was sent before",
        isReset: true,
      });
      expect(sentBy).toEqual([]);
    });

    it('is sent once the payment is so old that only a decision of an operator sends it', async () => {
      const runId = await remaining;
      sentBy.length = 0;
      expect(await sendFrom('forgotten', runId, Date.now() + 8 * DAY_MS)).toEqual(accepted);
      expect(sentBy).toEqual([runId]);
    });
  });

  it('is not sent, and unchecked, when Temporal does not answer within seconds', async () => {
    const { runId } = await begin('unanswered', 0);
    sentBy.length = 0;
    process.kill(server.pid, 'SIGSTOP');
    // A busy machine takes a moment to stop each of its threads.
    await pause(500);
    const begun = performance.now();
    const outcome = await sendFrom('unanswered', runId).finally(() => process.kill(server.pid, 'SIGCONT'));
    expect(outcome).toEqual({
      kind: 'unchecked',
      reason: 'nothing was sent: Temporal did not confirm in time that the workflow had not been reset',
    });
    expect(performance.now() - begun).toBeLessThan(60_000);
    expect(sentBy).toEqual([]);
    // The next attempt, once Temporal answers again, is checked and sent.
    expect(await sendFrom('unanswered', runId)).toEqual(accepted);
  });
});

describe('a request that moves money, whose activity a worker may have had before', () => {
  it.each([
    ['somebody has allowed it another attempt', { attempt: 2 }],
    [
      'somebody has reset it, and its attempts count anew',
      { attempt: 1, currentAttemptScheduledTimestampMs: 12_006, scheduledTimestampMs: 0 },
    ],
  ])('is not sent again when %s', async (_, info) => {
    let sent = 0;
    const send = async () => {
      sent += 1;
      return accepted;
    };
    const outcome = await new MockActivityEnvironment(info).run(() => sendIfNotReset(send));
    expect(outcome).toMatchObject({ kind: 'ambiguous', isReset: true });
    expect(sent).toBe(0);
  });
});
