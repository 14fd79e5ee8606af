import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { TIME_ZONE } from '../payments/words/time.js';
import { MAX_STATEMENT_RUN, STATEMENT_SCHEDULE_ID, STATEMENT_WORKFLOW_TYPE } from '../workflows/messages.js';

/** A statement that was due while Temporal was away is made when it is back, if that is within this time. */
const CATCH_UP = '7 days';

/**
 * Has Temporal start the statement of each day when it has ended. It may be called by every worker at its start: there
 * is one schedule, and one that an operator has paused stays paused.
 */
export async function scheduleStatements(client: Client, taskQueue: string): Promise<void> {
  const { spec, action, policies } = scheduleOf(taskQueue);
  try {
    await client.schedule.create({ scheduleId: STATEMENT_SCHEDULE_ID, spec, action, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
    await handle.update(({ state }) => ({ spec, action, policies, state }));
  }
}

function scheduleOf(taskQueue: string) {
  return {
    // Midnight, when the balances are asked for. The statement itself is made some hours later.
    spec: { calendars: [{ hour: 0, minute: 0, second: 0 }], timezone: TIME_ZONE },
    action: {
      type: 'startWorkflow',
      workflowType: STATEMENT_WORKFLOW_TYPE,
      workflowId: 'daily-statement',
      taskQueue,
      args: [{ v: 1 }],
      workflowRunTimeout: MAX_STATEMENT_RUN,
      staticSummary: 'The statement of a day',
    },
    policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: CATCH_UP },
  } as const satisfies Pick<ScheduleOptions, 'spec' | 'action' | 'policies'>;
}
