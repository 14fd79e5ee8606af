import type { Answer } from '../answer.js';
import type { Clock } from '../clock.js';
import type { Entry, ServiceKind } from '../entry.js';
import type { AnswerShowing } from '../faults/untruths.js';
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
