import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/activities/activities.js';
import { claim } from '../../src/book/claim.js';
import { fence } from '../../src/book/fence.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { stillBeginning } from '../support/api-under-test.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually } from '../support/eventually.js';
import { linkOrder, paymentId, terms as usualTerms } from '../support/orders.js';
import { type Answer, PaymentWorld } from '../support/payment-world.js';
import { someAtOnce } from '../support/some-at-once.js';
import { type TemporalCommand, temporalCommands } from '../support/temporal-commands.js';

/*
 * Every command of `temporal activity`, on the activities that send a payment, whose worker has died: before the
 * request went out, when it was about to, or when the provider had taken it.
 */

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';

type Moment = 'before' | 'about' | 'after';

/** The moment at which payments lose their workers. */
let losing: Moment;
/** Payments that have started: an activity that runs again loses no worker. */
const started = new Set<string>();
/** Payments that have lost their worker. */
const lost = new Set<string>();

/** A worker that is gone never reports: Temporal only sees that its time is over. */
async function gone(id: string): Promise<never> {
  lost.add(id);
  return await Context.current().cancelled;
}

function dying(send: Activities['sendPayout']): Activities['sendPayout'] {
  return async (...given) => {
    const [id, decided] = given;
    if (started.has(id)) return await send(...given);
    started.add(id);
    if (losing === 'about') await fence(world.made.book, { id, ...decided, hand: 1 }, {}, Date.now());
    if (losing === 'after') await send(...given);
    return await gone(id);
  };
}

const terms = { providerTimeoutMs: 3_000, ambiguousGraceMs: 3_000, resolveAfterMs: 0 };

let world: PaymentWorld;
let temporal: TemporalCommand;
beforeAll(async () => {
  const code = await readFile(workflowBundle().codePath, 'utf8');
  // What is paused is given up after ten minutes and more: here after as many seconds.
  const short = code.replace('UNTIL_SENT_MS = 10 * 60000', 'UNTIL_SENT_MS = 10000');
  expect(short).not.toBe(code);
  world = await PaymentWorld.start({
    answerWithinMs: 1_000,
    // Temporal doesn't tell a worker that it has given an activity up: each holds its slot.
    activitySlots: 100,
    workflows: { code: short },
    terms,
    activities: ({ sendPayout, requestOnPhone, createLink, ...others }) => ({
      ...others,
      sendPayout: dying(sendPayout),
      requestOnPhone: dying(requestOnPhone),
      createLink: dying(createLink),
    }),
  });
  temporal = await temporalCommands(world.env.address);
});
afterAll(() => world.stop());

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
    expect({ action, ...(await temporal('activity', ...command(id, activity))) }).toMatchObject({
      action,
      isDone: true,
    });
}

type Order = () => Promise<string>;

/** The id of an order, which a busy machine may answer before it has begun. */
const idOf = (answer: Answer) => (answer.status === 201 ? answer.body.id : stillBeginning(answer));

const payout: Order = async () => idOf(await world.post('/v1/payouts', { amount: 900, phone: PENDING }));
const direct: Order = async () =>
  idOf(await world.post('/v1/collections', { method: 'direct', amount: 900, phone: PENDING }));

/** Claims a link as the API does, which then dies before it asks for it. */
async function orphanedLink(): Promise<string> {
  const id = paymentId(`col_${randomUUID().replaceAll('-', '')}`);
  const order = { ...linkOrder, id };
  const request = { merchant: 'shop', fingerprint: 'f', requestId: 'r' };
  await claim(world.made.book, { order, terms: { ...usualTerms, ...terms }, ...request }, world.now());
  await world.ring(id);
  return id;
}

/** Begins a payment that loses its worker. */
async function lose(moment: Moment, order: Order = payout): Promise<string> {
  losing = moment;
  const id = await order();
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

/** The link can be paid, and no other that was made for the payment can. */
async function isPayableOnce(id: string, action: string): Promise<void> {
  await world.visit(await until(id, ({ link }) => link !== undefined), 'pay');
  const { status } = await until(id, (payment) => payment.final || payment.status === 'REVIEW');
  const open = world.transactionsOf(id).filter((one) => ['CREATED', 'PENDING'].includes(one.status));
  const paid = world.transactionsOf(id).filter((one) => one.status === 'SUCCESSFUL');
  expect({ action, status, open: open.length, paid: paid.length }).toEqual({
    action,
    status: 'SUCCESSFUL',
    open: 0,
    paid: 1,
  });
}

const KINDS = [
  { kind: 'payout', order: payout, isRight: isPaidOnce },
  { kind: 'collection from a phone', order: direct, isRight: isPaidOnce },
  { kind: 'link', order: orphanedLink, isRight: isPayableOnce },
] as const;

describe.each<Moment>(['before', 'after'])('payments whose worker died %s the request went out', (moment) => {
  it('are sent once, and links can be paid once, whatever is done to their activities', async () => {
    const tried = KINDS.flatMap((one) => Object.keys(ACTIONS).map((action) => ({ ...one, action })));
    const begun = await someAtOnce(tried, async ({ kind, order, isRight, action }) => {
      const id = await lose(moment, order);
      await act(id, action);
      return { id, isRight, action: `${kind}: ${action}` };
    });
    await Promise.all(begun.map(({ id, isRight, action }) => isRight(id, action)));
  });
});

/** Completes the activity that sends a payout with an outcome, under the payment's own token. */
async function forge(id: string, outcome: object): Promise<void> {
  const [row] = await world.made.book.query('SELECT asked FROM states WHERE id = $1', [id]);
  const result = JSON.stringify({ token: Number(row?.asked), kind: 'sent', outcome });
  const command = by('complete', '--result', result)(id, await activityOf(id));
  expect(await temporal('activity', ...command)).toMatchObject({ isDone: true });
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
