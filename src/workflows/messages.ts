import { defineSignal } from '@temporalio/workflow';
import type { Service } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';

/**
 * The names of the workflows, their inputs and their one signal: the contract between those who start them and the
 * workflows.
 */

/** The types of the workflows of payments. */
export const PAYMENT_WORKFLOW_TYPES = { link: 'collectByLink', direct: 'collectDirect', payout: 'payOut' } as const;

/** The one argument of every payment's workflow: all else stands in the book. */
export interface PaymentInput {
  readonly v: 1;
  readonly id: PaymentId;
}

/** Says that something was written into the book for a payment. What it is, the payment's next turn tells. */
export const bellSignal = defineSignal('bell');

/**
 * The workflow that makes the statement of a day, the schedule that starts it each day, and the steps that it takes.
 */
export const STATEMENT_WORKFLOW_TYPE = 'makeStatement';
export const STATEMENT_SCHEDULE_ID = 'daily-statement';

/**
 * After this time a statement that isn't made is given up; the next days' don't wait for it. It is longer than all of
 * its steps may wait together, which is 63 hours, so that what could be made is made.
 */
export const MAX_STATEMENT_RUN = '3 days';

/** The workflow that makes the statement of a day because somebody has asked for it. @param day such as `2026-11-21` */
export const statementWorkflowId = (day: string) => `statement-of-${day}`;

/** The same, of a day so far. Another one: whoever asks for the whole day must not get this. */
export const statementSoFarWorkflowId = (day: string) => `statement-of-${day}-so-far`;

/** The one argument of the workflow that makes a statement. */
export interface StatementInput {
  readonly v: 1;
  /** The day. Without it, the one that ended last when the schedule was due. */
  readonly day?: string | undefined;
  /** Makes it of the day so far, if that isn't over. */
  readonly soFar?: boolean | undefined;
}

/** One making of a statement. */
export interface StatementRun {
  readonly runId: string;
  readonly day: string;
  /**
   * When the day isn't over: the end of what the statement covers, in ms since the epoch. Such a statement only shows
   * what differs, and has no payment checked.
   */
  readonly until?: number | undefined;
}

/**
 * The steps of making a statement. Each is an activity that can be repeated: the book keeps its progress, and the
 * next worker continues from there.
 */
export interface StatementSteps {
  /** Asks for the balances at the beginning of this day, unless that is too long ago. */
  readBalances(day: string): Promise<void>;
  /** Reads the day's payments. */
  readPayments(run: StatementRun): Promise<void>;
  /** Has a service of the provider show its transactions of the day. */
  searchDay(run: StatementRun, service: Service): Promise<void>;
  /** Asks for the payments that the searches don't show, one by one. */
  lookUpPayments(run: StatementRun): Promise<void>;
  /** Compares, and looks again at whatever differs. */
  comparePayments(run: StatementRun): Promise<void>;
  /** Has payments that differ compare themselves with the provider's records, and shows operators what nobody knows. */
  followUp(run: StatementRun): Promise<void>;
  /** Keeps the statement. */
  publish(run: StatementRun): Promise<MadeStatement>;
}

/** The summary of a statement. */
export interface MadeStatement {
  readonly date: string;
  readonly version: number;
  readonly complete: boolean;
  readonly payments: number;
  readonly differences: number;
}

/**
 * The task queue for the steps of statements, separate from the payments' queue: a database or a provider that hangs
 * must not hold up a request that moves money.
 */
export function statementsQueue(paymentsQueue: string): string {
  return `${paymentsQueue}-statements`;
}

/** The types of all workflows at Temporal. */
export const EVERY_WORKFLOW_TYPE: readonly string[] = [
  ...Object.values(PAYMENT_WORKFLOW_TYPES),
  STATEMENT_WORKFLOW_TYPE,
];
