import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { activityInfo, Context } from '@temporalio/activity';
import type { WorkflowHandle, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { scheduleStatements } from '../../src/statements/schedule.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import {
  STATEMENT_SCHEDULE_ID,
  STATEMENT_WORKFLOW_TYPE,
  type StatementSteps,
  statementsQueue,
} from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { PaymentWorld } from '../support/payment-world.js';
import { type TemporalCommand, temporalCommands } from '../support/temporal-commands.js';
import { testEncryption } from '../support/test-encryption.js';

let world: PaymentWorld;
let temporal: TemporalCommand;
beforeAll(async () => {
  world = await PaymentWorld.start();
  temporal = await temporalCommands(world.env.address);
});
afterAll(() => world.stop());

describe('the schedule of statements', () => {
  const handle = () => world.client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
  const schedule = (...command: readonly string[]) =>
    temporal('schedule', ...command, '--schedule-id', STATEMENT_SCHEDULE_ID);
  const atMidnight = {
    calendars: [expect.objectContaining({ hour: [expect.objectContaining({ start: 0 })] })],
  };

  it('is as it was when a worker has started again, but stays paused, after every command', async () => {
    const startWorker = () => scheduleStatements(world.client, 'payments');
    await startWorker();
    await schedule('toggle', '--pause', '--reason', 'tried');
    await startWorker();
    expect((await handle().describe()).state.paused).toBe(true);
    await schedule('toggle', '--unpause', '--reason', 'tried');

    await schedule('update', '--interval', '1h', '--type', 'nothing', '--task-queue', 'nobodys', '-w', 'nothing');
    await startWorker();
    const { spec, action } = await handle().describe();
    expect({ spec, action }).toMatchObject({ spec: atMidnight, action: { taskQueue: 'payments' } });

    await schedule('delete');
    await startWorker();
    expect((await handle().describe()).spec).toMatchObject(atMidnight);
  });

  it('makes one more statement for each time that it is triggered, or that is backfilled', async () => {
    await scheduleStatements(world.client, 'payments');
    await schedule('trigger');
    const [from, to] = ['2026-11-20T22:59:00Z', '2026-11-20T23:01:00Z'];
    await schedule('backfill', '--start-time', from, '--end-time', to, '--overlap-policy', 'AllowAll');
    const { info } = await eventually(
      () => handle().describe(),
      (described) => described.info.recentActions.length >= 2,
    );
    expect(info.recentActions).toHaveLength(2);
    await handle().delete();
  });
});

describe('a statement that is being made', () => {
  const day = '2026-11-01';
  const done = () => Promise.resolve();
  /** The statements whose payments are being compared, each with what lets that end. */
  const comparing = new Map<string, () => void>();
  let maker: Worker;
  let making: Promise<void>;

  beforeAll(async () => {
    const activities: StatementSteps = {
      ...{ readBalances: done, readPayments: done, searchDay: done, lookUpPayments: done, followUp: done },
      async comparePayments() {
        const { workflowExecution } = activityInfo();
        await Promise.race([
          new Promise<void>((resolve) => comparing.set(workflowExecution?.workflowId ?? '', resolve)),
          Context.current().cancelled,
        ]);
      },
      publish: async () => ({ date: day, version: 1, complete: true, payments: 0, differences: 0 }),
    };
    const { nativeConnection: connection } = world.env;
    const dataConverter = dataConverterOf(testEncryption);
    const taskQueue = statementsQueue('payments');
    maker = await Worker.create({ connection, taskQueue, activities, dataConverter });
    making = maker.run();
  });
  afterAll(async () => {
    maker.shutdown();
    await making;
  });

  /** Begins to make it. @returns what comes of it */
  async function make(): Promise<WorkflowHandle> {
    const options = { workflowId: `statement-${randomUUID()}`, taskQueue: 'payments', args: [{ v: 1, day }] };
    const handle = await world.client.workflow.start(STATEMENT_WORKFLOW_TYPE, options);
    await eventually(
      async () => comparing.has(options.workflowId),
      (is) => is,
    );
    return handle;
  }

  it.each([
    ['stopped', ['terminate', '--reason', 'tried'], 'TERMINATED'],
    ['cancelled', ['cancel'], 'CANCELLED'],
    ['reset', ['reset', '--type', 'FirstWorkflowTask', '--reason', 'tried'], 'TERMINATED'],
  ] as const)('can be made again when it was %s', async (_, command, status) => {
    const { workflowId, firstExecutionRunId } = (await make()) as WorkflowHandleWithFirstExecutionRunId;
    expect(await temporal('workflow', ...command, '-w', workflowId)).toMatchObject({ isDone: true });
    const first = world.client.workflow.getHandle(workflowId, firstExecutionRunId);
    await eventually(
      () => first.describe(),
      (described) => described.status.name === status,
    );
    const again = await make();
    comparing.get(again.workflowId)?.();
    expect(await again.result()).toMatchObject({ date: day });
  });

  it('is not made when somebody fails the step that compares, and can be made again', async () => {
    const failed = await make();
    const { raw } = await failed.describe();
    const [step] = raw.pendingActivities ?? [];
    const which = ['--activity-id', String(step?.activityId), '-w', failed.workflowId];
    expect(await temporal('activity', 'fail', ...which, '--reason', 'tried')).toMatchObject({ isDone: true });
    await expect(failed.result()).rejects.toThrow();
    const again = await make();
    comparing.get(again.workflowId)?.();
    expect(await again.result()).toMatchObject({ date: day });
  });
});
