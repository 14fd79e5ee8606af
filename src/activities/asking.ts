import type { Kept } from '../book/content.js';
import type { Done } from '../book/turn.js';
import { type Service, serviceOf } from '../payments/words/order.js';
import type { ProviderClient } from '../provider/client.js';
import { callLimit } from './call-limit.js';
import { listOwn } from './own-transactions.js';
import type { StatusLimit } from './status-limit.js';

export interface AskingContext {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly statusLimit: StatusLimit;
  /** ms since the epoch */
  readonly now: () => number;
}

/** Asks the provider what a payment wants to know. Its answer counts from when it came. */
export async function askProvider(
  { providers, statusLimit, now }: AskingContext,
  { state: { order }, todo }: Kept,
  token: number,
): Promise<Done | undefined> {
  const provider = providers[serviceOf(order)];
  switch (todo?.kind) {
    case 'lookUp': {
      const answer = await listOwn(provider, order, callLimit());
      return { token, kind: 'listed', answer, at: now() };
    }
    case 'askStatus': {
      const { transId } = todo;
      const limit = callLimit();
      const answer = await statusLimit.ask(transId, now(), () => provider.paymentStatus(transId, limit));
      return { token, kind: 'status', answer, at: now() };
    }
    case 'expire': {
      const answer = await providers.collection.expirePay(todo.transId, callLimit());
      return { token, kind: 'expired', answer, at: now() };
    }
    default:
      return undefined;
  }
}
