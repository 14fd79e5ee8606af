import { describe, expect, it } from '@jest/globals';
import type { PaymentAnswer } from '../../../stack/demo/merchant.js';
import {
  ledgerProblems,
  resultOf,
  runScenario,
  type ScenarioContext,
  strayTransactions,
} from '../../../stack/demo/run-scenario.js';
import type { Scenario } from '../../../stack/demo/scenarios.js';
import { entry, payment, row, scenario } from './sample-rows.js';

const created: PaymentAnswer = { ...payment, status: 'CREATED', final: false };

/** A context in which the payment comes to `outcome`, and the merchant is notified of `notice`. */
function contextOf(outcome: PaymentAnswer, notice: PaymentAnswer = outcome, requests: unknown[] = []): ScenarioContext {
  const refuse = () => Promise.reject(new Error('not in this scenario'));
  return {
    merchant: {
      async create(...request) {
        requests.push(request);
        return created;
      },
      async waitUntil(_, __, { onLook = () => undefined }) {
        onLook(outcome);
        return outcome;
      },
      get: refuse,
      expire: refuse,
    },
    hook: { notices: () => [{ type: 'payment.succeeded', data: notice }] },
    actions: { pay: refuse, decline: refuse, seen: refuse, expire: refuse, loseNotifications: refuse },
    paymentOf: async (name) => ({ ...payment, id: `col_of_${name}` }),
    countEvents: async () => 17,
    run: 'run1',
    onChange: () => undefined,
  };
}

describe('a scenario', () => {
  it('is right when the payment ends as it says, and the merchant knows', async () => {
    const row = await runScenario(scenario, contextOf(payment));
    expect(row).toMatchObject({ payment, events: 17, done: true, problems: [] });
    expect(row.ms).toBeGreaterThanOrEqual(0);
  });

  it('asks for its payment, with a key of this run', async () => {
    const requests: unknown[] = [];
    await runScenario(scenario, contextOf(payment, payment, requests));
    expect(requests).toEqual([[scenario.path, scenario.body, 'run1 link, paid']]);
  });

  it('refunds the payment of another', async () => {
    const requests: unknown[] = [];
    const refund: Scenario = { ...scenario, path: '/v1/collections/:id/refunds', refundOf: 'first' };
    await runScenario(refund, contextOf(payment, payment, requests));
    expect(requests).toEqual([['/v1/collections/col_of_first/refunds', scenario.body, 'run1 link, paid']]);
  });

  it('is wrong when the payment ends otherwise', async () => {
    const row = await runScenario(scenario, contextOf({ ...payment, status: 'FAILED' }));
    expect(row).toMatchObject({ done: true, problems: ['FAILED instead of SUCCESSFUL'] });
  });

  it('is wrong when the merchant was notified of another outcome only', async () => {
    const row = await runScenario(scenario, contextOf(payment, { ...payment, status: 'FAILED', final: false }));
    expect(row.problems).toEqual(['the merchant was not notified of the outcome']);
  });

  it('is wrong when somebody in it cannot do their part', async () => {
    const unpaid: Scenario = { ...scenario, act: (_, { pay }) => pay('link', '677000000') };
    const row = await runScenario(unpaid, contextOf(payment));
    expect(row).toMatchObject({ done: true, problems: ['not in this scenario'] });
  });
});

describe('the comparison with the ledger', () => {
  it('finds nothing when both say the same', () => {
    expect(ledgerProblems(row(), [entry(), entry({ externalId: 'col_2' })])).toEqual([]);
  });

  it('says nothing of a payment that never came to be', () => {
    const { payment: _, ...without } = row();
    expect(ledgerProblems(without, [])).toEqual([]);
  });

  it('finds a payment that the provider does not know', () => {
    expect(ledgerProblems(row(), [])).toEqual(['the provider has no transaction for it']);
  });

  it('finds money that moved twice', () => {
    expect(ledgerProblems(row(), [entry(), entry({ transId: 'T2' })])).toEqual([
      'the provider has 2 transactions for it',
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
    const strict = { ...scenario, proof: () => 'its webhook arrived after all' };
    expect(ledgerProblems(row({ scenario: strict }), [entry()])).toEqual(['its webhook arrived after all']);
  });

  it('finds transactions that belong to no payment', () => {
    const ledger = [
      entry(),
      entry({ transId: 'T3', externalId: 'col_9' }),
      entry({ transId: 'T4', externalId: undefined }),
    ];
    expect(strayTransactions([row({ payment })], ledger)).toEqual([
      'the provider has a transaction T3 that was never requested',
      'the provider has a transaction T4 that was never requested',
    ]);
  });
});

describe("the demo's result", () => {
  it('is good when every payment ended as its scenario says', () => {
    expect(resultOf([row(), row()], [], 16_240)).toEqual({
      ok: true,
      problems: [],
      summary: "all 2 payments ended as their scenario says, and the provider's ledger agrees (16.2 s)",
    });
  });

  it('is bad when one did not, and says which', () => {
    const result = resultOf([row(), row({ problems: ['FAILED instead of SUCCESSFUL'] })], [], 1_000);
    expect(result).toEqual({
      ok: false,
      problems: ['link, paid: FAILED instead of SUCCESSFUL'],
      summary: '1 of 2 payments ended as their scenario says (1.0 s)',
    });
  });

  it('is bad when the provider moved money that was never requested', () => {
    expect(resultOf([row()], ['a stray'], 0)).toMatchObject({ ok: false, problems: ['a stray'] });
  });

  it('is bad when a payment has not come to its end', () => {
    expect(resultOf([row({ done: false })], [], 0).ok).toBe(false);
  });
});
