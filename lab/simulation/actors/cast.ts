import type { Entry } from '../../../sandbox/entry.js';
import type { BookedAtLast } from '../audit/booked.js';
import type { PaymentRecord } from '../payment-record.js';
import type { Tally } from '../tally.js';
import type { Timeline } from '../world/timeline.js';
import type { ApiClient } from './api-client.js';

/** A transaction of the ledger, with what is known of it beside. */
export type BookedEntry = BookedAtLast & Pick<Entry, 'transId' | 'listedFrom'> & { readonly entry: Entry };

/** What everybody in the simulation works with. */
export interface Cast {
  readonly seed: string | number;
  readonly api: ApiClient;
  readonly timeline: Timeline;
  readonly tally: Tally;
  /** Simulated time, in ms since the epoch. */
  readonly now: () => number;
  /** The payment's transactions in the provider's ledger: the truth. */
  readonly transactionsOf: (record: PaymentRecord) => readonly BookedEntry[];
}
