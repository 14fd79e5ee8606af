import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { openPayment } from '../../src/payments/words/payment-state.js';
import * as workflows from '../../src/workflows/index.js';
import * as messages from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { DAY, directOrder, linkOrder, paymentId, payoutOrder, terms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

type Payload = proto.temporal.api.common.v1.IPayload;

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: COMPLETED } =
  proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

/** The messages that are right without an argument. Any other one that comes with none is refused. */
const NEEDS_NOTHING = ['outcome', 'expire', 'refresh', 'recheck', 'look'];

/** The workflows that may begin without an input. */
const BEGINS_WITH_NOTHING = ['keepUnmatched', 'makeStatement', 'noPayment'];

const json = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const raw = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});
const deep = (levels: number): unknown => (levels === 0 ? 'end' : { decision: [deep(levels - 1)] });

/** Payloads that somebody may send by hand, or by mistake: none is any message, or any workflow's input. */
const WRONG: Readonly<Record<string, readonly Payload[]>> = {
  nothing: [],
  null: [json(null)],
  text: [json('SUCCESSFUL')],
  'a negative number': [json(-1)],
  'half a number': [json(0.5)],
  true: [json(true)],
  'a list': [json([])],
  'an object without anything': [json({})],
  'fields of the wrong types': [
    json({
      transId: 5,
      status: 'SUCCESSFUL',
      fingerprint: {},
      review: '1',
      decision: 'resend',
      payouts: {},
      order: 'payout',
      until: 'tomorrow',
      day: 20_261_121,
    }),
  ],
  'fields that are null': [
    json({
      transId: null,
      status: null,
      review: null,
      decision: null,
      by: null,
      payouts: null,
      order: null,
      until: null,
      day: null,
    }),
  ],
  'an unknown status and decision': [
    json({
      transId: 'T1',
      status: 'PAID',
      review: 1,
      by: 'x',
      why: 'y',
      force: 'yes',
      decision: { action: 'refund' },
      day: 'today',
    }),
  ],
  'something huge': [json({ transId: 'x'.repeat(200_000), status: 'SUCCESSFUL', day: 'x'.repeat(200_000) })],
  'something deep': [json(deep(500))],
  'two arguments': [json(['one']), json('two')],
  bytes: [raw('binary/plain', '\u0000\u0001')],
  'broken JSON': [raw('json/plain', '{"transId":')],
  'an unknown encoding': [raw('application/x-unknown', '???')],
  'no encoding': [{ data: Buffer.from('{}') }],
};

const definitions = Object.values(messages).filter(
  (value): value is { readonly type: 'signal' | 'update' | 'query'; readonly name: string } & typeof value =>
    typeof value === 'object' && 'type' in value && 'name' in value,
);
const namesOf = (type: string) => [
  ...new Set(definitions.filter((one) => one.type === type).map(({ name }) => name)),
  'nothing-of-that-name',
];

/** An ended payment's state that is to be checked once more in a day, so that its workflow waits. */
function checkedLater(id: string) {
  const order = { ...payoutOrder, id: paymentId(id) };
  const now = Date.now();
  const state = {
    ...openPayment(order, terms, now),
    phase: {
      kind: 'ended',
      status: 'FAILED',
      failureCode: 'failed_at_provider',
      checks: [{ at: now + DAY, tries: 0 }],
    },
  };
  return { v: 1, order, terms, fingerprint: 'f', requestId: 'r', carried: state };
}

let world: PaymentWorld;
/** A workflow of each type that runs, by its type. */
const running: Record<string, string> = {};

beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true });
  const { client } = world;
  const direct = await world.begin('collections', { method: 'direct', amount: 700, phone: '670000800' });
  const link = await world.begin('collections', { method: 'link', amount: 500 });
  const payout = await world.begin('payouts', { amount: 900, phone: '670000800' });
  const start = async (type: string, workflowId: string, ...args: unknown[]) => {
    await client.workflow.start(type, { workflowId, taskQueue: 'payments', args });
    return workflowId;
  };
  Object.assign(running, {
    collectByLink: link.id,
    collectDirect: direct.id,
    payOut: payout.id,
    reopenPayment: await start('reopenPayment', 'pay_ended', checkedLater('pay_ended')),
    keepRefunds: await start('keepRefunds', 'refunds-of-col_x', { v: 1, collection: 'col_x' }),
    keepRestore: await start('keepRestore', messages.RESTORE_WORKFLOW.id, { v: 1, restoredAt: Date.now() }),
    keepUnmatched: await start('keepUnmatched', messages.UNMATCHED_WORKFLOW.id),
    limitPayouts: await start('limitPayouts', 'payouts-of-x-on-2026-11-21', {
      v: 1,
      merchant: 'x',
      day: '2026-11-21',
      until: Date.now() + DAY,
    }),
    makeStatement: await start('makeStatement', 'statement-of-tomorrow', {
      v: 1,
      day: new Date(Date.now() + DAY).toISOString().slice(0, 10),
    }),
  });
});
afterAll(() => world.stop());

/** Every workflow but those that end at once has one that runs. */
it('is sent to every workflow that there is', () => {
  expect(Object.keys(running).sort()).toEqual(
    Object.keys(workflows)
      .filter((type) => type !== 'noPayment')
      .sort(),
  );
});

/** Fails when a workflow task of this workflow has ever failed, or fails now. */
async function expectWell(workflowId: string): Promise<void> {
  const described = await eventually(
    () => world.client.workflow.getHandle(workflowId).describe(),
    ({ raw: { pendingWorkflowTask } }) => !pendingWorkflowTask,
  );
  expect(described.status.name).toBe('RUNNING');
  const { events } = await world.client.workflow.getHandle(workflowId).fetchHistory();
  expect(events?.filter(({ workflowTaskFailedEventAttributes: failed }) => failed)).toEqual([]);
}

