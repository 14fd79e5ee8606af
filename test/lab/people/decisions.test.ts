import { describe, expect, it } from '@jest/globals';
import { decisionByBooks } from '../../../lab/people/decisions.js';
import { seededRandom } from '../../../lab/plan/seeded-random.js';
import type { Transaction } from '../../../lab/world/provider-books.js';

type Status = Transaction['status'];

const transaction = (status: Status, transId: string): Transaction => ({
  ...{ transId, status, amount: 5_000 },
  ...{ history: [{ status, at: 0 }], createdAt: 0, statusCalls: { answered: 0, throttled: 0 } },
});

describe('the decision that the books call for in a chaos run', () => {
  const decide = (statuses: readonly Status[], followed?: string) => {
    const transactions = statuses.map((status, nth) => transaction(status, `T${nth}`));
    return decisionByBooks(seededRandom(1, 'review'), { transId: followed }, transactions, []);
  };

  it.each([
    [['EXPIRED', 'CREATED', 'SUCCESSFUL'], 'T2'],
    [['FAILED', 'CREATED', 'PENDING'], 'T2'],
    [['EXPIRED', 'CREATED', 'EXPIRED'], 'T1'],
    [['EXPIRED', 'FAILED'], 'T1'],
  ] as const)('is for the one that has moved money, or may, before those that have ended: %j', (statuses, transId) => {
    expect(decide(statuses)).toEqual({ action: 'match', transId });
  });

  it('is made on the transaction that the payment follows, unless that may yet change by itself', () => {
    expect(decide(['CREATED'], 'T0')).toBeUndefined();
    expect(decide(['PENDING'], 'T0')).toBeUndefined();
    expect(decide(['SUCCESSFUL'], 'T0')).toEqual({ action: 'match', transId: 'T0' });
    expect(decide(['EXPIRED'], 'T0')).toEqual({ action: 'match', transId: 'T0' });
  });
});
