import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import {
  openTasks,
  PlannedTimeline,
  SimulatedTime,
  StalledError,
  unlockingTime,
} from '../../../lab/world/simulated-time.js';
import { manualClock } from '../../../sandbox/clock.js';
import { startTimeSkippingEnvironment } from '../../../stack/temporal/time-skipping.js';

const ORIGIN = 1_000_003;
const TICK = 600;

function timelineWith(plan: (timeline: PlannedTimeline, happen: (what: string) => () => void) => void) {
  const timeline = new PlannedTimeline(ORIGIN, TICK);
  const happened: string[] = [];
  plan(timeline, (what) => () => void happened.push(what));
  const upTo = (time: number) => {
    for (const run of timeline.takeDue(time)) void run();
    return happened;
  };
  return { timeline, upTo };
}

describe('the timeline', () => {
  it('puts things off to the next tick, together', () => {
    const { timeline, upTo } = timelineWith((plan, happen) => {
      plan.at(ORIGIN + 1, happen('first'));
      plan.at(ORIGIN + TICK, happen('second'));
      plan.at(ORIGIN + TICK + 1, happen('later'));
    });
    expect(timeline.next()).toBe(ORIGIN + TICK);
    expect(upTo(ORIGIN + TICK - 1)).toEqual([]);
    expect(upTo(ORIGIN + TICK)).toEqual(['first', 'second']);
    expect(timeline.next()).toBe(ORIGIN + 2 * TICK);
  });

  it('keeps a moment that is asked for exactly', () => {
    const { timeline, upTo } = timelineWith((plan, happen) => {
      plan.at(ORIGIN + 5, happen('some time'));
      plan.exactly(ORIGIN + 7, happen('just then'));
    });
    expect(timeline.next()).toBe(ORIGIN + 7);
    expect(upTo(ORIGIN + 7)).toEqual(['just then']);
    expect(upTo(ORIGIN + TICK)).toEqual(['just then', 'some time']);
    expect(timeline.next()).toBeUndefined();
  });
});

describe('simulated time', () => {
  /** Real ms that a sleep may take while nobody asks for the time. */
  const STALL_MS = 100;
  const timeOf = (sleep: () => Promise<void>) =>
    new SimulatedTime({ currentTimeMs: async () => ORIGIN, sleep }, manualClock(ORIGIN), STALL_MS);
  const never = () => new Promise<void>(() => undefined);

  it('stands still when nobody asks for it any more', async () => {
    await expect(timeOf(never).sleepUntil(ORIGIN + 1)).rejects.toThrow(StalledError);
  });

  it('does not as long as somebody asks, however slow the machine, but not for ever', async () => {
    let sleeps = 0;
    const busy = timeOf(async () => void (await pause(3 * STALL_MS)));
    const stuck = timeOf(async () => {
      sleeps += 1;
      await never();
    });
    const asking = setInterval(() => void Promise.all([busy.now(), stuck.now()]), STALL_MS / 10);
    try {
      await expect(busy.sleepUntil(ORIGIN + 1)).resolves.toBeUndefined();
      await expect(stuck.sleepUntil(ORIGIN + 1)).rejects.toThrow(StalledError);
      expect(sleeps).toBe(1);
    } finally {
      clearInterval(asking);
    }
  });
});

describe('the time of the test server', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  let env: TestWorkflowEnvironment;
  let client: Client;
  beforeAll(async () => {
    env = await startTimeSkippingEnvironment({ report: () => undefined });
    const { connection } = env;
    client = new Client({ connection, interceptors: { workflow: [unlockingTime(connection)] } });
  });
  afterAll(() => env.teardown());

  const start = async (workflowId: string) =>
    await client.workflow.start('waiting', { taskQueue: workflowId, workflowId });
  const poll = async (name: string) =>
    await env.connection.workflowService.pollWorkflowTaskQueue({
      namespace: 'default',
      taskQueue: { name },
    });

  it.each([
    ['has yet to be taken by a worker', 'workflow task since event 2', async () => undefined],
    ['is with a worker', 'workflow task since event 2', async (id: string) => void (await poll(id))],
    [
      'has had an activity begin',
      'nothing since event 5',
      async (id: string) => {
        const { taskToken } = await poll(id);
        await env.connection.workflowService.respondWorkflowTaskCompleted({
          namespace: 'default',
          taskToken,
          commands: [
            {
              commandType: 1,
              scheduleActivityTaskCommandAttributes: {
                activityId: '1',
                activityType: { name: 'nothing' },
                taskQueue: { name: id },
                scheduleToCloseTimeout: proto.google.protobuf.Duration.fromObject({ seconds: 60 }),
              },
            },
          ],
        });
      },
    ],
  ])('goes on when a workflow is terminated whose task %s', async (what, open, prepare) => {
    const handle = await start(what);
    await prepare(what);
    expect(openTasks((await handle.fetchHistory()).events ?? [])).toEqual([open]);
    await handle.terminate();
    const before = await env.currentTimeMs();
    await env.sleep(DAY_MS);
    expect(await env.currentTimeMs()).toBeGreaterThanOrEqual(before + DAY_MS);
  });

  it('goes on when one is terminated that waits', async () => {
    const handle = await start('waits');
    const { taskToken } = await poll('waits');
    await env.connection.workflowService.respondWorkflowTaskCompleted({ namespace: 'default', taskToken });
    expect(openTasks((await handle.fetchHistory()).events ?? [])).toEqual([]);
    await handle.terminate();
    await env.sleep(DAY_MS);
  });
});
