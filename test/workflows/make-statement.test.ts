import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { dayAfter, dayOf, endOfDay, startOf } from '../../src/payments/words/time.js';
import {
  type MadeStatement,
  STATEMENT_WORKFLOW_TYPE,
  type StatementInput,
  type StatementRun,
  type StatementSteps,
  statementsQueue,
} from '../../src/workflows/messages.js';
import { startTimeSkippingEnvironment } from '../../stack/temporal/time-skipping.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { HOUR, MINUTE } from '../support/orders.js';
import { saveHistory } from './saved-histories.js';

const QUEUE = 'payments';

let env: TestWorkflowEnvironment;
let workers: Worker[];
let running: Promise<unknown>;
/** The steps that were taken, in order, and when. */
let taken: { readonly step: string; readonly at: number }[] = [];
/** What the steps were taken for. */
let runs: StatementRun[] = [];
/** Steps that fail for good. */
let failing: readonly string[] = [];

async function take(step: string, run?: StatementRun): Promise<void> {
  if (run !== undefined) runs.push(run);
  taken.push({ step, at: await env.currentTimeMs() });
  if (failing.includes(step)) throw ApplicationFailure.nonRetryable('no answer', 'NoAnswer');
}

const steps: StatementSteps = {
  readBalances: (day) => take(`balances ${day}`),
  readPayments: (run) => take(`payments ${run.day}`, run),
  searchDay: ({ day }, service) => take(`search ${service} ${day}`),
  lookUpPayments: (run) => take('look up', run),
  comparePayments: (run) => take('compare', run),
  followUp: (run) => take('follow up', run),
  async publish(run): Promise<MadeStatement> {
    await take('publish', run);
    return { date: run.day, version: 1, complete: true, payments: 0, differences: 0 };
  },
};

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  env = await startTimeSkippingEnvironment({ report: () => undefined, startLimitMs: 240_000 });
  const connection = env.nativeConnection;
  workers = [
    await Worker.create({
      connection,
      taskQueue: QUEUE,
      workflowBundle: workflowBundle(),
    }),
    await Worker.create({ connection, taskQueue: statementsQueue(QUEUE), activities: steps }),
  ];
  running = Promise.all(workers.map((worker) => worker.run()));
});
beforeEach(() => {
  taken = [];
  runs = [];
  failing = [];
});
afterAll(async () => {
  for (const worker of workers) worker.shutdown();
  await running;
  await env.teardown();
});

let started = 0;
async function make(input: StatementInput, scenario?: string): Promise<MadeStatement> {
  const handle = await env.client.workflow.start(STATEMENT_WORKFLOW_TYPE, {
    workflowId: `statement-${started++}`,
    taskQueue: QUEUE,
    args: [input],
  });
  const made = await handle.result();
  if (scenario !== undefined) await saveHistory(scenario, await handle.fetchHistory());
  return made;
}

const names = () => taken.map(({ step }) => step);
const at = (name: string) => taken.find(({ step }) => step === name)?.at ?? Number.NaN;

/** A minute after the next midnight in Douala. */
async function untilMidnight(): Promise<string> {
  const now = await env.currentTimeMs();
  await env.sleep(endOfDay(now) - now + MINUTE);
  return dayOf(await env.currentTimeMs());
}

describe('the workflow that makes a statement', () => {
  it('asks for the balances at midnight, and makes the statement of the day before when that has settled', async () => {
    const today = await untilMidnight();
    const day = dayAfter(today, -1);
    expect(await make({ v: 1 }, 'statement-of-the-night')).toMatchObject({ date: day });
    expect(names()).toEqual([
      `balances ${today}`,
      `payments ${day}`,
      `search collection ${day}`,
      `search payout ${day}`,
      'look up',
      'compare',
      'follow up',
      'publish',
    ]);
    expect(at(`balances ${today}`)).toBeLessThan(startOf(today) + 15 * MINUTE);
    expect(at(`payments ${day}`)).toBeGreaterThanOrEqual(startOf(today) + 3 * HOUR);
  });

  it('that somebody has asked for asks for no balance, and waits until the day is over', async () => {
    const today = dayOf(await env.currentTimeMs());
    expect(await make({ v: 1, day: today }, 'statement-on-demand')).toMatchObject({ date: today });
    expect(names()[0]).toBe(`payments ${today}`);
    expect(at(`payments ${today}`)).toBeGreaterThanOrEqual(startOf(dayAfter(today)) + 15 * MINUTE);
  });

  it('of the day so far covers it until now, and is made within seconds', async () => {
    const today = dayOf(await env.currentTimeMs());
    const asked = await env.currentTimeMs();
    expect(await make({ v: 1, day: today, soFar: true }, 'statement-so-far')).toMatchObject({ date: today });
    expect(names().slice(-2)).toEqual(['follow up', 'publish']);
    expect(at(`payments ${today}`)).toBeLessThan(asked + MINUTE);
    expect(runs).toHaveLength(5);
    for (const { until = 0 } of runs) {
      expect(until).toBeGreaterThanOrEqual(asked - 1_000);
      expect(at(`payments ${today}`)).toBeGreaterThan(until + 4_000);
    }
  });

  it('that is asked for of the day so far after its end is a statement of the day', async () => {
    const today = await untilMidnight();
    await make({ v: 1, day: dayAfter(today, -1), soFar: true });
    expect(at(`payments ${dayAfter(today, -1)}`)).toBeGreaterThanOrEqual(startOf(today) + 15 * MINUTE);
    expect(runs.map(({ until }) => until)).toEqual(runs.map(() => undefined));
  });

  it('goes on without what the provider gives no answer about', async () => {
    const today = await untilMidnight();
    const day = dayAfter(today, -1);
    failing = [`balances ${today}`, `search collection ${day}`, 'look up'];
    expect(await make({ v: 1 }, 'statement-without-answers')).toMatchObject({ date: day });
    expect(names().slice(-3)).toEqual(['compare', 'follow up', 'publish']);
  });

  it('makes none without the payments', async () => {
    failing = ['payments 2026-11-20'];
    await expect(make({ v: 1, day: '2026-11-20' })).rejects.toThrow();
    expect(names()).toEqual(['payments 2026-11-20']);
  });
});
