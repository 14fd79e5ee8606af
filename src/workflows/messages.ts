import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import { beginPayment, type LinkRequest } from '../payments/machine/beginning.js';
import type { CountedPayout, CountedPayouts } from '../payments/machine/counted-payouts.js';
import type { Actor, Approve, Checker } from '../payments/machine/events.js';
import type { CountedRefund, RefundAnswer, RefundReservation } from '../payments/machine/refunds.js';
import type { Timeline } from '../payments/views/timeline-entry.js';
import type { Force, Rejection, Resolution } from '../payments/words/decision.js';
import type { PaymentOrder, PaymentTerms, Service } from '../payments/words/order.js';
import type { ListAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { Payment } from '../payments/words/payment.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import type { ProviderStatus } from '../payments/words/transaction.js';

/**
 * The messages of the workflows (signals, queries and updates) and their types: the contract between the API and the
 * workflows. Beside the readers in schemas.ts, it is the only file of the workflows that others import.
 */

/** The names of the payment workflow types at Temporal. */
export const WORKFLOW_TYPES = ['collectByLink', 'collectDirect', 'payOut', 'reopenPayment'] as const;
export type PaymentWorkflowType = (typeof WORKFLOW_TYPES)[number];

/** The type of a run that reopens an ended payment. */
export const REOPENING: PaymentWorkflowType = 'reopenPayment';

/** The one argument of every payment workflow. */
export interface PaymentInput {
  readonly v: 1;
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** Digest of the request's body: it shows when an Idempotency-Key is repeated with another body. */
  readonly fingerprint: string;
  /** The API request that started the payment. */
  readonly requestId: string;
  /** The request for a link that the API has sent before it started the payment. */
  readonly requested?: LinkRequest | undefined;
  /** The state that the previous run ended with, after a continue-as-new or when an ended payment is reopened. */
  readonly carried?: PaymentState | undefined;
  /** The payment's timeline by then. */
  readonly timeline?: Timeline | undefined;
}

/** A payment as it is now. */
export interface PaymentResult {
  readonly payment: Payment;
  /** The provider's message when it rejected the initiation, so that it has no transaction for the payment. */
  readonly rejection?: string | undefined;
}

/** The state that an ended payment has left. `reopenPayment` is started with it, as `carried`. */
export interface EndedState {
  readonly state: PaymentState;
  readonly timeline?: Timeline | undefined;
}

/**
 * The state that a payment's run starts with.
 *
 * @param startedAt when the run was started, in ms since the epoch
 */
export function startState({ order, terms, carried, timeline, requested }: PaymentInput, startedAt: number) {
  if (carried !== undefined) return { state: carried, timeline };
  const begun = beginPayment(order, terms, startedAt, requested);
  return { state: begun.payment, timeline: begun.timeline };
}

/** The result of a payment workflow. */
export interface EndedPayment extends PaymentResult, EndedState {
  readonly v: 1;
}

/** A payment's workflow, whatever its type. */
export type PaymentWorkflow = (input: PaymentInput) => Promise<EndedPayment>;

/** Argument of {@link initiationUpdate}. */
export interface InitiationRequest {
  readonly fingerprint: string;
}

export interface InitiationReply extends PaymentResult {
  /** The request that started the payment: the caller's own when the payment is new, another's when it is repeated. */
  readonly requestId: string;
}

/**
 * The content of a provider's notification, which may lack either field: a reason to ask the provider, and no fact.
 */
export interface Hint {
  readonly transId?: TransId | undefined;
  readonly status?: ProviderStatus | undefined;
}

/** Reads the payment, and all that it would leave if it ended now. */
export const paymentQuery = defineQuery<EndedPayment, EndedRunArgument>('payment');

/**
 * The argument of a query for a run that has ended: the guard lets it pass ([query-guard.ts](query-guard.ts)).
 */
export const ENDED_RUN = 'ended';

type EndedRunArgument = [run?: typeof ENDED_RUN];

/** Wakes the payment to ask the provider. */
export const hintSignal = defineSignal<[Hint]>('hint');

/**
 * Answers when the provider's answer to the initiation is known, or while the payment is held. Sent with the start,
 * under {@link INITIATION_UPDATE_ID}. Rejected with {@link FINGERPRINT_MISMATCH} when the payment was started with
 * another body.
 */
export const initiationUpdate = defineUpdate<InitiationReply, [InitiationRequest]>('initiation');

/**
 * One id for all who ask for a payment, so that repetitions of a request cost no event. Anybody who gets another's
 * answer compares the bodies. An id can't tell bodies apart itself: it isn't encrypted, and a digest of a body can be
 * tried out on every phone number.
 */
export const INITIATION_UPDATE_ID = 'initiation';

/**
 * Answers when the payment is final. When the workflow continues as new, it answers earlier, with the payment as it is.
 * All waiting requests share one update id, so that any number of them costs as much as one.
 */
export const outcomeUpdate = defineUpdate<PaymentResult, []>('outcome');

/** Who sends a request to a payment. Temporal's own tools can leave it out. */
export interface RequestSource<By = Actor> {
  readonly by?: By | undefined;
}

/**
 * Expires a link now, or withdraws a payment that was not sent yet; answers with the payment afterwards. Rejected
 * with `NotALink`, `NotExpirable` or `NotInitiated`.
 */
export const expireUpdate = defineUpdate<PaymentResult, [RequestSource]>('expire');

/**
 * Asks the provider now, within the status budget; answers with the payment afterwards. Leaves a final payment alone.
 */
export const refreshUpdate = defineUpdate<PaymentResult, [RequestSource]>('refresh');

/** An answer of the provider, and when it came, in ms since the epoch. */
export interface Answered<Answer> {
  readonly answer: Answer;
  readonly at: number;
}

/** The provider's list of a payment's transactions, and the status of the one that it goes by. */
export interface ProviderView {
  readonly list: Answered<ListAnswer>;
  readonly status?: (Answered<StatusAnswer> & { readonly transId: TransId }) | undefined;
}

/**
 * Asks the provider on behalf of an operator who looks. The status counts in the payment's budget: while that has no
 * room, it is the latest that the payment has seen. What is seen decides nothing.
 */
export const lookUpdate = defineUpdate<ProviderView, []>('look');

/**
 * Compares a final payment with the provider's records again, for an operator who doubts it, or for the statement of
 * its day: a contradiction of the outcome puts it under review. Rejected with `NotChecked` when the provider's list
 * can't be read. A payment that isn't final is refreshed.
 */
export const recheckUpdate = defineUpdate<PaymentResult, [RequestSource<Checker>]>('recheck');

/**
 * Carries out an operator's decision, after checking it with the provider at this moment, or keeps it for a second
 * person. Rejected with `NotUnderReview`, or with `ResolutionRefused` and the reason, and {@link RefusalDetails} where
 * the operator can insist.
 */
export const resolveUpdate = defineUpdate<PaymentResult, [Resolution]>('resolve');

/** The details of a refused update's failure. */
export interface RefusalDetails {
  /** The objections that the decision has to overrule. */
  readonly force: Force;
  /** The amount of a match's transaction, where it differs from the order's; XAF. */
  readonly transactionAmount?: number | undefined;
}

/** Voids the decision that waits for a second person. Rejected like {@link resolveUpdate}. */
export const rejectUpdate = defineUpdate<PaymentResult, [Rejection]>('rejectDecision');

/**
 * Approves a held payout, or repeats that. Rejected with `NotHeld`, `SamePerson` or `OtherDigest`. The machine believes
 * who approves: the API names the person.
 */
export const approveUpdate = defineUpdate<PaymentResult, [Approve]>('approve');

/** Argument of {@link rejectPayoutUpdate}: a person, and the reason. */
export interface PayoutRejection {
  readonly by: string;
  readonly why: string;
}

/** Stops a held payout; answers when it has ended, or a person has to look. Rejected with `NotHeld`. */
export const rejectPayoutUpdate = defineUpdate<PaymentResult, [PayoutRejection]>('reject');

/** Argument of {@link resendNotificationUpdate}. */
export interface NotificationToResend extends RequestSource {
  readonly number: number;
}

/** Delivers a notification again, even one that was delivered before. Rejected with `NoSuchNotification`. */
export const resendNotificationUpdate = defineUpdate<PaymentResult, [NotificationToResend]>('resendNotification');

/**
 * A notification from the provider that matches no payment or can't be read, or a transaction that no payment knows;
 * `at` is when it arrived or was found, ISO 8601.
 */
export interface UnmatchedNotification extends Hint {
  readonly at: string;
  readonly externalId?: string | undefined;
  /** The beginning of one that can't be read, as it came. */
  readonly unread?: string | undefined;
  /** The day whose statement has found it. It wasn't notified of, but shown by the provider itself. */
  readonly statement?: string | undefined;
}

/** Time of a notification that a payment has been given since, as {@link UnmatchedNotification} has it. */
export type MatchedNotification = Pick<UnmatchedNotification, 'at' | 'transId' | 'externalId'>;

/** The one argument of the workflow that keeps unmatched notifications. */
export interface UnmatchedInput {
  readonly v: 1;
  readonly kept: readonly UnmatchedNotification[];
}

/** The one workflow that keeps unmatched notifications; it is started with the first. */
export const UNMATCHED_WORKFLOW = { type: 'keepUnmatched', id: 'unmatched-notifications' } as const;
export const unmatchedSignal = defineSignal<[UnmatchedNotification]>('unmatched');
/** Drops the notifications about a transaction or a payment that was found after all. */
export const matchedSignal = defineSignal<[MatchedNotification]>('matched');
export const unmatchedQuery = defineQuery<readonly UnmatchedNotification[], EndedRunArgument>('unmatched');

/** A restore of Temporal from a backup. */
export interface RestoreInput {
  readonly v: 1;
  /** ms since the epoch */
  readonly restoredAt: number;
}

/** The workflow that keeps the latest restore, whose time is in its memo, too. */
export const RESTORE_WORKFLOW = { type: 'keepRestore', id: 'temporal-restored' } as const;

/** The workflow that counts a merchant's payouts of one day; it is started with the first. */
export const PAYOUT_LIMIT_WORKFLOW_TYPE = 'limitPayouts';

/** @param day such as `2026-11-21` */
export const payoutLimitWorkflowId = (merchant: string, day: string) => `payouts-of-${merchant}-on-${day}`;

/** The activities of the workflow that counts payouts. */
export interface PayoutLimitSteps {
  /** @param day such as `2026-11-21` */
  orderedPayouts(merchant: string, day: string): Promise<CountedPayouts>;
}

/** The one argument of the workflow that counts payouts. */
export interface PayoutLimitInput {
  readonly v: 1;
  readonly merchant: string;
  /** Such as `2026-11-21`. */
  readonly day: string;
  /** Time at which it may end, in ms since the epoch. */
  readonly until: number;
  /** The count of the previous run, after a continue-as-new. */
  readonly carried?: CountedPayouts | undefined;
}

/** Argument of {@link countPayoutsUpdate}: payouts, and the limit of the day, in XAF. */
export interface PayoutsToCount {
  readonly payouts: readonly CountedPayout[];
  readonly max: number;
}

/**
 * Whether each payout was counted, by its place in the update, and the sum of the day's so far, in XAF. The others
 * would have exceeded the limit.
 */
export interface PayoutCount {
  readonly isAccepted: readonly boolean[];
  readonly total: number;
}

/** Counts payouts, in their order. To send it again adds nothing. */
export const countPayoutsUpdate = defineUpdate<PayoutCount, [PayoutsToCount]>('countPayouts');

/** The workflow that keeps the refunds of a collection; it is started with the first. */
export const REFUNDS_WORKFLOW_TYPE = 'keepRefunds';

export const refundsWorkflowId = (collection: PaymentId) => `refunds-of-${collection}`;

/** The one argument of the workflow that keeps refunds. */
export interface RefundsInput {
  readonly v: 1;
  readonly collection: PaymentId;
  /** The refunds of the previous run, after a continue-as-new. */
  readonly carried?: readonly CountedRefund[] | undefined;
}

/** Reserves room for a refund. To send it again is the same reservation. */
export const reserveRefundUpdate = defineUpdate<RefundAnswer, [RefundReservation]>('reserveRefund');
export const refundsQuery = defineQuery<readonly CountedRefund[], EndedRunArgument>('refunds');

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
 * The steps of making a statement. Each is an activity that can be repeated: the records keep its progress, and the
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

/** Type of the ApplicationFailure that a repeated request with another body is rejected with. */
export const FINGERPRINT_MISMATCH = 'FingerprintMismatch';

/**
 * The task queue for slow deliveries to the merchant, separate from the payments' queue, so that an endpoint that is
 * down never holds up a request that moves money.
 */
export function notificationsQueue(paymentsQueue: string): string {
  return `${paymentsQueue}-notifications`;
}

/** The types of all workflows at Temporal. */
export const EVERY_WORKFLOW_TYPE: readonly string[] = [
  ...WORKFLOW_TYPES,
  UNMATCHED_WORKFLOW.type,
  PAYOUT_LIMIT_WORKFLOW_TYPE,
  REFUNDS_WORKFLOW_TYPE,
  RESTORE_WORKFLOW.type,
  STATEMENT_WORKFLOW_TYPE,
];
