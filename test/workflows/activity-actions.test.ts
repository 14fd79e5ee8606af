import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/activities/activities.js';
import { fence } from '../../src/book/fence.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { PaymentWorld } from '../support/payment-world.js';

/*
 * Every command of `temporal activity`, on the activity that sends a payout, whose worker has died: before the request
 * went out, when it was about to, or when the provider had taken it.
 */

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';

type Moment = 'before' | 'about' | 'after';

/** The moment at which the next payout loses its worker. */
let losing: Moment | undefined;
/** Payouts that have started: an activity that runs again takes the moment from no other. */
const started = new Set<string>();
/** Payouts that have lost their worker. */
const lost = new Set<string>();

/** A worker that is gone never reports: Temporal only sees that its time is over. */
async function gone(id: string): Promise<never> {
  lost.add(id);
  return await Context.current().cancelled;
}

const dying = (usual: Activities): Activities => ({
  ...usual,
  async sendPayout(...given) {
    const [id, decided] = given;
    if (started.has(id)) return await usual.sendPayout(...given);
    started.add(id);
    const moment = losing;
    losing = undefined;
    if (moment === 'before') return await gone(id);
    if (moment === 'about') {
      await fence(world.made.book, { id, ...decided, hand: 1 }, {}, Date.now());
      return await gone(id);
    }
    await usual.sendPayout(...given);
    if (moment === 'after') await gone(id);
  },
});

let world: PaymentWorld;
let executable: string;
beforeAll(async () => {
  ({ path: executable } = await findTemporal({ report: () => undefined }));
  const code = await readFile(workflowBundle().codePath, 'utf8');
  // What is paused is given up after ten minutes and more: here after as many seconds.
  const short = code.replace('UNTIL_SENT_MS = 10 * 60000', 'UNTIL_SENT_MS = 10000');
  expect(short).not.toBe(code);
  world = await PaymentWorld.start({
    answerWithinMs: 1_000,
    workflows: { code: short },
    terms: { providerTimeoutMs: 3_000, ambiguousGraceMs: 3_000, resolveAfterMs: 0 },
    activities: dying,
  });
});
afterAll(() => world.stop());

