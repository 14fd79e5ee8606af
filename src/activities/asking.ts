import type { Done, Turn } from '../book/turn.js';
import { type Service, serviceOf } from '../payments/words/order.js';
import type { ProviderClient } from '../provider/client.js';
import type { CallLimit } from './call-limit.js';
import { listOwn } from './own-transactions.js';
import type { StatusLimit } from './status-limit.js';

export interface AskingContext {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly statusLimit: StatusLimit;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * Asks the provider what a payment's turn wants to know. The answer counts from when it came.
 *
 * @returns `undefined` when the turn asks nothing
 */
export async function askProvider(
  { providers, statusLimit, now }: AskingContext,
  { after: { order }, todo, token }: Turn,
  limit: CallLimit,
): Promise<Done | undefined> {
  if (token === undefined) return undefined;
  const provider = providers[serviceOf(order)];
  switch (todo.kind) {
    case 'lookUp': {
      const answer = await listOwn(provider, order, limit);
      return { token, kind: 'listed', answer, at: now() };
    }
    case 'askStatus': {
      const { transId } = todo;
      const answer = await statusLimit.ask(transId, now(), () => provider.paymentStatus(transId, limit));
      return { token, kind: 'status', answer, at: now() };
    }
    case 'expire': {
      const answer = await providers.collection.expirePay(todo.transId, limit);
      return { token, kind: 'expired', answer, at: now() };
    }
    default:
      return undefined;
  }
}
