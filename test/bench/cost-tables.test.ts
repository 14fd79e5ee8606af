import { describe, expect, it } from '@jest/globals';
import type { PaymentCost } from './cost-meter.js';
import { costTables, expectedBudget, readBudgets, toBudget, WRITTEN_BY } from './cost-tables.js';

const cost: PaymentCost = {
  ...{ events: 17, workflowTasks: 2, actions: 8, historyBytes: 7_640, stateTransitions: 6 },
  ...{ providerCalls: 2, apiCalls: 2, workerCalls: 2, notifications: 1 },
};
const budget = toBudget(cost);

describe('the budget of a payment', () => {
  it('is what was counted, with some room for bytes alone', () => {
    expect(budget).toEqual({ ...cost, historyBytes: 7_800 });
    expect(expectedBudget(cost, budget)).toEqual(budget);
    expect(expectedBudget({ ...cost, historyBytes: 7_655 }, budget)).toEqual(budget);
  });

  it.each(['events', 'workflowTasks', 'actions', 'providerCalls', 'apiCalls', 'workerCalls'] as const)(
    'is exceeded by one more of %s, and wrong with one less',
    (name) => {
      for (const more of [1, -1]) {
        expect(expectedBudget({ ...cost, [name]: cost[name] + more }, budget)).not.toEqual(budget);
      }
    },
  );

  it('is exceeded by more bytes, and wrong when it is far above them', () => {
    expect(expectedBudget({ ...cost, historyBytes: 7_801 }, budget)).not.toEqual(budget);
    expect(expectedBudget({ ...cost, historyBytes: 7_000 }, budget)).not.toEqual(budget);
  });

  it('is read from the document as it is written there', () => {
    const budgets = new Map([
      ['link, paid', { ...budget, stateTransitions: 4 }],
      ['payout, paid', budget],
    ]);
    const tables = costTables(budgets, new Map([['link, paid', 24]]));
    const document = `| A | table |\n<!-- ${WRITTEN_BY}: begin -->\n\n${tables}\n\n<!-- ${WRITTEN_BY}: end -->\n\nThe rest.`;
    expect(readBudgets(document)).toEqual(budgets);
  });
});
