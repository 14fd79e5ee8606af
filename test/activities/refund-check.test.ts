import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import type { Standing } from '../../src/payments/machine/refunds.js';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import { clientOf } from '../support/local-servers.js';
import { noMerchant } from '../support/no-merchant.js';
import { directOrder, payoutOrder, transId } from '../support/orders.js';

/** What the provider shows of the collection's transaction. */
let shown: { status: number; body: unknown };
/** The requests for money that have left. */
let posts = 0;
let listed: unknown[] = [];
const provider = createServer((request, response) => {
  request.resume();
  const answer =
    request.method === 'POST'
      ? { status: 200, body: { transId: `P${++posts}`, message: 'ok' } }
      : request.url?.startsWith('/payment-status')
        ? shown
        : { status: 200, body: listed };
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
});

const refund = { ...payoutOrder, amount: 600, refundOf: directOrder.id };
const STANDS: Standing = { kind: 'stands', paid: [{ transId: transId('C1'), amount: 1_000 }], toSpare: 400 };
let standing: () => Promise<Standing>;
const doubted: string[] = [];
let activities: Activities;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => {
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  activities = createActivities({
    providers: { collection: clientOf(url), payout: clientOf(url, { service: 'payout' }) },
    merchant: noMerchant,
    collections: {
      standingOf: () => standing(),
      doubt: async (collection, named) => void doubted.push(`${collection} ${named}`),
    },
  });
  standing = async () => STANDS;
  shown = found('SUCCESSFUL');
  listed = [];
  posts = 0;
  doubted.length = 0;
});

const found = (status: string, more: object = {}) => ({ status: 200, body: { transId: 'C1', status, ...more } });

const RUN = new MockActivityEnvironment().context.info.workflowExecution?.runId ?? '';

/** Sends the refund as a worker would, in a run that nobody has reset. */
function send(when: 'unread' | 'absent' | 'refused' = 'absent', knowsWithheld = true): Promise<InitiationOutcome> {
  const workflowService = {
    getWorkflowExecutionHistory: async () => ({
      history: {
        events: [
          { eventTime: msToTs(Date.now()), workflowExecutionStartedEventAttributes: { originalExecutionRunId: RUN } },
        ],
      },
    }),
  };
  const simply = (_: unknown, question: () => Promise<unknown>) => question();
  const client = { workflowService, withDeadline: simply, withAbortSignal: simply } as unknown as Client;
  const logger = new DefaultLogger('ERROR');
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 60_000 }, { client, logger });
  return environment.run(() => activities.payOut(refund, when, null, knowsWithheld));
}

describe('a refund, right before it is sent', () => {
  it.each(['unread', 'absent', 'refused'] as const)('is sent while its collection stands (%s)', async (when) => {
    expect((await send(when)).kind).toBe('accepted');
    expect([posts, doubted]).toEqual([1, []]);
  });

  it.each(['unread', 'absent', 'refused'] as const)(
    'is withheld for good when its collection is gone (%s)',
    async (when) => {
      standing = async () => ({ kind: 'gone', why: 'the collection col_2 is FAILED' });
      const reason = 'nothing was sent: the collection col_2 is FAILED';
      expect(await send(when)).toEqual({ kind: 'withheld', failureCode: 'not_refundable', reason });
      expect(posts).toBe(0);
    },
  );

  it('is not sent either for a workflow of an earlier version, which is told so in its own words', async () => {
    standing = async () => ({ kind: 'gone', why: 'the collection col_2 is FAILED' });
    expect(await send('absent', false)).toMatchObject({ kind: 'notSent' });
    expect(posts).toBe(0);
  });

  it.each<[string, () => Promise<Standing>]>([
    ['under review', async () => ({ kind: 'doubtful', why: 'the collection col_2 is REVIEW' })],
    ['unreadable', () => Promise.reject(new Error('Temporal is away'))],
  ])('is tried again when its collection is %s', async (_, read) => {
    standing = read;
    expect(await send()).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('the collection') });
    expect(posts).toBe(0);
  });

  it.each([
    ['FAILED', found('FAILED'), 'withheld'],
    ['EXPIRED', found('EXPIRED'), 'withheld'],
    ['paid, with less than the refunds', found('SUCCESSFUL', { amount: 599 }), 'withheld'],
    ['paid, with less', found('SUCCESSFUL', { amount: 999 }), 'notSent'],
    ['PENDING', found('PENDING'), 'notSent'],
  ])('is not sent when the provider shows what was collected as %s: the collection is told', async (_, now, kind) => {
    shown = now;
    expect((await send()).kind).toBe(kind);
    expect([posts, doubted]).toEqual([0, ['col_2 C1']]);
  });

  it.each([
    ['has no answer', { status: 500, body: {} }],
    ['refuses our credentials', { status: 401, body: { message: 'who?' } }],
    ['knows it no longer', { status: 404, body: { message: 'unknown' } }],
    ['asks to slow down', { status: 429, body: { message: 'slowly' } }],
    ['tells of another', { status: 200, body: { transId: 'C2', status: 'SUCCESSFUL' } }],
  ])('is tried again when the provider %s', async (_, now) => {
    shown = now;
    expect((await send()).kind).toBe('notSent');
    expect([posts, doubted]).toEqual([0, []]);
  });

  it('is followed, whatever its collection is, once the list shows that it was sent', async () => {
    standing = async () => ({ kind: 'gone', why: 'the collection col_2 is FAILED' });
    listed = [{ transId: 'P9', status: 'PENDING', externalId: refund.id }];
    expect(await send()).toMatchObject({ kind: 'ambiguous', shown: [{ transId: 'P9' }] });
  });

  it('leaves a question about the collection to others within a minute', async () => {
    const outcomes: string[] = [];
    for (let tries = 0; tries < 6; tries++) outcomes.push((await send()).kind);
    expect(outcomes).toEqual([...Array(5).fill('accepted'), 'notSent']);
  });
});
