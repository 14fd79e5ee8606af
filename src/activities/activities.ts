import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { ownerOf } from '../payments/machine/matching.js';
import { type DeliveryOutcome, HELD_BACK } from '../payments/machine/notification.js';
import { STATUS_CALLS_BUDGETED } from '../payments/machine/polling.js';
import { FIRST_LOOK_MS, type SentIf } from '../payments/machine/sending.js';
import { STATUS_CALLS_PER_WINDOW } from '../payments/words/limits.js';
import {
  type DirectOrder,
  type LinkOrder,
  type PayoutOrder,
  type Service,
  serviceOf,
} from '../payments/words/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type { Transaction } from '../payments/words/transaction.js';
import type { ProviderClient } from '../provider/client.js';
import { toDirectPay, toInitiatePay, toPayout } from '../provider/requests.js';
import type { MerchantNotification, MerchantNotifier } from './merchant.js';
import { isRefund, type RefundedCollections, whyNotRefunded } from './refund-check.js';
import { mayHaveBeenReset, sendIfNotReset } from './reset-check.js';
import { StatusLimit } from './status-limit.js';

/** The clients that the activities call. */
interface ActivityDependencies {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly merchant: MerchantNotifier;
  readonly collections: RefundedCollections;
  /**
   * Time of Temporal's last restore from a backup, in ms since the epoch. Temporal may not know what was sent before
   * it.
   */
  readonly restoredAt?: number | undefined;
  /**
   * Time of the latest restore that any worker was told of, in ms since the epoch. Temporal may not know which of the
   * payouts held then were stopped since.
   */
  readonly latestRestore?: number | undefined;
}

/** Asks for the transactions of one payment. */
interface LookUpRequest {
  readonly service: Service;
  readonly paymentId: PaymentId;
  readonly isDirect: boolean;
}

/** Nothing is sent: the payout is looked for, and then a person is asked. */
const HELD_THROUGH_RESTORE: InitiationOutcome = {
  kind: 'ambiguous',
  reason: 'Temporal was restored from a backup while the payout was held, so it may have been stopped or sent since',
  isReset: true,
};

/**
 * The most transactions that a look-up returns. Its result becomes part of the workflow's history, and more than one
 * already needs a person's decision.
 */
const MAX_LISTED = 20;

/**
 * Makes the activities of the payment workflows. None throws for what the provider or the network does: every answer is
 * a value that the workflow decides on, so that Temporal never repeats a call by retrying.
 */
