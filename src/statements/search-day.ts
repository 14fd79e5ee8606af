import { MAX_SEARCH_LIMIT } from '../payments/words/limits.js';
import type { Service } from '../payments/words/order.js';
import { dayAfter } from '../payments/words/time.js';
import type { SearchQuery } from '../provider/client.js';
import { afterAnswer, type DaySearch, isOfDay } from '../reconciliation/day-search.js';
import type { DayPayment } from '../reconciliation/reconciliation.js';
import type { ProviderQuestions } from './ask-provider.js';
import type { SearchPart } from './parts.js';

/** Progress is kept after this many questions, so that another worker can continue from there. */
export const KEEP_EVERY = 50;

/**
 * Searches a service for all transactions of a day.
 *
 * @param begun how far the search had come
 * @param keep is given how far it has come, now and then and at its end
 */
export async function searchDay(
  questions: ProviderQuestions,
  service: Service,
  day: string,
  payments: readonly DayPayment[],
  begun: SearchPart,
  keep: (part: SearchPart) => Promise<void>,
): Promise<void> {
  const amounts = payments
    .filter(({ kind }) => kind === service)
    .flatMap(({ amount, amountPaid = amount }) => [amount, amountPaid]);
  let { search } = begun;
  const known = new Map(begun.found.map((one) => [one.transId, one]));
  while (search.open.length > 0) {
    const shown = await questions.search(service, queryOf(search, day));
    const { range } = search;
    if (shown !== 'unreadable') {
      const ofDay = shown.filter(({ dateInitiated }) => isOfDay(range, day, dateInitiated));
      for (const one of ofDay) known.set(one.transId, one);
    }
    search = afterAnswer(search, shown === 'unreadable' ? shown : shown.map(({ transId }) => transId), amounts);
    if (search.open.length === 0 || search.asked % KEEP_EVERY === 0) {
      await keep({ search, found: [...known.values()] });
    }
  }
}

/** The provider's words for the next search. */
function queryOf({ range, open: [slice] }: DaySearch, day: string): SearchQuery {
  const { status, medium, amount } = slice?.filters ?? {};
  const isAround = range === 'around';
  return {
    start: isAround ? dayAfter(day, -1) : day,
    end: isAround ? dayAfter(day) : day,
    status: status && SEARCHED_AS[status],
    medium,
    amt: amount,
    limit: MAX_SEARCH_LIMIT,
    sort: slice?.newest === undefined ? 'desc' : 'asc',
  };
}

const SEARCHED_AS = {
  SUCCESSFUL: 'successful',
  FAILED: 'failed',
  EXPIRED: 'expired',
  CREATED: 'created',
} as const;
