import { z } from 'zod';
import { PAYMENT_STATUSES } from '../payments/words/payment.js';
import { TIME_ZONE } from '../payments/words/time.js';
import { MEDIUMS, PROVIDER_STATUSES } from '../payments/words/transaction.js';
import { DIFFERENCE_KINDS, type StatementLine } from '../reconciliation/reconciliation.js';
import {
  type BalanceChange,
  type Coverage,
  type Difference,
  HANDLINGS,
  type MidnightBalance,
  type ServiceStatement,
  type Statement,
  type Sum,
  type Totals,
} from '../reconciliation/statement.js';
import { described, schemaOf, time, xaf } from './fields.js';
import { paymentId, paymentSchema } from './payment.js';

const statementSummaryFields = {
  date: described(z.string().meta({ format: 'date' }), 'The day in Douala'),
  version: described(z.int(), 'Grows each time that the statement of the day is made'),
  madeAt: time,
  complete: described(
    z.boolean(),
    '`true` when the day was over, and the provider has answered every question and could show everything',
  ),
};

export const statementListSchema = z
  .object({
    data: described(
      z.array(
        z
          .object({
            ...statementSummaryFields,
            payments: described(z.int().optional(), 'For operators: how many payments it has'),
            differences: described(z.int().optional(), 'For operators: how many differences it has'),
          })
          .meta({ id: 'StatementSummary' }),
      ),
      'The newest day first',
    ),
    hasMore: described(z.boolean(), '`true` when there are earlier ones'),
  })
  .meta({ id: 'StatementList' });

const sumSchema = schemaOf<Sum>()({
  count: z.int(),
  amount: xaf('The sum of their amounts; for SUCCESSFUL payments, of the amounts moved'),
}).meta({ id: 'Sum' });

const totalsSchema = schemaOf<Totals>()({
  payments: described(z.int(), 'The number of payments'),
  byStatus: z.object({
    CREATED: sumSchema,
    PENDING: sumSchema,
    SUCCESSFUL: sumSchema,
    FAILED: sumSchema,
    EXPIRED: sumSchema,
    REVIEW: sumSchema,
  }),
  revenue: xaf("The sum of SUCCESSFUL payments after the provider's fees, where these are known"),
  fees: xaf('The sum of these fees'),
  withoutFee: described(z.int(), "SUCCESSFUL payments whose fee the provider didn't tell"),
}).meta({ id: 'StatementTotals' });

const midnightBalanceSchema = schemaOf<MidnightBalance>()({
  balance: xaf('The balance by the provider'),
  asOf: described(time, 'The time of that, within minutes of midnight in Douala'),
}).meta({ id: 'MidnightBalance' });

const serviceStatementSchema = schemaOf<ServiceStatement>()({
  totals: totalsSchema,
  opening: midnightBalanceSchema
    .optional()
    .describe('For operators: the balance at the beginning of the day. Missing when nobody could ask for it then'),
  closing: midnightBalanceSchema.optional().describe('For operators: the same at its end'),
  change: schemaOf<BalanceChange>()({
    balance: xaf('The closing balance less the opening one'),
    payments: xaf("The sum of the day's SUCCESSFUL payments: positive for collections, negative for payouts"),
    rest: xaf(
      "`balance` less `payments`: other days' payments, withdrawals, unknown fees, and movements that only the provider knows",
    ),
  })
    .meta({ id: 'BalanceChange' })
    .optional(),
  coverage: schemaOf<Coverage>()({
    complete: z.boolean(),
    gaps: described(
      z.array(z.string()).readonly(),
      "What is not covered, in words: the rest of a day that was not over and, for operators, what the provider's search could not show",
    ),
    notCompared: described(
      z.int(),
      'Payments without data: the provider gave no answer about them, or there were too many to ask for one by one',
    ),
    cutOff: described(z.boolean(), '`true` when there are more payments than a statement takes'),
  }).meta({ id: 'StatementCoverage' }),
}).meta({ id: 'ServiceStatement' });

const statementLineSchema = schemaOf<StatementLine>()({
  id: paymentId,
  merchant: z.string(),
  kind: paymentSchema.shape.kind,
  status: described(z.enum(PAYMENT_STATUSES), 'At the time of the statement'),
  final: z.boolean(),
  amount: paymentSchema.shape.amount,
  amountPaid: paymentSchema.shape.amountPaid,
  revenue: xaf("The amount after the provider's fee").optional(),
  fee: xaf('The amount that moved, less `revenue`; missing when the provider did not give it').optional(),
  transId: z.string().optional(),
  financialTransId: z.string().optional(),
  medium: z.enum(MEDIUMS).optional(),
  externalId: z.string().optional(),
  refundOf: paymentSchema.shape.refundOf,
  createdAt: time,
  providerStatus: z.enum(PROVIDER_STATUSES).optional(),
  providerAmount: xaf('As the provider shows it').optional(),
  compared: described(z.boolean(), '`true` when the provider has answered for it'),
}).meta({ id: 'StatementLine', description: 'A payment. Its payer is not named' });

const differenceSchema = schemaOf<Difference>()({
  kind: z.enum(DIFFERENCE_KINDS),
  service: paymentSchema.shape.kind,
  paymentId: z.string().optional(),
  merchant: z.string().optional(),
  transId: z.string().optional(),
  status: described(z.enum(PAYMENT_STATUSES).optional(), 'As the payment had it'),
  amount: xaf("The payment's amount: ordered, or moved").optional(),
  providerStatus: described(z.enum(PROVIDER_STATUSES).optional(), 'As the provider shows it'),
  providerAmount: xaf('As the provider shows it').optional(),
  externalId: described(z.string().optional(), 'The order number on a transaction that belongs to no payment'),
  text: described(z.string(), 'The same in words'),
  handling: described(
    z.enum(HANDLINGS),
    "The handling: the payment was compared with the provider's records again (`checked`, with `statusAfter`) or couldn't be (`not_checked`, with `problem`), a person has to decide it (`under_review`), or a transaction is among the unmatched notifications (`unmatched`) or stands here alone (`noted`)",
  ),
  statusAfter: z.enum(PAYMENT_STATUSES).optional(),
  problem: z.string().optional(),
}).meta({ id: 'StatementDifference' });

export const statementSchema = schemaOf<Statement & { readonly object: 'statement' }>()({
  object: z.literal('statement'),
  ...statementSummaryFields,
  timeZone: z.literal(TIME_ZONE),
  from: described(time, 'The beginning of the day'),
  to: described(time, 'The end of the day or, when it was not over, of what is covered: later payments are missing'),
  services: z.object({ collection: serviceStatementSchema, payout: serviceStatementSchema }),
  payments: described(z.array(statementLineSchema).readonly(), 'In the order of their creation'),
  differences: z.array(differenceSchema).readonly(),
}).meta({ id: 'Statement', description: 'The statement of a day' });

export const statementRequestSchema = z
  .object({
    object: z.literal('statement_request'),
    date: z.string().meta({ format: 'date' }),
    version: described(z.int(), 'The version that it will have'),
  })
  .meta({
    id: 'StatementBeingMade',
  });
