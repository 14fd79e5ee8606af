import { Context } from '@temporalio/activity';
import type { DirectOrder, LinkOrder, PaymentOrder, PayoutOrder, Service } from '../payments/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../payments/outcome.js';
import type { PaymentId, TransId } from '../payments/payment-id.js';
import type { Transaction } from '../payments/transaction.js';
import type { ProviderClient } from '../provider/client.js';
import type { DirectPayRequest, InitiatePayRequest, PayoutRequest } from '../provider/schemas.js';
import type { MerchantNotifier } from './merchant.js';
import { mayHaveBeenReset, unlessReset } from './unless-reset.js';

/** What the activities need of the world. */
interface ActivityDependencies {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly merchant: MerchantNotifier;
}

/** The transactions that the provider has for one payment; its id is the userId that they were made under. */
interface LookUpRequest {
  readonly service: Service;
  readonly paymentId: PaymentId;
}

/**
 * The most transactions that a look-up returns. Its result becomes part of the workflow's history; more than one is a
 * case for a person already.
 */
const MAX_LISTED = 20;

/**
 * What payment workflows may do to the world. None of them throws for what the provider or a network does: every
 * answer is a value that the workflow decides on, so that no retry of Temporal's ever repeats a call on its own.
 */
export function createActivities({ providers, merchant }: ActivityDependencies) {
  return {
    /**
     * @param firstRunId the payment's first run. A reset makes another run, so that this one needs no check, which would
     *   cost every link a call to Temporal.
     */
    initiatePay(order: LinkOrder, firstRunId: string): Promise<InitiationOutcome> {
      const limit = callLimit();
      const send = () => providers.collection.initiatePay(toInitiatePay(order), limit);
      return isRun(firstRunId) ? send() : unlessReset(send);
    },

    /** Whether an earlier run may have sent the request of a payment that is to be withdrawn. */
    mayHaveBeenReset: async (firstRunId: string): Promise<boolean> =>
      isRun(firstRunId) ? false : await mayHaveBeenReset(),

    directPay(order: DirectOrder): Promise<InitiationOutcome> {
      const limit = callLimit();
      return unlessReset(() => providers.collection.directPay(toDirectPay(order), limit));
    },

    payOut(order: PayoutOrder): Promise<InitiationOutcome> {
      const limit = callLimit();
      return unlessReset(() => providers.payout.payout(toPayout(order), limit));
    },

    paymentStatus: (service: Service, transId: TransId): Promise<StatusAnswer> =>
      providers[service].paymentStatus(transId, callLimit()),

    expirePay: (transId: TransId): Promise<ExpiryAnswer> =>
      providers.collection.expirePay(transId, callLimit()),

    /**
     * The transactions that are the payment's, and those that don't say whose they are, at most {@link MAX_LISTED} of
     * both. Those of other payments are left out: they have no place in this payment's history.
     */
    async lookUp({ service, paymentId }: LookUpRequest): Promise<ListAnswer> {
      const answer = await providers[service].transactionsOf(paymentId, callLimit());
      if (answer.kind !== 'listed') return answer;
      const named = answer.transactions.filter(({ externalId }) => externalId === paymentId);
      const unnamed = answer.transactions.filter(({ externalId }) => externalId === undefined);
      // Those that are certainly the payment's come first, so that the cut leaves none of them out for a doubtful one.
      return { ...answer, transactions: [...named, ...unnamed].slice(0, MAX_LISTED).map(withoutLongTexts) };
    },

    ...merchant,
  };
}

/** Whether the activity was asked for by this run of its workflow. */
function isRun(runId: string): boolean {
  return Context.current().info.workflowExecution?.runId === runId;
}

/** How long before its own time limit an activity gives a call up, in ms, so that its outcome still arrives. */
const END_EARLY_MS = 1_000;

/**
 * Ends a call to the provider when the worker has to stop, so that its outcome is known to be unknown at once, and
 * before the activity's time is up: a worker whose PROVIDER_TIMEOUT is longer than the one in the payment's terms
 * would otherwise still be sending when the workflow already looks for what was sent. To be made when the activity
 * begins, for that is when its time starts.
 */
function callLimit(): { readonly signal: AbortSignal } {
  const { cancellationSignal, info } = Context.current();
  const call = new AbortController();
  const end = () => call.abort();
  setTimeout(end, Math.max(0, info.startToCloseTimeoutMs - END_EARLY_MS)).unref();
  if (cancellationSignal.aborted) end();
  else cancellationSignal.addEventListener('abort', end, { once: true });
  return { signal: call.signal };
}

/** The longest identifier that a look-up returns, in characters. */
const MAX_IDENTIFIER = 500;

/**
 * The provider's interface gives these two no limit, the client reads lists of up to 8 MiB, and a result of more than
 * 2 MB would fail the workflow's task each time.
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

/** An order for a link, as the provider's `POST /initiate-pay` takes it. */
export function toInitiatePay(order: LinkOrder): InitiatePayRequest {
  return { ...common(order), email: order.email, redirectUrl: order.redirectUrl };
}

/** An order straight to a phone, as the provider's `POST /direct-pay` takes it. */
export function toDirectPay(order: DirectOrder): DirectPayRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), phone, medium, name, email };
}

/** An order to pay out, as the provider's `POST /payout` takes it. */
export function toPayout(order: PayoutOrder): PayoutRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), phone, medium, name, email };
}

/**
 * The payment's own id goes out as externalId and as userId, so that `GET /transaction/{userId}` lists this payment's
 * transactions and no other's, and stays short. The merchant's own externalId and userId are kept on our side.
 */
function common(order: PaymentOrder) {
  return { amount: order.amount, userId: order.id, externalId: order.id, message: order.message };
}
