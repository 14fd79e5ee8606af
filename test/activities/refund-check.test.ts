import { beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { whyNotRefunded } from '../../src/activities/refund-check.js';
import type { Standing } from '../../src/payments/machine/refunds.js';
import type { StatusAnswer } from '../../src/payments/words/outcome.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import { directOrder, payoutOrder, transactionOf, transId } from '../support/orders.js';

const refund = { ...payoutOrder, amount: 600, refundOf: directOrder.id };
const STANDS: Standing = { kind: 'stands', paid: [{ transId: transId('C1'), amount: 1_000 }], toSpare: 400 };

let standing: () => Promise<Standing>;
/** What the provider shows of the collection's transaction. */
let shown: StatusAnswer;
const doubted: string[] = [];
beforeEach(() => {
  standing = async () => STANDS;
  shown = found('SUCCESSFUL');
  doubted.length = 0;
});

const found = (status: ProviderStatus, amount = 1_000, id = 'C1'): StatusAnswer => ({
  kind: 'found',
  transaction: transactionOf(directOrder, { transId: transId(id), status, amount }),
});

function look(signal = new AbortController().signal) {
  const collections = {
    standingOf: () => standing(),
    doubt: async (collection: string, named: string) => void doubted.push(`${collection} ${named}`),
  };
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  return environment.run(() => whyNotRefunded(refund, collections, async () => shown, signal));
}

describe('a refund, right before it is sent', () => {
  it('is sent while its collection stands', async () => {
    expect(await look()).toBeUndefined();
    expect(doubted).toEqual([]);
  });

  it('is withheld for good when its collection is gone', async () => {
    standing = async () => ({ kind: 'gone', why: 'the collection col_2 is FAILED' });
    const reason = 'nothing was sent: the collection col_2 is FAILED';
    expect(await look()).toEqual({ kind: 'withheld', failureCode: 'not_refundable', reason });
  });

  it.each<[string, () => Promise<Standing>]>([
    ['under review', async () => ({ kind: 'doubtful', why: 'the collection col_2 is REVIEW' })],
    ['unreadable', () => Promise.reject(new Error('the book is away'))],
  ])('is tried again when its collection is %s', async (_, read) => {
    standing = read;
    expect(await look()).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('the collection') });
  });

  it.each([
    ['FAILED', found('FAILED'), 'withheld'],
    ['EXPIRED', found('EXPIRED'), 'withheld'],
    ['paid, with less than the refunds', found('SUCCESSFUL', 599), 'withheld'],
    ['paid, with less', found('SUCCESSFUL', 999), 'notSent'],
    ['PENDING', found('PENDING'), 'notSent'],
  ])('is not sent when the provider shows what was collected as %s: the collection is told', async (_, now, kind) => {
    shown = now;
    expect(await look()).toMatchObject({ kind });
    expect(doubted).toEqual(['col_2 C1']);
  });

  it.each<[string, StatusAnswer]>([
    ['has no answer', { kind: 'unavailable', reason: 'HTTP 500' }],
    ['refuses our credentials', { kind: 'unauthorized', message: 'who?', statusCode: 401 }],
    ['knows it no longer', { kind: 'unknown', message: 'unknown', statusCode: 404 }],
    ['was asked often enough', { kind: 'throttled', isOurs: true }],
  ])('is tried again when the provider %s', async (_, now) => {
    shown = now;
    expect(await look()).toMatchObject({ kind: 'notSent' });
    expect(doubted).toEqual([]);
  });

  it('is tried again when the worker has to stop while it looks', async () => {
    standing = () => new Promise(() => undefined);
    expect(await look(AbortSignal.timeout(50))).toMatchObject({ kind: 'notSent' });
  });
});
