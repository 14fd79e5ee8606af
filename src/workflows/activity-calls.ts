import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/activities.js';
import type { MerchantNotification } from '../activities/merchant.js';
import { type DeliveryOutcome, HELD_BACK } from '../payments/machine/notification.js';
import { COLLECTION_LOOK_MS, FIRST_LOOK_MS, type SentIf } from '../payments/machine/sending.js';
import {
  type DirectOrder,
  type LinkOrder,
  type PaymentOrder,
  type PaymentTerms,
  type PayoutOrder,
  refundOf,
  serviceOf,
} from '../payments/words/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, NoAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { TransId } from '../payments/words/payment-id.js';
import { DECRYPTION_FAILURE } from '../temporal/failure-converter.js';
import { notificationsQueue } from './messages.js';
import { deliveryOutcome, initiationOutcome } from './schemas.js';

/** Time that an activity may take beyond the provider's time limit before its worker counts as lost, in ms. */
const MARGIN_MS = 5_000;

/** Time limit of one try to notify the merchant, in ms. */
const NOTIFY_TIMEOUT_MS = 10_000;

/**
 * Time limit for a request that moves money to wait for a worker, in ms. If no worker took it, it was certainly not
 * sent.
 */
const START_TIMEOUT_MS = 10 * 60_000;

/**
 * Time limit for a notification to wait for a worker, in ms. One that waits longer is made anew, from the payment as it
 * is.
 */
const FRESH_MS = 5_000;

/** Each activity runs once: the payment machine decides what happens next, not Temporal's retries. */
const ONCE = { maximumAttempts: 1 };

/** Temporal repeats, without an event of history, a notification that had no turn, and one whose worker was lost. */
const WHILE_HELD_BACK = {
  initialInterval: 1_000,
  backoffCoefficient: 2,
  maximumAttempts: 4,
  nonRetryableErrorTypes: [DECRYPTION_FAILURE],
};

/**
 * The activities that a payment calls, by their business names, with the time limits of the payment's terms.
 *
 * Requests that move money are normal activities that are never retried: Temporal hands each to a worker at most once,
 * so a worker that dies leaves a time-out, which is an ambiguous outcome, and not a second POST. Questions are local
 * activities: they cost one event instead of six, and may safely be asked twice. So is making a link: a link that
 * nobody was given can't be paid.
 */
export function activityCalls(terms: PaymentTerms) {
  const startToCloseTimeout = terms.providerTimeoutMs + MARGIN_MS;
  const question = (summary: string): LocalActivities =>
    proxyLocalActivities<Activities>({ startToCloseTimeout, retry: ONCE, summary });
  const moveMoney = (
    order: DirectOrder | PayoutOrder,
    when: SentIf,
    summary: string,
    send: (activities: MoneyActivities) => Promise<InitiationOutcome>,
  ) => {
    const looks = firstLook(when, terms) + (refundOf(order) === undefined ? 0 : COLLECTION_LOOK_MS);
    return initiation(sendMoney(startToCloseTimeout + looks, summary, send), () => mayHaveBeenSent(order));
  };

  /** Only links expire. Otherwise it throws: the task fails and is retried. */
  const expiring = ({ kind }: PaymentOrder): LocalActivities => {
    if (kind !== 'link') throw new Error('only a payment link can be expired');
    return question('Expire the link');
  };

  /** Whether an earlier run may have sent the payment's request. */
  const mayHaveBeenReset = (): Promise<boolean> =>
    trueOnFailure(
      question('Find out whether the workflow was reset').mayHaveBeenReset(workflowInfo().firstExecutionRunId),
    );
  const lookUp = (order: PaymentOrder): Promise<ListAnswer> =>
    answer(
      question('Look for the transaction').lookUp({
        service: serviceOf(order),
        paymentId: order.id,
        isDirect: order.kind === 'direct',
      }),
    );
  /** Whether the payment may have been sent, though this run doesn't know it. A link has been given to nobody. */
  const mayHaveBeenSent = async (order: PaymentOrder): Promise<boolean> =>
    (await mayHaveBeenReset()) || (order.kind !== 'link' && !isAbsent(await lookUp(order)));

  return {
    createLink: (order: LinkOrder) =>
      initiation(
        question('Create the payment link').initiatePay(order, workflowInfo().firstExecutionRunId),
        mayHaveBeenReset,
      ),
    mayHaveBeenReset,
    mayHaveBeenSent,
    requestOnPhone: (order: DirectOrder, when: SentIf) =>
      moveMoney(order, when, "Send the request to the payer's phone", ({ directPay }) => directPay(order, when)),
    sendPayout: (order: PayoutOrder, when: SentIf, heldSince?: number) =>
      moveMoney(order, when, 'Send the payout', ({ payOut }) => {
        if (refundOf(order) !== undefined) return payOut(order, when, heldSince ?? null, true);
        // An argument that is undefined would be null in the history.
        return heldSince === undefined ? payOut(order, when) : payOut(order, when, heldSince);
      }),

    askStatus: (order: PaymentOrder, transId: TransId): Promise<StatusAnswer> =>
      answer(question('Ask the provider for the status').paymentStatus(serviceOf(order), transId, Date.now())),
    expireLink: (order: PaymentOrder, transId: TransId): Promise<ExpiryAnswer> =>
      answer(expiring(order).expirePay(transId)),
    /** Expires a link that nobody was given, as far as this run knows. */
    expireUnissued: (order: PaymentOrder, transId: TransId): Promise<ExpiryAnswer> =>
      answer(expiring(order).expireUnissued(transId, workflowInfo().firstExecutionRunId)),
    lookUp,
    notify,
  };
}

export type ActivityCalls = ReturnType<typeof activityCalls>;

