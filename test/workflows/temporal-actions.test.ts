import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { activityInfo, Context } from '@temporalio/activity';
import type { WorkflowHandle, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { Payment } from '../../src/payments/words/payment.js';
import { scheduleStatements } from '../../src/statements/schedule.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import {
  STATEMENT_SCHEDULE_ID,
  STATEMENT_WORKFLOW_TYPE,
  type StatementSteps,
  statementsQueue,
} from '../../src/workflows/messages.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { APPROVER, PaymentWorld } from '../support/payment-world.js';
import { testEncryption } from '../support/test-encryption.js';

let world: PaymentWorld;
let executable: string;
beforeAll(async () => {
  ({ path: executable } = await findTemporal({ report: () => undefined }));
  world = await PaymentWorld.start({
    // Most of what is asked for here is not answered in time, as somebody holds its payment up.
    answerWithinMs: 3_000,
    terms: { ambiguousGraceMs: 3_000, resolveAfterMs: 0 },
  });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

/** Runs a command of Temporal's command line, as an operator types it. */
function temporal(...args: readonly string[]): Promise<{ readonly isDone: boolean; readonly said: string }> {
  const target = ['--address', world.env.address, '--command-timeout', '60s'];
  return new Promise((resolve) =>
    execFile(executable, [...args, ...target], { timeout: PATIENCE_MS }, (error, stdout, stderr) =>
      resolve({ isDone: error === null, said: `${stdout}${stderr}` }),
    ),
  );
}

/**
 * An operator's actions on a workflow, by the command after `temporal workflow`. None may change how a payment ends.
 */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  cancel: ['cancel'],
  terminate: ['terminate', '--reason', 'tried'],
  delete: ['delete'],
  signal: ['signal', '--name', 'bell'],
  'signal with an input': ['signal', '--name', 'bell', '--input', '{"transId": 5}'],
  'signal of no known name': ['signal', '--name', 'cancel-it', '--input', '{}'],
  'update of no known name': ['update', 'execute', '--name', 'succeed', '--input', '{}'],
  'query of no known name': ['query', '--type', 'payment'],
  stack: ['stack'],
  metadata: ['metadata'],
  'reset to the first task': ['reset', '--type', 'FirstWorkflowTask', '--reason', 'tried'],
  'reset to the last task': ['reset', '--type', 'LastWorkflowTask', '--reason', 'tried'],
  'reset without signals': ['reset', '--type', 'LastWorkflowTask', '--reapply-exclude', 'Signal', '--reason', 'tried'],
  'reset without anything': ['reset', '--type', 'FirstWorkflowTask', '--reapply-exclude', 'All', '--reason', 'tried'],
  'update-options to the current version': ['update-options', '--versioning-override-behavior', 'auto_upgrade'],
};

const AS = ['--type', 'payOut', '--task-queue', 'payments'];

/** Starts of a running payment's id once more, by the command after `temporal workflow`. */
const STARTS: Readonly<Record<string, readonly string[]>> = {
  start: ['start', ...AS],
  'start, using the existing one': ['start', ...AS, '--id-conflict-policy', 'UseExisting'],
  'start, rejecting duplicates': ['start', ...AS, '--id-reuse-policy', 'RejectDuplicate'],
  'signal-with-start': ['signal-with-start', ...AS, '--signal-name', 'bell'],
  'start-update-with-start': [
    'start-update-with-start',
    ...AS,
    '--id-conflict-policy',
    'UseExisting',
    '--update-name',
    'resolve',
    '--update-wait-for-stage',
    'accepted',
  ],
};

const link = { method: 'link', amount: 5_000 };
const payout = { amount: 900, phone: '670000800' };

/** Payouts whose requests were slow so far. */
let slowOnes = 0;

/** The payout once the provider has taken it. */
const sent = (id: string): Promise<Payment> => world.until(id, ({ transId }) => transId !== undefined);

/** A payment in a state of its life, and what brings it to its outcome. */
const states: readonly {
  readonly name: string;
  readonly begin: () => Promise<string>;
  readonly finish: (id: string) => Promise<unknown>;
  readonly outcome: 'SUCCESSFUL' | 'FAILED';
  readonly transactions: number;
}[] = [
  {
    name: 'a link that waits for its start',
    begin: async () => (await world.begin('collections', link)).id,
    finish: async (id) => await world.visit((await world.get(`/v1/payments/${id}`)).body, 'pay'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a link that a worker has asked about',
    async begin() {
      const { id } = await world.begin('collections', link);
      await world.post(`/v1/payments/${id}/refresh`, {});
      return id;
    },
    finish: async (id) => await world.visit((await world.get(`/v1/payments/${id}`)).body, 'pay'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout on its way',
    begin: async () => (await world.begin('payouts', payout)).id,
    finish: (id) => world.settle(id, 'SUCCESSFUL'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a collection from a phone',
    begin: async () => (await world.begin('collections', { ...payout, method: 'direct' })).id,
    finish: (id) => world.settle(id, 'FAILED'),
    outcome: 'FAILED',
    transactions: 1,
  },
  {
    name: 'a payout that waits for its approval',
    begin: async () => (await world.post('/v1/payouts', { ...payout, approval: true })).body.id,
    async finish(id) {
      const { held } = (await world.get(`/v1/payments/${id}`)).body;
      const approved = await world.post(`/v1/payouts/${id}/approve`, { digest: held?.digest }, APPROVER);
      expect(approved.status).toBe(200);
      await sent(id);
      await world.settle(id, 'SUCCESSFUL');
    },
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout whose request is on its way',
    async begin() {
      world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_000, count: 1 });
      const amount = 1_000 + ++slowOnes;
      void world.post('/v1/payouts', { ...payout, amount });
      const { externalId } = await world.untilTransaction((one) => one.amount === amount);
      return String(externalId);
    },
    finish: (id) => world.settle(id, 'SUCCESSFUL'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout that can not be sent at the moment',
    async begin() {
      const refused = world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 1 });
      const { id } = (await world.post('/v1/payouts', payout)).body;
      await eventually(
        () => world.events(id),
        (events) => events.some(({ type }) => type === 'send_failed'),
      );
      world.sandbox.faults.remove(refused.id);
      return id;
    },
    async finish(id) {
      await sent(id);
      await world.settle(id, 'SUCCESSFUL');
    },
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout under review',
    async begin() {
      world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
      const { id } = (await world.post('/v1/payouts', payout)).body;
      return (await world.untilStatus(id, 'REVIEW')).id;
    },
    async finish(id) {
      await world.untilStatus(id, 'REVIEW');
      await eventually(
        () => world.resolve(id, { action: 'fail' }),
        ({ status }) => status === 200,
      );
    },
    outcome: 'FAILED',
    transactions: 0,
  },
  {
    name: 'a payout that has ended',
    async begin() {
      const { id } = await world.begin('payouts', payout);
      await world.settle(id, 'SUCCESSFUL');
      await world.ended(id);
      return id;
    },
    finish: () => Promise.resolve(),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
];

/** The final words that a merchant was given. */
const wordsOf = (id: string) =>
  new Set(world.notifications.filter(({ payment }) => payment.id === id && payment.final).map(({ type }) => type));

async function expectOutcome(
  id: string,
  action: string,
  { outcome, transactions }: (typeof states)[number],
): Promise<void> {
  const { status } = await world
    .until(id, ({ final }) => final)
    .catch(() => world.get(`/v1/payments/${id}`).then(({ body }) => body));
  const word = outcome === 'SUCCESSFUL' ? 'payment.succeeded' : 'payment.failed';
  await eventually(
    () => Promise.resolve(wordsOf(id)),
    (words) => words.has(word),
  ).catch(() => undefined);
  expect({ action, status, words: [...wordsOf(id)], transactions: world.transactionsOf(id).length }).toEqual({
    action,
    status: outcome,
    words: [word],
    transactions,
  });
}

/** Begins a payment for each action, does that to it, and has each come to its outcome. */
async function tryEach(
  state: (typeof states)[number],
  actions: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const begun: [action: string, id: string][] = [];
  for (const action of Object.keys(actions)) begun.push([action, await state.begin()]);
  await Promise.all(begun.map(([action, id]) => temporal('workflow', ...(actions[action] ?? []), '--workflow-id', id)));
  for (const [, id] of begun) await state.finish(id);
  for (const [action, id] of begun) await expectOutcome(id, action, state);
}

describe.each(states)('$name', (state) => {
  it('comes to its outcome, and to no other, whatever is done to its workflow', () => tryEach(state, ACTIONS));
});

describe.each(states.filter(({ name }) => name !== 'a payout that has ended'))('$name', (state) => {
  it('is not begun a second time while it runs', () => tryEach(state, STARTS));
});

describe.each(states.filter(({ name }) => name !== 'a payout that has ended'))('$name', (state) => {
  it('comes to its outcome, and to no other, to whichever event its workflow is reset', async () => {
    const begun: [action: string, id: string][] = [];
    for (let task = 0; ; task++) {
      const id = await state.begin();
      const { events } = await world.client.workflow.getHandle(id).fetchHistory();
      const tasks = events?.filter(({ workflowTaskCompletedEventAttributes: completed }) => completed) ?? [];
      const eventId = tasks[task]?.eventId;
      begun.push([`reset to task ${task}`, id]);
      if (eventId == null) break;
      const point = ['--event-id', String(eventId), '--reason', 'tried'];
      expect(await temporal('workflow', 'reset', ...point, '-w', id)).toMatchObject({ isDone: true });
    }
    for (const [, id] of begun) await state.finish(id);
    for (const [action, id] of begun) await expectOutcome(id, action, state);
  });
});

describe('a payout that has ended', () => {
  it.each([
    ['start', []],
    ['execute', []],
    ['signal-with-start', ['--signal-name', 'bell']],
    ['execute-update-with-start', ['--id-conflict-policy', 'UseExisting', '--update-name', 'resolve']],
  ])('stays what it was when somebody starts something else under its id (%s)', async (command, words) => {
    const key = { 'idempotency-key': randomUUID() };
    const { id } = await world.begin('payouts', payout, key);
    await world.settle(id, 'SUCCESSFUL');
    await world.ended(id);
    const { runId } = await world.client.workflow.getHandle(id).describe();
    await temporal('workflow', command, ...AS, '--workflow-id', id, ...words);
    const isStarted = async () => {
      const now = await world.client.workflow.getHandle(id).describe();
      return now.runId !== runId && now.status.name === 'FAILED';
    };
    await eventually(isStarted, (is) => is);
    const { body } = await world.get(`/v1/payments/${id}`);
    expect(body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect((await world.post('/v1/payouts', payout, key)).body).toMatchObject({ id, status: 'SUCCESSFUL' });
    expect((await world.post(`/v1/payments/${id}/refresh`, {})).body).toMatchObject({
      status: 'SUCCESSFUL',
    });
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payout that waits to be sent once more', () => {
  it('is sent once, whatever is done to its workflow', async () => {
    const begun: [action: string, id: string][] = [];
    for (const action of Object.keys(ACTIONS)) {
      world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
      const { id } = (await world.post('/v1/payouts', payout)).body;
      await world.untilStatus(id, 'REVIEW');
      const refused = world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', rate: 1 });
      expect((await world.resolve(id, { action: 'resend', force: true })).status).toBeLessThan(300);
      await world.until(id, ({ status }) => status !== 'REVIEW');
      await temporal('workflow', ...(ACTIONS[action] ?? []), '--workflow-id', id);
      world.sandbox.faults.remove(refused.id);
      begun.push([action, id]);
    }
    for (const [action, id] of begun) {
      // The credentials are tried again after a minute, and what was ended by hand is begun again by then.
      await sent(id);
      await world.settle(id, 'SUCCESSFUL');
      await world.untilStatus(id, 'SUCCESSFUL');
      expect({ action, sent: world.transactionsOf(id).length }).toEqual({ action, sent: 1 });
    }
  });
});

describe('a payment that a signal holds up, which no key decrypts', () => {
  it.each([
    ['reset without signals', ['reset', '--type', 'LastWorkflowTask', '--reapply-exclude', 'Signal']],
    ['terminated', ['terminate']],
  ])('is freed when its workflow is %s', async (_, command) => {
    const { id } = await world.begin('payouts', payout);
    const lost = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from('nobodys-key'),
    };
    await world.client.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: id },
      signalName: 'bell',
      input: { payloads: [{ metadata: lost, data: randomBytes(64) }] },
    });
    await eventually(
      () => world.client.workflow.getHandle(id).describe(),
      ({ raw: { pendingWorkflowTask } }) => Number(pendingWorkflowTask?.attempt ?? 0) > 1,
    );
    const done = await temporal('workflow', ...command, '--reason', 'forged', '--workflow-id', id);
    expect(done).toMatchObject({ isDone: true });
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payment whose workflow is set to a version that no worker has', () => {
  it('waits, and goes on when that is taken back', async () => {
    const { id } = await world.begin('payouts', payout);
    const override = (...to: readonly string[]) =>
      temporal('workflow', 'update-options', '-w', id, '--versioning-override-behavior', ...to);
    await override('pinned', '--versioning-override-deployment-name', 'none', '--versioning-override-build-id', '1');
    await world.settle(id, 'SUCCESSFUL');
    expect(await override('unspecified')).toMatchObject({ isDone: true });
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payment that a batch job finds', () => {
  it('comes to its outcome, and to no other', async () => {
    const { id } = await world.begin('payouts', payout);
    const found = ['--query', `WorkflowId = "${id}"`, '--reason', 'tried', '--yes'];
    await eventually(
      () => world.client.workflow.count(`WorkflowId = "${id}"`),
      ({ count }) => count === 1,
    );
    const batches = [
      ['cancel'],
      ['signal', '--name', 'bell'],
      ['update-options', '--versioning-override-behavior', 'auto_upgrade'],
      ['reset', '--type', 'LastWorkflowTask'],
      ['terminate'],
    ];
    for (const batch of batches) {
      // The server refuses one that begins before the last one's end.
      const { isDone, said } = await eventually(
        () => temporal('workflow', ...batch, ...found),
        (came) => !came.said.includes('Max concurrent batch operations'),
      );
      expect({ batch, isDone, said: isDone ? '' : said }).toEqual({ batch, isDone: true, said: '' });
    }
    expect(await temporal('batch', 'list')).toMatchObject({ isDone: true });
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('an activity that no workflow has asked for', () => {
  it('is not run by this server', async () => {
    const { workflowService } = world.client;
    const asked = { namespace: 'default', activityId: 'by-hand', activityType: { name: 'payOut' } };
    const timeouts = { startToCloseTimeout: { seconds: 10 as never } };
    await expect(
      workflowService.startActivityExecution({
        ...asked,
        ...timeouts,
        taskQueue: { name: 'payments' },
        requestId: randomUUID(),
      }),
    ).rejects.toThrow();
  });

  it('is nothing that a payment can be paused by, as a whole', async () => {
    const { id } = await world.begin('payouts', payout);
    const { workflowService } = world.client;
    const paused = { namespace: 'default', workflowId: id, reason: 'tried', requestId: randomUUID() };
    await expect(workflowService.pauseWorkflowExecution(paused)).rejects.toThrow();
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});

describe('a deployment that no worker belongs to', () => {
  const version = ['--deployment-name', 'nobodys', '--build-id', '1'];
  const forced = ['--allow-no-pollers', '--ignore-missing-task-queues', '--yes'];

  it.each([
    [['set-current-version', ...version, ...forced]],
    [['set-ramping-version', ...version, '--percentage', '50', ...forced]],
    [['delete-version', ...version]],
    [['delete', '--name', 'nobodys']],
  ])('changes nothing for payments: %j', async (command) => {
    await temporal('worker', 'deployment', ...command);
    const { id } = await world.begin('payouts', payout);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});

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
