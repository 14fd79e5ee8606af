import { z } from 'zod';
import { SERVICES } from '../payments/words/order.js';
import { PAYMENT_STATUSES } from '../payments/words/payment.js';
import { TIME_ZONE } from '../payments/words/time.js';
import { MEDIUMS, PROVIDER_STATUSES } from '../payments/words/transaction.js';
import { DIFFERENCE_KINDS, type Finding, type StatementLine } from '../reconciliation/reconciliation.js';
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
import { paymentId, transId } from './columns.js';

/**
 * A statement as it is kept: lines of JSON. The first has all but payments and differences, the others some of these.
 */

type Fields<T> = { readonly [Field in keyof T]-?: z.ZodType<T[Field]> };

/** The schema of an object, with all fields of its type. Fields that only another version knows are kept. */
export function object<T extends object>(fields: Fields<T>): z.ZodType<T> {
  return z.looseObject(fields) as unknown as z.ZodType<T>;
}

const text = z.string();
const maybeText = text.optional();
const flag = z.boolean();
const count = z.int();
const amount = z.number();
const service = z.enum(SERVICES);
const status = z.enum(PAYMENT_STATUSES);
const medium = z.enum(MEDIUMS).optional();

const shown = { providerStatus: z.enum(PROVIDER_STATUSES).optional(), providerAmount: amount.optional() };

/** The fields of a payment that a day's list has, too. */
export const paymentFields = {
  id: paymentId,
  merchant: text,
  kind: service,
  status,
  final: flag,
  amount,
  amountPaid: amount.optional(),
  transId: transId.optional(),
  externalId: maybeText,
  refundOf: paymentId.optional(),
};

export const statementLine = object<StatementLine>({
  ...paymentFields,
  revenue: amount.optional(),
  fee: amount.optional(),
  financialTransId: maybeText,
  medium,
  createdAt: text,
  ...shown,
  compared: flag,
});

const findingFields = {
  kind: z.enum(DIFFERENCE_KINDS),
  service,
  paymentId: paymentId.optional(),
  merchant: maybeText,
  transId: transId.optional(),
  status: status.optional(),
  amount: amount.optional(),
  ...shown,
  externalId: maybeText,
  text,
};
export const finding = object<Finding>(findingFields);
export const difference = object<Difference>({
  ...findingFields,
  handling: z.enum(HANDLINGS),
  statusAfter: status.optional(),
  problem: maybeText,
});

const balance = object<MidnightBalance>({ balance: amount, asOf: text }).optional();
const serviceStatement = object<ServiceStatement>({
  totals: object<Totals>({
    payments: count,
    byStatus: z.record(status, object<Sum>({ count, amount })),
    revenue: amount,
    fees: amount,
    withoutFee: count,
  }),
  opening: balance,
  closing: balance,
  change: object<BalanceChange>({ balance: amount, payments: amount, rest: amount }).optional(),
  coverage: object<Coverage>({ complete: flag, gaps: z.array(text), notCompared: count, cutOff: flag }),
});
export const firstPiece = object<Omit<Statement, 'payments' | 'differences'>>({
  date: text,
  version: count,
  madeAt: text,
  timeZone: z.literal(TIME_ZONE),
  from: text,
  to: text,
  complete: flag,
  services: object<Statement['services']>({ collection: serviceStatement, payout: serviceStatement }),
});
export const furtherPiece = z.object({
  payments: z.array(statementLine).default([]),
  differences: z.array(difference).default([]),
});

/** Payments, or differences, in one piece: it takes some milliseconds to write or to read. */
const MAX_ELEMENTS = 500;

export function* piecesOf({ payments, differences, ...rest }: Statement): Generator<object> {
  yield rest;
  for (const [name, list] of Object.entries({ payments, differences })) {
    for (let from = 0; from < list.length; from += MAX_ELEMENTS) {
      yield { [name]: list.slice(from, from + MAX_ELEMENTS) };
    }
  }
}
