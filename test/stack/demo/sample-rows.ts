import type { LedgerEntry } from '../../../stack/demo/ledger.js';
import type { PaymentAnswer } from '../../../stack/demo/merchant.js';
import type { Row } from '../../../stack/demo/run-scenario.js';
import type { Scenario } from '../../../stack/demo/scenarios.js';

export const scenario: Scenario = {
  name: 'link, paid',
  path: '/v1/collections',
  body: { method: 'link', amount: 5_000 },
  expected: 'SUCCESSFUL',
};

export const payment: PaymentAnswer = {
  id: 'col_1',
  kind: 'collection',
  method: 'link',
  status: 'SUCCESSFUL',
  final: true,
  amount: 5_000,
  transId: 'T1',
  temporalUrl: 'http://127.0.0.1:8233/namespaces/default/workflows/col_1',
};

/** A row that came out as it should, but for what is given. */
export const row = (given: Partial<Row> = {}): Row => ({
  scenario,
  payment,
  ms: 1_234,
  events: 17,
  done: true,
  problems: [],
  ...given,
});

/** The provider's account of {@link payment}, but for what is given. */
export const entry = (given: Partial<LedgerEntry['transaction']> = {}): LedgerEntry => ({
  transaction: {
    transId: 'T1',
    status: 'SUCCESSFUL',
    amount: 5_000,
    transType: 'Collection',
    externalId: 'col_1',
    ...given,
  },
  attempts: [{ action: 'pay' }],
  notifications: [{ status: 'SUCCESSFUL', acknowledged: true }],
});
