import { describe, expect, it } from '@jest/globals';
import { findPayment } from '../../src/book/payments.js';
import type { PaymentStatus } from '../../src/payments/words/payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { Phase } from '../../src/payments/words/phase.js';
import { eventually } from './eventually.js';
import type { PaymentWorld } from './payment-world.js';
import { someAtOnce } from './some-at-once.js';
import type { TemporalCommand } from './temporal-commands.js';

/** Commands after `temporal workflow`, one after the other. */
type Commands = readonly (readonly string[])[];

const NOBODYS_VERSION = ['--versioning-override-deployment-name', 'none', '--versioning-override-build-id', '1'];

/** An operator's actions on a workflow. None may change how a payment ends. */
export const ACTIONS: Readonly<Record<string, Commands>> = {
  cancel: [['cancel']],
  terminate: [['terminate', '--reason', 'tried']],
  delete: [['delete']],
  'cancel and terminate': [['cancel'], ['terminate', '--reason', 'tried']],
  signal: [['signal', '--name', 'bell']],
  'signal with an input': [['signal', '--name', 'bell', '--input', '{"transId": 5}']],
  'signal of no known name': [['signal', '--name', 'cancel-it', '--input', '{}']],
  'update of no known name': [['update', 'execute', '--name', 'succeed', '--input', '{}']],
  'query of no known name': [['query', '--type', 'payment']],
  stack: [['stack']],
  metadata: [['metadata']],
  'reset to the first task': [['reset', '--type', 'FirstWorkflowTask', '--reason', 'tried']],
  'reset to the last task': [['reset', '--type', 'LastWorkflowTask', '--reason', 'tried']],
  'reset without signals': [
    ['reset', '--type', 'LastWorkflowTask', '--reapply-exclude', 'Signal', '--reason', 'tried'],
  ],
  'reset without anything': [['reset', '--type', 'FirstWorkflowTask', '--reapply-exclude', 'All', '--reason', 'tried']],
  'update-options to the current version': [['update-options', '--versioning-override-behavior', 'auto_upgrade']],
  "update-options to nobody's version, and back": [
    ['update-options', '--versioning-override-behavior', 'pinned', ...NOBODYS_VERSION],
    ['update-options', '--versioning-override-behavior', 'unspecified'],
  ],
};

/** How somebody might start a payment's workflow. */
export const AS = ['--type', 'payOut', '--task-queue', 'payments'];

/** Starts of a running payment's id once more. */
const STARTS: Readonly<Record<string, Commands>> = {
  start: [['start', ...AS]],
  'start, using the existing one': [['start', ...AS, '--id-conflict-policy', 'UseExisting']],
  'start, rejecting duplicates': [['start', ...AS, '--id-reuse-policy', 'RejectDuplicate']],
  'signal-with-start': [['signal-with-start', ...AS, '--signal-name', 'bell']],
  'start-update-with-start': [
    [
      'start-update-with-start',
      ...AS,
      ...['--id-conflict-policy', 'UseExisting'],
      ...['--update-name', 'resolve', '--update-wait-for-stage', 'accepted'],
    ],
  ],
};

/** A payment at some point of its life, and what brings it to its outcome. */
export interface Situation {
  readonly name: string;
  /** @returns the payment's id */
  readonly begin: () => Promise<string>;
  /** Time that passes after something was done to it, in ms. */
  readonly laterMs?: number;
  readonly finish: (id: string) => Promise<unknown>;
  /** Time that passes after that, in ms. */
  readonly finallyMs?: number;
  readonly outcome: 'SUCCESSFUL' | 'FAILED' | 'EXPIRED';
  /** Those that the provider has of it in the end. */
  readonly transactions: number;
  /** Nothing of it runs any more. */
  readonly isOver?: true;
}

interface Surroundings {
  readonly world: PaymentWorld;
  readonly temporal: TemporalCommand;
}

