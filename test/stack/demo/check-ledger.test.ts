import { describe, expect, it } from '@jest/globals';
import { ledgerProblems, strayTransactions } from '../../../stack/demo/check-ledger.js';
import { entry, payment, row, scenario } from './rows.js';

describe('the comparison with the ledger', () => {
  it('finds nothing when both say the same', () => {
    expect(ledgerProblems(row(), [entry(), entry({ externalId: 'col_2' })])).toEqual([]);
  });

  it('says nothing of a payment that never came to be', () => {
    const { payment: _, ...without } = row();
    expect(ledgerProblems(without, [])).toEqual([]);
  });

  it('finds a payment that the provider does not know', () => {
    expect(ledgerProblems(row(), [])).toEqual(['the provider has no transaction of it']);
  });

  it('finds money that moved twice', () => {
    expect(ledgerProblems(row(), [entry(), entry({ transId: 'T2' })])).toEqual([
      'the provider has 2 transactions of it',
    ]);
  });

  it.each([
    [{ transId: 'T9' }, 'the provider calls it T9, not T1'],
    [{ status: 'FAILED' }, 'the provider says FAILED, not SUCCESSFUL'],
    [{ amount: 4_999 }, 'the provider says 4999 XAF'],
    [{ transType: 'Payout' }, 'the provider says Payout'],
  ])('finds a difference: %j', (difference, problem) => {
    expect(ledgerProblems(row(), [entry(difference)])).toEqual([problem]);
  });

  it("asks for the scenario's own proof", () => {
    const strict = { ...scenario, proof: () => 'its webhook came after all' };
    expect(ledgerProblems(row({ scenario: strict }), [entry()])).toEqual(['its webhook came after all']);
  });

  it('finds transactions that belong to no payment', () => {
    const ledger = [
      entry(),
      entry({ transId: 'T3', externalId: 'col_9' }),
      entry({ transId: 'T4', externalId: undefined }),
    ];
    expect(strayTransactions([row({ payment })], ledger)).toEqual([
      'the provider has a transaction T3 that nobody asked for',
      'the provider has a transaction T4 that nobody asked for',
    ]);
  });
});
