import { SERVICES, type Service } from '../payments/words/order.js';
import { PAYMENT_STATUSES, type PaymentStatus } from '../payments/words/payment.js';
import { dayAfter, doualaTime, isoTime, MINUTE_MS, startOf, TIME_ZONE } from '../payments/words/time.js';
import { describeGap, type Gap } from './day-search.js';
import { type Finding, movedBy, type StatementLine } from './reconciliation.js';

/**
 * The statement of a day: every payment that was created on it, what the provider shows, and what doesn't agree.
 * Amounts are in XAF.
 */
export interface Statement {
  /** The day in Cameroon, such as `2026-11-21`. */
  readonly date: string;
  /** 1 for the day's first; a statement that is made again gets the next one, and earlier ones are kept. */
  readonly version: number;
  readonly madeAt: string;
  readonly timeZone: typeof TIME_ZONE;
  readonly from: string;
  /** The end of the day or, if it wasn't over, of what the statement covers: its payments were created before it. */
  readonly to: string;
  /** The day was over, and the provider was asked for everything that it could show of it, and has answered. */
  readonly complete: boolean;
  readonly services: Readonly<Record<Service, ServiceStatement>>;
  readonly payments: readonly StatementLine[];
  readonly differences: readonly Difference[];
}

/** The ways in which a difference is handled. */
export const HANDLINGS = [
  /** The payment was compared with the provider's records again; `statusAfter` is its status afterwards. */
  'checked',
  /** The payment couldn't be compared again: `problem` says why. */
  'not_checked',
  /** A person decides, on the desk. */
  'under_review',
  /** It is among the unmatched notifications, on the desk. */
  'unmatched',
  /** It stands in the statement alone. */
  'noted',
] as const;
type Handling = (typeof HANDLINGS)[number];

export interface Difference extends Finding {
  readonly handling: Handling;
  /** The payment's status after it was checked. */
  readonly statusAfter?: PaymentStatus | undefined;
  readonly problem?: string | undefined;
}

/** One of the provider's services. */
export interface ServiceStatement {
  readonly totals: Totals;
  /** The provider's balances at the day's beginning and end; missing when nobody could ask then. */
  readonly opening?: MidnightBalance | undefined;
  readonly closing?: MidnightBalance | undefined;
  readonly change?: BalanceChange | undefined;
  readonly coverage: Coverage;
}

/** Time after midnight during which a balance still counts as midnight's, in ms. */
export const BALANCE_WINDOW_MS = 15 * MINUTE_MS;

/** A balance that the provider gave at midnight, and the time of its answer. */
export interface MidnightBalance {
  readonly balance: number;
  readonly asOf: string;
}

/**
 * The closing balance less the opening one, beside the sum of the day's payments. The rest isn't an error by itself: it
 * holds money of other days' payments, withdrawals, unknown fees, and movements that only the provider knows.
 */
export interface BalanceChange {
  readonly balance: number;
  /** Collections: their sum after the provider's fees. Payouts: their sum, negative. */
  readonly payments: number;
  readonly rest: number;
}

export interface Totals {
  readonly payments: number;
  readonly byStatus: Readonly<Record<PaymentStatus, Sum>>;
  /** Sum over SUCCESSFUL payments whose fee is known, in XAF. */
  readonly revenue: number;
  readonly fees: number;
  /** SUCCESSFUL payments whose fee the provider didn't tell. */
  readonly withoutFee: number;
}

export interface Sum {
  readonly count: number;
  /** In XAF. SUCCESSFUL: amounts moved. Otherwise: amounts ordered. */
  readonly amount: number;
}

/** The part of the provider's records of the day that was seen. */
export interface Coverage {
  readonly complete: boolean;
  /** Transactions that the search couldn't show, and the part of the day that was still to come, in words. */
  readonly gaps: readonly string[];
  /** Payments that the provider gave no answer about, or beyond the number that is asked for one by one. */
  readonly notCompared: number;
  /** There were more payments than a statement takes, and the rest is missing. */
  readonly cutOff: boolean;
}

