import type { Entry } from '../../sandbox/entry.js';
import type { Counts } from '../counts.js';
import type { BookedStatus, FinalTransaction } from '../world/provider-books.js';
import type { ApiAnswer, ApiClient } from './api-client.js';
import type { ObservedPayment } from './observed-payment.js';

/** Schedules people's acts, in simulated or real time. */
export interface Timeline {
  /** Plans something for a time (ms since the epoch), or a little later, when other things happen as well. */
  at(time: number, act: () => Promise<void> | void): void;
  /** Plans something for exactly this time. */
  exactly(time: number, act: () => Promise<void> | void): void;
}

/** The tools of people, and their manners. */
export interface PeopleContext {
  readonly seed: string | number;
  readonly api: ApiClient;
  readonly timeline: Timeline;
  /** People's actions, counted by kind. */
  readonly actions: Counts;
  /** ms since the epoch, simulated or real. */
  readonly now: () => number;
  /** The payment's transactions in the provider's books now; none if the books are only read at the end. */
  readonly booksOf: (record: ObservedPayment) => readonly BookedStatus[];
  readonly payers: PayerManners;
  readonly merchants: MerchantManners;
}

/** A payer's manner of visiting the checkout page. */
export interface PayerManners {
  /** Tries to reach the checkout page, and the pause between two of them, in ms. */
  readonly maxTries: number;
  readonly pauseMs: number;
  /** Opens the checkout page. @throws RequestError if it can't be reached */
  readonly look: (link: string) => Promise<void>;
  /** Presses a button of the checkout page. @throws RequestError if the page can't be reached */
  readonly press: (
    link: string,
    entry: { readonly action: 'pay'; readonly phone: string } | { readonly action: 'decline' },
  ) => Promise<void>;
}

/** A merchant's manner of calling the API. */
export interface MerchantManners {
  /** Makes one call, or repeats it until there is an answer. */
  readonly call: (record: ObservedPayment, request: () => Promise<ApiAnswer>) => Promise<ApiAnswer>;
  /**
   * Way for a merchant to get a link that the first answer lacked: by repeating the request, or by reading the payment.
   */
  readonly getsLinkBy: 'repeating' | 'reading';
  /** The pause before the next attempt to get a payment taken and its link, in ms. */
  readonly pauseMs: (tries: number) => number;
}

/** A transaction of the sandbox's ledger, and what else is known of it. */
export type LedgerTransaction = FinalTransaction & Pick<Entry, 'transId' | 'listedFrom'> & { readonly entry: Entry };

/** In the simulation, the provider's ledger can be read at any moment. */
export interface SimulationContext extends PeopleContext {
  /** The payment's transactions in the ledger: the truth. */
  readonly transactionsOf: (record: ObservedPayment) => readonly LedgerTransaction[];
}
