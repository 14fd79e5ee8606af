import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { paymentId, transId } from '../book/columns.js';
import type { DayPayments } from '../book/day-payments.js';
import { difference, finding, object, paymentFields, statementLine } from '../book/statement-content.js';
import type { StatementPart } from '../book/statements.js';
import { stateSchemas } from '../payments/machine/state-schema.js';
import type { Service } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { PHONE_MEDIUMS, PROVIDER_STATUSES, type SearchedTransaction } from '../payments/words/transaction.js';
import {
  BEGUN_SEARCH,
  type DaySearch,
  type Gap,
  SEARCHED_MEDIUMS,
  SEARCHED_STATUSES,
  type Slice,
} from '../reconciliation/day-search.js';
import type { DayPayment } from '../reconciliation/reconciliation.js';
import type { Difference } from '../reconciliation/statement.js';
import type { DayComparison } from './day-comparison.js';

/** The parts that a run keeps while it makes a statement. */

const amount = z.number().optional();
const status = z.enum(PROVIDER_STATUSES);

const { searchedTransaction } = stateSchemas();

const search = object<DaySearch>({
  range: z.enum(['day', 'around']),
  open: z.array(
    object<Slice>({
      filters: object<Slice['filters']>({
        status: z.enum(SEARCHED_STATUSES).optional(),
        medium: z.enum(SEARCHED_MEDIUMS).optional(),
        amount,
      }),
      newest: z.array(transId).optional(),
    }),
  ),
  gaps: z.array(
    object<Gap>({
      status: status.optional(),
      medium: z.enum([...PHONE_MEDIUMS, 'another']).optional(),
      amount: z.union([z.number(), z.literal('another')]).optional(),
      why: z.enum(['full', 'unreadable', 'limit', 'unanswered']),
    }),
  ),
  asked: z.number(),
  byAmount: z.boolean(),
});

/** The day's payments before the provider was asked. */
export const PAYMENTS: StatementPart<DayPayments> = {
  name: 'payments',
  schema: object<DayPayments>({
    payments: z.array(object<DayPayment>({ ...paymentFields, createdAt: z.number() })),
    cutOff: z.boolean(),
  }),
  empty: { payments: [], cutOff: false },
};

/** Progress of a service's search, with the transactions of the day found so far. */
export interface SearchPart {
  readonly search: DaySearch;
  readonly found: readonly SearchedTransaction[];
}

const searchOf = (service: Service): StatementPart<SearchPart> => ({
  name: `search of ${service}`,
  schema: object<SearchPart>({ search, found: z.array(searchedTransaction) }),
  empty: { search: BEGUN_SEARCH, found: [] },
});
export const SEARCHES = { collection: searchOf('collection'), payout: searchOf('payout') };

/** The provider's lists, payment by payment; `null` where it refused. */
export const LISTS: StatementPart<(readonly [PaymentId, readonly SearchedTransaction[] | null])[]> = {
  name: 'lists',
  schema: z.array(z.tuple([paymentId, z.array(searchedTransaction).nullable()])),
  empty: [],
};

type Comparison = DayComparison & Pick<DayPayments, 'cutOff'>;

export const COMPARISON: StatementPart<Comparison | undefined> = {
  name: 'comparison',
  schema: object<Comparison>({
    lines: z.array(statementLine),
    findings: z.array(finding),
    cutOff: z.boolean(),
  }),
  empty: undefined,
};

/** The comparison's findings, with what was done about them. */
export const DIFFERENCES: StatementPart<readonly Difference[] | undefined> = {
  name: 'list of differences',
  schema: z.array(difference),
  empty: undefined,
};

/**
 * Returns a part without which there is no statement: one that was compared with nothing would look like that of a day
 * on which nothing happened. It is missing when somebody has completed its step by hand, or reset the run after it.
 *
 * @throws ApplicationFailure
 */
export function keptPart<Value>(part: Value | undefined, { name }: StatementPart<Value | undefined>): Value {
  if (part !== undefined) return part;
  throw ApplicationFailure.nonRetryable(`the ${name} of this run was never made: make the statement again`, 'NotMade');
}
