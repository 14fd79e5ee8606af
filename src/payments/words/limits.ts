/**
 * The provider's constants, each in this one place. Source: the provider's interface, "Limits".
 */

import { DAY_MS } from './time.js';

/** Smallest amount of a collection or a payout, in XAF. */
export const MINIMUM_AMOUNT = 100;

/** The only currency the provider moves. */
export const CURRENCY = 'XAF';

const numbers = new Intl.NumberFormat('en');

/** Formats an amount for people, such as `5,000 XAF`. */
export const xaf = (amount: number) => `${numbers.format(amount)} ${CURRENCY}`;

/** Formats the amount that moved or is to move and, where it differs, the one that was ordered. */
export function amountOf({ amount, amountPaid = amount }: Amounts): string {
  return amountPaid === amount ? xaf(amount) : `${xaf(amountPaid)} (ordered: ${xaf(amount)})`;
}

interface Amounts {
  readonly amount: number;
  readonly amountPaid?: number | undefined;
}

/** Lifetime of a payment link, in ms: 24 hours from its creation. */
export const PROVIDER_LINK_LIFETIME_MS = DAY_MS;

/** Status questions that the provider answers for one transaction within {@link STATUS_WINDOW_MS}. */
export const STATUS_CALLS_PER_WINDOW = 6;

/** The width of the provider's window for status questions, in ms: one minute. */
export const STATUS_WINDOW_MS = 60 * 1000;

/** Pattern of `userId` and `externalId` at the provider; payment ids match it, too. */
export const IDENTIFIER_PATTERN = /^[a-zA-Z0-9\-_]{1,100}$/;

/** Characters of a transaction's id. The interface gives no maximum; this is far longer than any that was seen. */
export const MAX_TRANS_ID_LENGTH = 200;

/** Most results that one search answers with; the least is 1. */
export const MAX_SEARCH_LIMIT = 100;

/** Results of a search that names no limit. */
export const SEARCH_LIMIT_DEFAULT = 10;
