import type { WireTransaction } from '../../src/provider/schemas.js';
import type { Answer } from '../answer.js';
import type { Clock } from '../clock.js';
import type { Entry, ServiceKind } from '../entry.js';
import type { KeyedRandom } from '../keyed-random.js';
import type { Ledger } from '../ledger.js';
import type { Service } from '../service.js';

/** Every endpoint of the provider's interface, by the first part of its path. */
export const ENDPOINTS = [
  'initiate-pay',
  'direct-pay',
  'payment-status',
  'expire-pay',
  'transaction',
  'search',
  'balance',
  'payout',
] as const;
export type EndpointName = (typeof ENDPOINTS)[number];

/** An entry as an answer shows it; a fault may give it a status that the interface doesn't know. */
export type ShownTransaction = Omit<WireTransaction, 'status'> & { readonly status: string };

/** How an answer shows what it is about. */
export interface AnswerShowing {
  /** An entry. @throws Refusal 404 when a status that lags behind doesn't know of it yet */
  readonly show: (entry: Entry) => ShownTransaction;
  /** A list of them. */
  readonly showAll: (entries: readonly Entry[]) => ShownTransaction[];
  /** A time. */
  readonly date: (timeMs: number) => string;
  /** From when on a transaction that this request creates shows in lists and searches. */
  readonly listedFrom: (createdAt: number) => number;
}

/** One authenticated request to an endpoint, nothing of it validated, and how its answer is to show what it is about. */
export interface Call extends AnswerShowing {
  readonly service: Service;
  readonly body: unknown;
  readonly parameter: string;
  readonly query: Readonly<Record<string, unknown>>;
}

/** What endpoints work on. */
export interface World {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: KeyedRandom;
  /** The address of a link's checkout page. */
  readonly linkTo: (token: string) => string;
}

export interface Endpoint {
  readonly name: EndpointName;
  readonly method: 'get' | 'post';
  readonly path: string;
  /** The kind of service it is for; both when left out. */
  readonly only?: ServiceKind;
  /** @throws Refusal when the request is not as the interface wants it */
  readonly answer: (call: Call) => Answer;
}

/** The transaction with this id, when it is the service's own. */
export function ownEntry(ledger: Ledger, service: Service, transId: string): Entry | undefined {
  const entry = ledger.find(transId);
  return entry?.service === service.kind ? entry : undefined;
}