/** The tests of what an operator may do to the workflow of a payment: it comes to its outcome, and to no other. */
export function describeActions(situations: readonly Situation[], surroundings: () => Surroundings): void {
  describe.each(situations)('$name', (situation) => {
    it('comes to its outcome, and to no other, whatever is done to its workflow', () =>
      tryEach(surroundings(), situation, ACTIONS));
  });

  describe.each(situations.filter(({ isOver }) => !isOver))('$name', (situation) => {
    it('is not begun a second time while it runs', () => tryEach(surroundings(), situation, STARTS));

    it('comes to its outcome, and to no other, to whichever event its workflow is reset', () =>
      resetToEach(surroundings(), situation));
  });
}

type Begun = [action: string, id: string];

/** Begins a payment for each action, does that to it at once, and has each come to its outcome. */
async function tryEach(
  { world, temporal }: Surroundings,
  situation: Situation,
  actions: Readonly<Record<string, Commands>>,
): Promise<void> {
  const begun = await someAtOnce(Object.entries(actions), async ([action, commands]): Promise<Begun> => {
    const id = await situation.begin();
    for (const command of commands) await temporal('workflow', ...command, '--workflow-id', id);
    return [action, id];
  });
  await expectOutcomes(world, situation, begun);
}

/** Begins a payment for each of its tasks so far, and resets it to that one. */
async function resetToEach({ world, temporal }: Surroundings, situation: Situation): Promise<void> {
  const begun: Begun[] = [];
  for (let task = 0; ; task++) {
    const id = await situation.begin();
    const { events } = await world.client.workflow.getHandle(id).fetchHistory();
    const tasks = events?.filter(({ workflowTaskCompletedEventAttributes: completed }) => completed) ?? [];
    const eventId = tasks[task]?.eventId;
    begun.push([`reset to task ${task}`, id]);
    if (eventId == null) break;
    const point = ['--event-id', String(eventId), '--reason', 'tried'];
    expect(await temporal('workflow', 'reset', ...point, '-w', id)).toMatchObject({ isDone: true });
  }
  await expectOutcomes(world, situation, begun);
}

async function expectOutcomes(world: PaymentWorld, situation: Situation, begun: readonly Begun[]): Promise<void> {
  const { laterMs, finish, finallyMs } = situation;
  world.sandbox.faults.clear();
  if (laterMs !== undefined) await world.pass(laterMs);
  await someAtOnce(begun, ([, id]) => finish(id));
  if (finallyMs !== undefined) await world.pass(finallyMs);
  await Promise.all(begun.map(([action, id]) => expectOutcome(world, situation, action, id)));
}

const WORDS = { SUCCESSFUL: 'payment.succeeded', FAILED: 'payment.failed', EXPIRED: 'payment.expired' } as const;

async function expectOutcome(
  world: PaymentWorld,
  { outcome, transactions }: Situation,
  action: string,
  id: string,
): Promise<void> {
  const { status } = await world
    .until(id, ({ final }) => final)
    .catch(() => world.get(`/v1/payments/${id}`).then(({ body }) => body));
  await eventually(
    async () => finalWords(world, id),
    (words) => words.includes(WORDS[outcome]),
  ).catch(() => undefined);
  expect({ action, status, words: finalWords(world, id), transactions: world.transactionsOf(id).length }).toEqual({
    action,
    status: outcome,
    words: [WORDS[outcome]],
    transactions,
  });
}

/** What a merchant was told as final. */
function finalWords(world: PaymentWorld, id: string): readonly string[] {
  const told = world.notifications.filter(({ payment }) => payment.id === id && payment.final);
  return [...new Set(told.map(({ type }) => type))];
}

/** The payment, once the book has it in this phase. */
export async function untilPhase(world: PaymentWorld, id: string, kind: Phase['kind']): Promise<PaymentStatus> {
  await eventually(
    async () => (await findPayment(world.made.book, id as PaymentId))?.kept.state.phase.kind,
    (phase) => phase === kind,
  );
  return (await world.get(`/v1/payments/${id}`)).body.status;
}
