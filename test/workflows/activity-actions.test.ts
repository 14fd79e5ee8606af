import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/activities/activities.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { PaymentWorld } from '../support/payment-world.js';

/*
 * Every command of `temporal activity`, on an activity whose worker has died: one that sends a payout which the
 * provider has taken, and one that notifies the merchant.
 */

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';

/** The payments whose next activity of a kind loses its worker. */
const losing = { payOut: false, notifyMerchant: new Set<string>() };
/** Number of activities that have lost their worker. */
let lost = 0;

/** A worker that is gone never reports: Temporal only sees that its time is over. */
async function gone(): Promise<never> {
  lost++;
  return (await Context.current().cancelled) as never;
}

const dying = (usual: Activities): Activities => ({
  ...usual,
  async payOut(order, isFirst) {
    const isLost = losing.payOut;
    losing.payOut = false;
    const outcome = await usual.payOut(order, isFirst);
    return isLost ? await gone() : outcome;
  },
  async notifyMerchant(notification) {
    if (losing.notifyMerchant.delete(notification.payment.id)) return await gone();
    return await usual.notifyMerchant(notification);
  },
});

let world: PaymentWorld;
let executable: string;
beforeAll(async () => {
  ({ path: executable } = await findTemporal({ report: () => undefined }));
  const code = await readFile(workflowBundle().codePath, 'utf8');
  // What is paused is given up after ten minutes: here after ten seconds.
  const short = code.replace('START_TIMEOUT_MS = 10 * 60000', 'START_TIMEOUT_MS = 10000');
  expect(short).not.toBe(code);
  world = await PaymentWorld.start({
    realServer: true,
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

/** Begins a payout that loses its worker in an activity of this kind. */
async function lose(kind: keyof typeof losing): Promise<string> {
  const before = lost;
  if (kind === 'payOut') losing.payOut = true;
  const { id } = (await world.post('/v1/payouts', { amount: 900, phone: PENDING })).body;
  if (kind === 'notifyMerchant') {
    losing.notifyMerchant.add(id);
    await until(id, ({ transId }) => transId !== undefined);
    await world.settle(id, 'SUCCESSFUL');
  }
  await eventually(
    async () => lost,
    (count) => count > before,
  );
  return id;
}

const until = (id: string, expected: (payment: { transId?: unknown; status: string }) => boolean) =>
  eventually(
    async () => (await world.get(`/v1/payments/${id}`)).body,
    (payment) => payment.id === id && expected(payment),
  );

const wordsOf = (id: string) => world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);

async function beginAll(kind: keyof typeof losing): Promise<(readonly [action: string, id: string])[]> {
  const begun: (readonly [string, string])[] = [];
  for (const action of Object.keys(ACTIONS)) {
    const id = await lose(kind);
    await act(id, action);
    begun.push([action, id]);
  }
  return begun;
}

describe('a payout that the provider has taken from a worker that died then', () => {
  it('is found, and is not sent again, whatever is done to its activity', async () => {
    for (const [action, id] of await beginAll('payOut')) {
      const { transId } = await until(id, (payment) => payment.transId !== undefined);
      await world.settle(id, 'SUCCESSFUL');
      await until(id, ({ status }) => status === 'SUCCESSFUL');
      expect({ action, sent: world.transactionsOf(id).map((one) => one.transId) }).toEqual({
        action,
        sent: [transId],
      });
    }
  });

  it('is found when somebody completes its activity as one that the provider took with another transaction', async () => {
    const id = await lose('payOut');
    const result = '{"kind": "accepted", "transId": "T-forged", "dateInitiated": "2026-11-21"}';
    expect(await temporal(...by('complete', '--result', result)(id, await activityOf(id)))).toBeUndefined();
    await world.settle(id, 'SUCCESSFUL');
    await until(id, ({ status }) => status === 'SUCCESSFUL' || status === 'REVIEW');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a notification whose worker died', () => {
  it('reaches the merchant, with the same word, whatever is done to its activity; after a pause, or with an hour for it, once somebody fails it', async () => {
    const begun = await beginAll('notifyMerchant');
    const isTold = (id: string) =>
      eventually(
        async () => wordsOf(id).length,
        (count) => count > 0,
      ).catch(() => 0);
    for (const [action, id] of begun) {
      if (/pause|much time/.test(action))
        await temporal(...by('fail', '--reason', 'it died')(id, await activityOf(id)));
      await isTold(id);
      expect({ action, words: [...new Set(wordsOf(id))] }).toEqual({ action, words: ['payment.succeeded'] });
    }
    for (const [, id] of begun) expect((await until(id, () => true)).status).toBe('SUCCESSFUL');
  });

  it('is not sent when somebody completes its activity as one that was delivered, and can be sent again', async () => {
    const id = await lose('notifyMerchant');
    await temporal(...by('complete', '--result', '{"kind": "delivered"}')(id, await activityOf(id)));
    await world.ended(id);
    expect(wordsOf(id)).toEqual([]);
    const { status } = await world.post(`/v1/payments/${id}/notifications/1/resend`, {});
    expect(status).toBe(202);
    await eventually(
      async () => wordsOf(id),
      ({ length }) => length > 0,
    );
  });
});