export function createActivities(dependencies: ActivityDependencies) {
  const { providers, merchant, collections, restoredAt, latestRestore = 0 } = dependencies;
  const statusLimit = new StatusLimit(STATUS_CALLS_BUDGETED);
  /** A payment's first run knows for certain what was sent, unless it comes from a backup. */
  const knowsAll = (firstRunId: string) => restoredAt === undefined && isRun(firstRunId);

  const moveMoney = (
    order: DirectOrder | PayoutOrder,
    when: SentIf,
    send: (limit: CallLimit) => Promise<InitiationOutcome>,
    limit = callLimit(),
  ): Promise<InitiationOutcome> => {
    const request = { order, when, mayBeLost: restoredAt !== undefined };
    return sendIfNotReset(
      () => sendIfNotListed(providers[serviceOf(order)], request, limit, () => send(limit)),
      restoredAt,
    );
  };

  return {
    /**
     * @param firstRunId the payment's first run. A reset makes another run, so the first needs no check, which would
     *   cost a call to Temporal for every link.
     */
    initiatePay(order: LinkOrder, firstRunId: string): Promise<InitiationOutcome> {
      const limit = callLimit();
      const send = () => providers.collection.initiatePay(toInitiatePay(order), limit);
      return knowsAll(firstRunId) ? send() : sendIfNotReset(send, restoredAt);
    },

    /** Reports whether an earlier run may have sent the request of a payment that is to be withdrawn or given up. */
    mayHaveBeenReset: async (firstRunId: string): Promise<boolean> =>
      !knowsAll(firstRunId) && (await mayHaveBeenReset(restoredAt)),

    directPay: (order: DirectOrder, when: SentIf): Promise<InitiationOutcome> =>
      moveMoney(order, when, (limit) => providers.collection.directPay(toDirectPay(order), limit)),

    /**
     * @param heldSince of a payout that was held and that no operator has decided to send, in ms since the epoch
     * @param knowsWithheld `false` for a workflow of an earlier version, which couldn't go on after `withheld`: it
     *   tries again until it gives up
     */
    async payOut(
      order: PayoutOrder,
      when: SentIf,
      heldSince: number | null = null,
      knowsWithheld = false,
    ): Promise<InitiationOutcome> {
      if (heldSince !== null && heldSince < latestRestore) return HELD_THROUGH_RESTORE;
      const limit = callLimit();
      const ask = (transId: TransId) => askAgain(providers.collection, statusLimit, transId, limit);
      const isLooked = isRefund(order) && when !== 'late';
      const why = isLooked ? await whyNotRefunded(order, collections, ask, limit.signal) : undefined;
      const refused = why?.kind === 'withheld' && !knowsWithheld ? notSent(why.reason) : why;
      const send = () => providers.payout.payout(toPayout(order), limit);
      return await moveMoney(order, when, async () => refused ?? (await send()), limit);
    },

    /** @param now the payment's time, in ms since the epoch */
    paymentStatus(service: Service, transId: TransId, now: number): Promise<StatusAnswer> {
      const limit = callLimit();
      return statusLimit.ask(transId, now, () => providers[service].paymentStatus(transId, limit));
    },

    expirePay: (transId: TransId): Promise<ExpiryAnswer> => providers.collection.expirePay(transId, callLimit()),

    /**
     * Expires a link that nobody was given, as far as the asking run knows.
     *
     * @param firstRunId the payment's first run, which knows that for certain
     */
    async expireUnissued(transId: TransId, firstRunId: string): Promise<ExpiryAnswer> {
      const limit = callLimit();
      if (!knowsAll(firstRunId) && (await mayHaveBeenReset(restoredAt))) return { kind: 'mayBeGiven' };
      return await providers.collection.expirePay(transId, limit);
    },

    lookUp: (request: LookUpRequest): Promise<ListAnswer> => listOwn(providers[request.service], request),

    /** @throws ApplicationFailure when it has no turn: Temporal tries again in a moment. */
    async notifyMerchant(notification: MerchantNotification): Promise<DeliveryOutcome> {
      const outcome = await merchant.notifyMerchant(notification);
      if (outcome.kind === 'heldBack') throw heldBack();
      return outcome;
    },
  };
}

/** Asks about a transaction whose payment has ended, and leaves one question of the provider's limit to others. */
function askAgain(
  provider: ProviderClient,
  statusLimit: StatusLimit,
  transId: TransId,
  limit: CallLimit,
): Promise<StatusAnswer> {
  // Temporal's clock counts, as for the questions of payments.
  const now = Math.max(Date.now(), Context.current().info.scheduledTimestampMs);
  const ask = () => provider.paymentStatus(transId, limit);
  return statusLimit.ask(transId, now, ask, STATUS_CALLS_PER_WINDOW - 1);
}

/**
 * The payment's transactions, and those that name no payment, at most {@link MAX_LISTED} in all. Other payments'
 * transactions are left out: they must not get into this payment's history.
 */
async function listOwn(provider: ProviderClient, { paymentId, isDirect }: LookUpRequest): Promise<ListAnswer> {
  const answer = await provider.transactionsOf(paymentId, isDirect, callLimit());
  if (answer.kind !== 'listed') return answer;
  return { ...answer, transactions: ownFirst(paymentId, answer.transactions) };
}

const heldBack = () =>
  ApplicationFailure.create({
    type: HELD_BACK,
    message: "the merchant's other notifications have their share of the worker",
    category: ApplicationFailureCategory.BENIGN,
  });

/** A request that moves money. */
interface MoneyRequest {
  readonly order: DirectOrder | PayoutOrder;
  readonly when: SentIf;
  /** Temporal may have lost what was sent. */
  readonly mayBeLost: boolean;
}