type LocalActivities = ReturnType<typeof proxyLocalActivities<Activities>>;

type MoneyActivities = ReturnType<typeof proxyActivities<Activities>>;

/**
 * Notifies the merchant, on a queue of its own, so that an address that is down holds up nothing. Never a local
 * activity: that runs before it is certain that what the notification says will be in history. What has waited for a
 * worker for long is made anew.
 */
function notify(notification: MerchantNotification, tries: number): Promise<DeliveryOutcome> {
  return delivery(
    proxyActivities<Activities>({
      startToCloseTimeout: NOTIFY_TIMEOUT_MS,
      scheduleToStartTimeout: FRESH_MS,
      retry: WHILE_HELD_BACK,
      summary: `Notify the merchant: ${notification.type}, try ${tries + 1}`,
      taskQueue: notificationsQueue(workflowInfo().taskQueue),
    }).notifyMerchant(notification),
  );
}

/** Time limit for the look at the provider's list before a request that moves money, in ms. */
function firstLook(when: SentIf, { providerTimeoutMs }: PaymentTerms): number {
  return when === 'unread' ? FIRST_LOOK_MS : providerTimeoutMs;
}

/**
 * Sends a request that moves money. Temporal drops every time limit of an activity that somebody pauses, and doesn't
 * set it again. Once all of them would be over, the request is given up: one that no worker has taken is taken back,
 * and won't be sent later.
 */
function sendMoney(
  startToCloseTimeout: number,
  summary: string,
  send: (activities: MoneyActivities) => Promise<InitiationOutcome>,
): Promise<InitiationOutcome> {
  const activities = proxyActivities<Activities>({
    startToCloseTimeout,
    scheduleToStartTimeout: START_TIMEOUT_MS,
    retry: ONCE,
    summary,
  });
  const givenUpAfter = START_TIMEOUT_MS + startToCloseTimeout + MARGIN_MS;
  return CancellationScope.withTimeout(givenUpAfter, () => send(activities));
}

/**
 * Reports whether the provider has nothing of the payment, as it says, or takes nothing with our credentials. Silence
 * is no answer.
 */
function isAbsent(answer: ListAnswer): boolean {
  return answer.kind === 'unauthorized' || (answer.kind === 'listed' && answer.transactions.length === 0);
}

/**
 * When an activity fails, it is unknown whether its request was sent, unless no worker ever took it or could decrypt
 * it. Nor has it asked then whether it was sent before.
 */
async function initiation(
  outcome: Promise<InitiationOutcome>,
  mayHaveBeenSent: () => Promise<boolean>,
): Promise<InitiationOutcome> {
  try {
    const read = initiationOutcome(await outcome, 'outcome');
    return read.kind === 'read' ? reportUnauthorized(read.value) : { kind: 'ambiguous', reason: BY_HAND };
  } catch (error) {
    const { reason, isUnstarted } = failureOf(error);
    if (!isUnstarted) return { kind: 'ambiguous', reason };
    return { kind: (await mayHaveBeenSent()) ? 'unchecked' : 'notSent', reason };
  }
}

/** Why an activity says nothing: anybody who reaches Temporal can complete one with anything. */
const BY_HAND = 'the activity was completed by hand';

/** Takes a failed activity for `true`: what it asks may be so. */
async function trueOnFailure(answered: Promise<boolean>): Promise<boolean> {
  try {
    return await answered;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return true;
  }
}

async function answer<Answer extends { readonly kind: string }>(question: Promise<Answer>): Promise<Answer | NoAnswer> {
  try {
    return reportUnauthorized(await question);
  } catch (error) {
    return { kind: 'unavailable', reason: failureOf(error).reason };
  }
}

async function delivery(outcome: Promise<DeliveryOutcome>): Promise<DeliveryOutcome> {
  try {
    const read = deliveryOutcome(await outcome, 'outcome');
    return read.kind === 'read' ? read.value : { kind: 'failed', reason: BY_HAND };
  } catch (error) {
    return wasNotSent(error) ? { kind: 'notSent' } : { kind: 'failed', reason: failureOf(error).reason };
  }
}

/** Reports whether a notification wasn't sent, because it had no turn in time. */
function wasNotSent(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return cause instanceof TimeoutFailure
    ? cause.timeoutType === 'SCHEDULE_TO_START'
    : cause instanceof ApplicationFailure && cause.type === HELD_BACK;
}

/** Logs refused credentials: they hold up every payment, and only an operator can correct them. */
function reportUnauthorized<Answer extends { readonly kind: string }>(answer: Answer): Answer {
  if (answer.kind === 'unauthorized') {
    log.error('the provider refuses our credentials: payments wait until they are corrected', { ...answer });
  }
  return answer;
}

function failureOf(error: unknown): { readonly reason: string; readonly isUnstarted: boolean } {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (isCancellation(error)) {
    return { reason: 'Temporal did not say in time what became of the request', isUnstarted: false };
  }
  if (cause instanceof ApplicationFailure && cause.type === DECRYPTION_FAILURE) {
    return { reason: "the worker couldn't read what it was to send", isUnstarted: true };
  }
  if (!(cause instanceof TimeoutFailure)) {
    return { reason: `the worker failed: ${cause?.message ?? error.message}`, isUnstarted: false };
  }
  // Of a later attempt, the server names how the one before has ended, which the SDK keeps in the raw failure alone.
  const isFirstAttempt = cause.failure !== undefined && !cause.failure.cause;
  return cause.timeoutType === 'SCHEDULE_TO_START' && isFirstAttempt
    ? { reason: 'no worker took the request in time', isUnstarted: true }
    : { reason: 'the worker was lost before it could report', isUnstarted: false };
}
