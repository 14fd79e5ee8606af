import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Service } from '../payments/words/order.js';
import type { BalanceAnswer, NoAnswer } from '../payments/words/outcome.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { SearchedTransaction, Transaction } from '../payments/words/transaction.js';
import type { ProviderClient, SearchQuery } from '../provider/client.js';
import { isUnreadable } from '../provider/interpret.js';

/** The provider's services, as statements use them. They don't ask for statuses: that budget belongs to payments. */
export type StatementProviders = Readonly<
  Record<Service, Pick<ProviderClient, 'search' | 'transactionsOf' | 'balance'>>
>;

/** Most repetitions of a question that the provider throttles, and the pauses before them, in ms. */
const MAX_THROTTLED = 10;
const THROTTLED_PAUSE_MS = 10_000;
const MAX_THROTTLED_PAUSE_MS = 60_000;

/**
 * Asks the provider on behalf of a statement, one question at a time with a pause before each, from within an activity.
 *
 * All methods throw an ApplicationFailure when the provider gives no answer, with which the activity is tried again
 * later.
 */
export class ProviderQuestions {
  constructor(
    private readonly providers: StatementProviders,
    private readonly pauseMs: number,
  ) {}

  /** Searches a service; `unreadable` when one of the transactions that it shows can't be read. */
  async search(service: Service, query: SearchQuery): Promise<readonly SearchedTransaction[] | 'unreadable'> {
    const answer = await this.#ask((call) => this.providers[service].search(query, call));
    if (answer.kind === 'listed') return answer.transactions;
    if (isUnreadable(answer)) return 'unreadable';
    throw noAnswer(answer);
  }

  /**
   * All transactions of a payment, by link and straight to a phone; `undefined` when the provider refuses to list them,
   * or one can't be read.
   */
  async transactionsOf(service: Service, id: PaymentId): Promise<readonly Transaction[] | undefined> {
    const lists = service === 'collection' ? [false, true] : [false];
    const found: Transaction[] = [];
    for (const isDirect of lists) {
      const answer = await this.#ask((call) => this.providers[service].transactionsOf(id, isDirect, call));
      if (answer.kind === 'refused' || isUnreadable(answer)) return undefined;
      if (answer.kind !== 'listed') throw noAnswer(answer);
      found.push(...answer.transactions);
    }
    return found;
  }

  /** Asks for the balance of a service, in XAF. */
  async balance(service: Service): Promise<number> {
    const answer: BalanceAnswer = await this.#ask((call) => this.providers[service].balance(call));
    if (answer.kind === 'balance') return answer.balance;
    throw noAnswer(answer);
  }

  async #ask<Answer extends { readonly kind: string; readonly retryAfterMs?: number | undefined }>(
    question: (call: { readonly signal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> {
    const activity = Context.current();
    const call = { signal: activity.cancellationSignal };
    let pauseMs = this.pauseMs;
    for (let tries = 0; ; tries++) {
      await activity.sleep(pauseMs);
      activity.heartbeat();
      const answer = await question(call);
      if (answer.kind !== 'throttled' || tries === MAX_THROTTLED) return answer;
      pauseMs = Math.min(answer.retryAfterMs ?? THROTTLED_PAUSE_MS, MAX_THROTTLED_PAUSE_MS);
    }
  }
}

type Unanswered = NoAnswer | { readonly kind: 'refused'; readonly message: string };

function noAnswer(answer: Unanswered): ApplicationFailure {
  const reason =
    answer.kind === 'unavailable'
      ? answer.reason
      : answer.kind === 'throttled'
        ? 'it asked to be called less often'
        : answer.message;
  return ApplicationFailure.retryable(`the provider gave no answer: ${reason}`, 'NoAnswer');
}