const at = (workflowId: string) => ({ namespace: 'default', workflowExecution: { workflowId } });

async function updated(workflowId: string, name: string, args: readonly Payload[]): Promise<string> {
  const { outcome } = await world.client.workflowService.updateWorkflowExecution({
    ...at(workflowId),
    waitPolicy: { lifecycleStage: COMPLETED },
    request: {
      meta: { updateId: randomUUID(), identity: 'somebody' },
      input: { name, args: { payloads: [...args] } },
    },
  });
  if (outcome?.failure == null) return outcome?.success == null ? 'nothing' : 'carried out';
  return 'refused';
}

async function queried(workflowId: string, queryType: string, args: readonly Payload[]): Promise<string> {
  try {
    const { queryResult } = await world.client.workflowService.queryWorkflow({
      namespace: 'default',
      execution: { workflowId },
      query: { queryType, queryArgs: { payloads: [...args] } },
    });
    return queryResult == null ? 'nothing' : 'answered';
  } catch {
    return 'refused';
  }
}

describe.each(Object.keys(workflows).filter((type) => type !== 'noPayment'))('a running %s', (type) => {
  const idOf = () => running[type] ?? '';

  it('drops every signal that isn’t one, and goes on', async () => {
    for (const signalName of namesOf('signal')) {
      for (const payloads of Object.values(WRONG)) {
        await world.client.workflowService.signalWorkflowExecution({
          ...at(idOf()),
          signalName,
          input: { payloads: [...payloads] },
          requestId: randomUUID(),
        });
      }
      // What the command line sends without --input.
      await world.client.workflowService.signalWorkflowExecution({ ...at(idOf()), signalName });
    }
    await expectWell(idOf());
  });

  it('refuses every update that isn’t one', async () => {
    for (const name of namesOf('update')) {
      for (const [what, args] of Object.entries(WRONG)) {
        if (what === 'nothing' && NEEDS_NOTHING.includes(name)) continue;
        expect({ name, what, came: await updated(idOf(), name, args) }).toEqual({
          name,
          what,
          came: 'refused',
        });
      }
    }
    await expectWell(idOf());
  });

  it('answers no query that isn’t one', async () => {
    for (const name of namesOf('query')) {
      for (const [what, args] of Object.entries(WRONG)) {
        if (what === 'nothing') continue;
        expect({ name, what, came: await queried(idOf(), name, args) }).toEqual({
          name,
          what,
          came: 'refused',
        });
      }
    }
    await expectWell(idOf());
  });
});

describe('a workflow that somebody starts by hand', () => {
  /** Returns the result of starting it: its failure, or that it runs. */
  async function started(workflowType: string, payloads: readonly Payload[], workflowId: string = randomUUID()) {
    await world.client.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: workflowType },
      taskQueue: { name: 'payments' },
      input: { payloads: [...payloads] },
      requestId: randomUUID(),
    });
    const handle = world.client.workflow.getHandle(workflowId);
    const { status } = await eventually(
      () => handle.describe(),
      ({ status: { name }, raw: { pendingWorkflowTask } }) => name !== 'RUNNING' || !pendingWorkflowTask,
    );
    if (status.name === 'RUNNING') await handle.terminate();
    return status.name;
  }

  it.each(Object.keys(workflows))(
    'fails at once as %s, with anything that isn’t its input',
    async (type) => {
      for (const [what, payloads] of Object.entries(WRONG)) {
        if (BEGINS_WITH_NOTHING.includes(type) && (what === 'nothing' || type === 'noPayment')) continue;
        expect({ what, came: await started(type, payloads) }).toEqual({ what, came: 'FAILED' });
      }
    },
    240_000,
  );

  it.each([
    ['collectByLink', linkOrder],
    ['collectDirect', directOrder],
    ['payOut', payoutOrder],
  ] as const)('sends nothing as %s when its id isn’t the order’s, or the order is another’s', async (type, order) => {
    const input = { v: 1, terms, fingerprint: 'f', requestId: 'r' };
    expect(await started(type, [json({ ...input, order })])).toBe('FAILED');
    for (const other of [linkOrder, directOrder, payoutOrder].filter((one) => one !== order)) {
      expect(await started(type, [json({ ...input, order: other })], `${other.id}-${type}`)).toBe('FAILED');
    }
    const carried = { ...openPayment(order, terms, Date.now()) };
    expect(await started(type, [json({ ...input, order, carried })], order.id)).toBe('FAILED');
    expect(world.transactionsOf(order.id)).toEqual([]);
  });

  it.each(['v', 'terms', 'fingerprint', 'requestId', 'carried'])('reopens nothing without %s', async (field) => {
    const id = `pay_without-${field}`;
    expect(await started('reopenPayment', [json({ ...checkedLater(id), [field]: undefined })], id)).toBe('FAILED');
  });

  it('reopens nothing of which any part can’t be read', async () => {
    const { carried, ...input } = checkedLater('pay_half');
    for (const field of Object.keys(carried)) {
      const broken = { ...input, carried: { ...carried, [field]: 'x' } };
      expect({ field, came: await started('reopenPayment', [json(broken)], 'pay_half') }).toEqual({
        field,
        came: 'FAILED',
      });
    }
  });
});

describe('payments that were sent all of that', () => {
  it('come to their outcomes', async () => {
    const { payOut: payout = '', collectDirect: direct = '', collectByLink: id = '' } = running;
    for (const one of [payout, direct]) {
      await world.settle(one, 'SUCCESSFUL');
      await world.untilStatus(one, 'SUCCESSFUL');
      expect(world.transactionsOf(one)).toHaveLength(1);
    }
    const link = await world.until(id, () => true);
    await world.visit(link, 'pay');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});