/** The parts of a statement. */
export interface StatementParts {
  readonly date: string;
  readonly version: number;
  readonly madeAt: number;
  readonly payments: readonly StatementLine[];
  readonly differences: readonly Difference[];
  readonly gaps: Readonly<Record<Service, readonly Gap[]>>;
  readonly balances: Readonly<Record<Service, Pick<ServiceStatement, 'opening' | 'closing'>>>;
  readonly cutOff: boolean;
  /** If the day wasn't over: the end of what is covered, in ms since the epoch. */
  readonly until?: number | undefined;
}

export function toStatement(parts: StatementParts): Statement {
  const { date, version, madeAt, payments, differences, until = endOf(date) } = parts;
  const to = isoTime(until);
  return {
    date,
    version,
    madeAt: isoTime(madeAt),
    timeZone: TIME_ZONE,
    from: isoTime(startOf(date)),
    to,
    ...servicesOf({ ...parts, date, to }),
    payments,
    differences,
  };
}

/** Reports whether the day wasn't over when its statement was made. */
export function isSoFar({ date, to }: Pick<Statement, 'date' | 'to'>): boolean {
  return Date.parse(to) < endOf(date);
}

function endOf(date: string): number {
  return startOf(dayAfter(date));
}

/**
 * Selects one merchant's part of a statement: the services' balances, and unknown transactions, are the operator's
 * alone.
 */
export function statementOf(statement: Statement, merchant: string): Statement {
  const payments = statement.payments.filter((line) => line.merchant === merchant);
  const differences = statement.differences.filter((difference) => difference.merchant === merchant);
  const { cutOff } = statement.services.collection.coverage;
  const hidden = { gaps: { collection: [], payout: [] }, balances: { collection: {}, payout: {} } };
  return { ...statement, ...servicesOf({ ...statement, payments, cutOff, ...hidden }), payments, differences };
}

function servicesOf(
  parts: Pick<StatementParts, 'payments' | 'gaps' | 'balances' | 'cutOff'> & Pick<Statement, 'date' | 'to'>,
): Pick<Statement, 'complete' | 'services'> {
  const toCome = isSoFar(parts)
    ? [`the day from ${doualaTime(Date.parse(parts.to))} on: it wasn't over when this statement was made`]
    : [];
  const serviceOf = (service: Service): ServiceStatement => {
    const lines = parts.payments.filter(({ kind }) => kind === service);
    const totals = totalsOf(lines);
    const gaps = [...parts.gaps[service].map(describeGap), ...toCome];
    const notCompared = lines.filter(({ compared }) => !compared).length;
    const { cutOff } = parts;
    const complete = gaps.length === 0 && notCompared === 0 && !cutOff;
    const balances = parts.balances[service];
    const change = changeOf(service, totals, balances.opening, balances.closing);
    return { totals, ...balances, change, coverage: { complete, gaps, notCompared, cutOff } };
  };
  const services = { collection: serviceOf('collection'), payout: serviceOf('payout') };
  return { complete: SERVICES.every((service) => services[service].coverage.complete), services };
}

/** Sums up payments. */
function totalsOf(lines: readonly StatementLine[]): Totals {
  const sums = PAYMENT_STATUSES.map((status) => {
    const amounts = lines.filter((line) => line.status === status).map(movedBy);
    return [status, { count: amounts.length, amount: sumOf(amounts) }] as const;
  });
  const paid = lines.filter(({ status }) => status === 'SUCCESSFUL');
  const known = paid.filter(({ fee }) => fee !== undefined);
  return {
    payments: lines.length,
    byStatus: Object.fromEntries(sums) as Record<PaymentStatus, Sum>,
    revenue: sumOf(known.map(({ revenue = 0 }) => revenue)),
    fees: sumOf(known.map(({ fee = 0 }) => fee)),
    withoutFee: paid.length - known.length,
  };
}

/** Unknown while a balance is, or the revenue of a collection. */
function changeOf(
  service: Service,
  { byStatus, revenue, withoutFee }: Totals,
  opening: MidnightBalance | undefined,
  closing: MidnightBalance | undefined,
): BalanceChange | undefined {
  if (opening === undefined || closing === undefined) return undefined;
  if (service === 'collection' && withoutFee > 0) return undefined;
  const balance = closing.balance - opening.balance;
  const payments = service === 'collection' ? revenue : 0 - byStatus.SUCCESSFUL.amount;
  return { balance, payments, rest: balance - payments };
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
