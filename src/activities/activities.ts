import { Context } from '@temporalio/activity';
import type { DirectOrder, LinkOrder, PayoutOrder, Service } from '../payments/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../payments/outcome.js';
import type { PaymentId, TransId } from '../payments/payment-id.js';
import type { Transaction } from '../payments/transaction.js';
import type { ProviderClient } from '../provider/client.js';
import type { MerchantNotifier } from './notify-merchant.js';
import { toDirectPay, toInitiatePay, toPayout } from './to-request.js';
import { unlessReset } from './unless-reset.js';

/** What the activities need of the world. */
export interface ActivityDependencies {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly merchant: MerchantNotifier;
}

/** The transactions that were made for one payment. */
export interface LookUpRequest {
  readonly service: Service;
  readonly paymentId: PaymentId;
}

/**
 * What payment workflows may do to the world. None of them throws for what the provider or a network does: every
 * answer is a value that the workflow decides on, so that no retry of Temporal's ever repeats a call on its own.
 */
export function createActivities({ providers, merchant }: ActivityDependencies) {
  return {
    initiatePay: (order: LinkOrder): Promise<InitiationOutcome> =>
      providers.collection.initiatePay(toInitiatePay(order), untilStopped()),

    directPay: (order: DirectOrder): Promise<InitiationOutcome> =>
      unlessReset(() => providers.collection.directPay(toDirectPay(order), untilStopped())),

    payOut: (order: PayoutOrder): Promise<InitiationOutcome> =>
      unlessReset(() => providers.payout.payout(toPayout(order), untilStopped())),

    paymentStatus: (service: Service, transId: TransId): Promise<StatusAnswer> =>
      providers[service].paymentStatus(transId, untilStopped()),

    expirePay: (transId: TransId): Promise<ExpiryAnswer> =>
      providers.collection.expirePay(transId, untilStopped()),

    /** Another payment's transactions are left out: they have no place in this payment's history. */
    async lookUp({ service, paymentId }: LookUpRequest): Promise<ListAnswer> {
      const answer = await providers[service].transactionsOf(paymentId, untilStopped());
      if (answer.kind !== 'listed') return answer;
      const anothers = (found: Transaction) =>
        found.externalId !== undefined && found.externalId !== paymentId;
      return { ...answer, transactions: answer.transactions.filter((found) => !anothers(found)) };
    },

    ...merchant,
  };
}

/** A worker that has to stop gives a call up, so that its outcome is known to be unknown at once. */
function untilStopped(): { readonly signal: AbortSignal } {
  return { signal: Context.current().cancellationSignal };
}

export type Activities = ReturnType<typeof createActivities>;