/** @returns what the command has printed, if it has failed */
function temporal(...args: readonly string[]): Promise<string | undefined> {
  const target = ['--address', world.env.address, '--command-timeout', '60s'];
  return new Promise((resolve) =>
    execFile(executable, ['activity', ...args, ...target], { timeout: PATIENCE_MS }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`),
    ),
  );
}

type Command = (id: string, activity: string) => readonly string[];
const by =
  (...words: readonly string[]): Command =>
  (id, activity) => [...words, '--workflow-id', id, '--activity-id', activity];

const anyNumberOfAttempts = by('update-options', '--retry-maximum-attempts', '0', '--retry-initial-interval', '1s');

/** An operator's actions on an activity, one command after another. */
const ACTIONS: Readonly<Record<string, readonly Command[]>> = {
  pause: [by('pause')],
  'pause and unpause': [by('pause'), by('unpause')],
  'pause and unpause, from the first attempt': [anyNumberOfAttempts, by('pause'), by('unpause', '--reset-attempts')],
  'pause and reset': [by('pause'), by('reset')],
  'pause and fail': [by('pause'), by('fail', '--reason', 'tried')],
  reset: [by('reset')],
  'reset, kept paused': [by('pause'), by('reset', '--keep-paused')],
  'reset of its attempts': [anyNumberOfAttempts, by('reset', '--reset-attempts', '--reset-heartbeats')],
  'update-options: any number of attempts': [anyNumberOfAttempts],
  'update-options: another queue': [by('update-options', '--task-queue', 'nobodys')],
  'update-options: little time': [by('update-options', '--start-to-close-timeout', '1s')],
  'update-options: much time, and less': [
    by('update-options', '--start-to-close-timeout', '1h', '--schedule-to-start-timeout', '1h'),
    by('update-options', '--restore-original-options'),
  ],
  'complete with nothing': [by('complete', '--result', 'null')],
  'complete with nonsense': [by('complete', '--result', '{"kind": "paid"}')],
  fail: [by('fail', '--reason', 'tried')],
};

/** The activity that the payment waits for. */
async function activityOf(id: string): Promise<string> {
  const { raw } = await world.client.workflow.getHandle(id).describe();
  return raw.pendingActivities?.[0]?.activityId ?? '';
}

async function act(id: string, action: string): Promise<void> {
  const activity = await activityOf(id);
  for (const command of ACTIONS[action] ?? [])
    expect({ action, failed: await temporal(...command(id, activity)) }).toEqual({ action });
}

/** Begins a payout that loses its worker. */
async function lose(moment: Moment): Promise<string> {
  losing = moment;
  const { id } = (await world.post('/v1/payouts', { amount: 900, phone: PENDING })).body;
  await eventually(
    async () => lost.has(id),
    (isLost) => isLost,
  );
  return id;
}

const until = (id: string, expected: (payment: Payment) => boolean) =>
  eventually(
    async () => (await world.get(`/v1/payments/${id}`)).body,
    (payment) => payment.id === id && expected(payment),
  );

/** The payment comes to its end, and the provider has one transaction of it. */
async function isPaidOnce(id: string, action: string): Promise<void> {
  await until(id, ({ transId }) => transId !== undefined);
  await world.settle(id, 'SUCCESSFUL');
  const { status } = await until(id, (payment) => payment.final || payment.status === 'REVIEW');
  expect({ action, status, sent: world.transactionsOf(id).length }).toEqual({ action, status: 'SUCCESSFUL', sent: 1 });
}

describe.each<[Moment, string]>([
  ['before', 'a payout whose worker died before the request went out'],
  ['after', 'a payout whose worker died when the provider had taken it'],
])('%s: %s', (moment) => {
  it('is sent once, whatever is done to its activity', async () => {
    const begun: (readonly [action: string, id: string])[] = [];
    for (const action of Object.keys(ACTIONS)) {
      const id = await lose(moment);
      await act(id, action);
      begun.push([action, id]);
    }
    for (const [action, id] of begun) await isPaidOnce(id, action);
  });
});

/** Completes the activity that sends a payout with an outcome, under the payment's own token. */
async function forge(id: string, outcome: object): Promise<void> {
  const [row] = await world.made.book.query('SELECT asked FROM states WHERE id = $1', [id]);
  const result = JSON.stringify({ token: Number(row?.asked), kind: 'sent', outcome });
  expect(await temporal(...by('complete', '--result', result)(id, await activityOf(id)))).toBeUndefined();
}

describe('a payout whose worker died when the request was about to go out', () => {
  it.each([
    { kind: 'notSent', reason: 'forged' },
    { kind: 'rejected', message: 'forged', statusCode: 400 },
    { kind: 'withheld', failureCode: 'not_sent', reason: 'forged' },
    { kind: 'accepted', transId: 'T-forged' },
  ])('is neither sent again nor told as over, though somebody says that it was $kind', async (outcome) => {
    const id = await lose('about');
    await forge(id, outcome);
    const { transId } = await until(id, ({ status, final }) => status === 'REVIEW' || final);
    expect(transId).toBeUndefined();
    expect((await world.get(`/v1/payments/${id}`)).body.status).toBe('REVIEW');
    expect(world.transactionsOf(id)).toEqual([]);
  });
});

describe('a payout that the provider has taken from a worker that died then', () => {
  it('has the transaction that its fence tells, whatever somebody completes its activity with', async () => {
    const id = await lose('after');
    await forge(id, { kind: 'accepted', transId: 'T-forged' });
    const { transId } = await until(id, (payment) => payment.transId !== undefined);
    expect(transId).toBe(world.transactionsOf(id)[0]?.transId);
    await isPaidOnce(id, 'complete');
  });
});