/**
 * Sends a request that moves money, unless the provider's list shows a transaction of the payment: what its workflow
 * knows may be old, or have been deleted, reset, restored or forged. Only a payment's first try is made without an
 * answer of the list, and none while Temporal may have lost what was sent.
 */
async function sendIfNotListed(
  provider: ProviderClient,
  { order, when, mayBeLost }: MoneyRequest,
  limit: CallLimit,
  send: () => Promise<InitiationOutcome>,
): Promise<InitiationOutcome> {
  const call = when === 'unread' ? { ...limit, withinMs: FIRST_LOOK_MS } : limit;
  const answer = await provider.transactionsOf(order.id, order.kind === 'direct', call);
  if (answer.kind !== 'listed') {
    const isSent = when === 'unread' ? !mayBeLost : when === answer.kind;
    return isSent ? await send() : unsentFor(answer);
  }
  const shown = ownFirst(order.id, answer.transactions);
  const [first] = shown;
  if (first === undefined) return when === 'late' ? TOO_LATE : await send();
  const reason = `nothing was sent: the provider already showed ${first.transId} for this payment`;
  return { kind: 'ambiguous', reason, shown };
}

const notSent = (reason: string): InitiationOutcome => ({ kind: 'notSent', reason });

const TOO_LATE: InitiationOutcome = {
  kind: 'withheld',
  failureCode: 'not_sent',
  reason: 'never sent to the provider: its time was over before it could be sent',
};

/** The payment's transactions, and those that name no payment: these come last, so that the limit drops them first. */
function ownFirst(paymentId: PaymentId, listed: readonly Transaction[]): readonly Transaction[] {
  const named = listed.filter((one) => ownerOf(paymentId, one) === 'payment');
  const disputed = listed.filter((one) => ownerOf(paymentId, one) === 'disputed');
  const unnamed = listed.filter((one) => ownerOf(paymentId, one) === 'unnamed');
  return [...named, ...disputed, ...unnamed].slice(0, MAX_LISTED).map(withoutLongTexts);
}

/** Explains why a request was not sent: the provider's list, which has to show nothing, was not read. */
function unsentFor(answer: Exclude<ListAnswer, { readonly kind: 'listed' }>): InitiationOutcome {
  if (answer.kind === 'unauthorized') return answer;
  const reason = "nothing was sent: the provider's list, which may show that it was sent before, could not be read";
  const retryAfterMs = answer.kind === 'throttled' ? answer.retryAfterMs : undefined;
  return { kind: 'unchecked', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Reports whether this run of the workflow has started the activity. */
function isRun(runId: string): boolean {
  return Context.current().info.workflowExecution?.runId === runId;
}

interface CallLimit {
  readonly signal: AbortSignal;
}

/** An activity gives a call up this long before its own time limit, in ms, so that the outcome still arrives. */
const END_EARLY_MS = 1_000;

/**
 * A signal that aborts a call to the provider when the worker has to stop, so that the call is ambiguous at once, and
 * shortly before the activity's time limit. Without the latter, a worker whose PROVIDER_TIMEOUT is longer than the one
 * in the payment's terms could still be sending when the workflow already looks up what was sent. Call it when the
 * activity begins, since that is when its time starts.
 */
function callLimit(): CallLimit {
  const { cancellationSignal, info } = Context.current();
  const call = new AbortController();
  const end = () => call.abort();
  setTimeout(end, Math.max(0, info.startToCloseTimeoutMs - END_EARLY_MS)).unref();
  if (cancellationSignal.aborted) end();
  else cancellationSignal.addEventListener('abort', end, { once: true });
  return { signal: call.signal };
}

/** The most characters of an identifier that a look-up returns. */
const MAX_IDENTIFIER = 500;

/**
 * Shortens the two identifiers that the provider's interface doesn't limit. The client reads lists of up to 8 MiB, and
 * a result of more than 2 MB would fail the workflow's task each time.
 */
function withoutLongTexts(transaction: Transaction): Transaction {
  const { financialTransId, userId } = transaction;
  return {
    ...transaction,
    financialTransId: financialTransId?.slice(0, MAX_IDENTIFIER),
    userId: userId?.slice(0, MAX_IDENTIFIER),
  };
}

export type Activities = ReturnType<typeof createActivities>;
