import type { Entry } from '../entry.js';
import { formatAmount, formatMoment } from './display.js';
import { type Html, html } from './html.js';

/** What a payer is asked to pay, as every state of the page shows it. */
export interface Bill {
  readonly transId: string;
  readonly merchantName: string;
  /** XAF */
  readonly amount: number;
  /** The merchant's reason for the payment, in the merchant's words. */
  readonly message?: string | undefined;
  /** ms since the epoch, by the sandbox's clock: the first moment at which it can't be paid any more. */
  readonly expiresAt: number;
}

/** The bill that a link stands for; `undefined` for what is no link. */
export const billOf = (entry: Entry, merchantName: string): Bill | undefined => {
  const { transId, amount, message, expiresAt } = entry;
  return expiresAt === undefined ? undefined : { transId, merchantName, amount, message, expiresAt };
};

/** One line of a list of facts: what it is, and its value. */
export type Fact = readonly [name: string, value: Html | string] | undefined;

/** A list of facts, less those that there aren't. */
export const factList = (facts: readonly Fact[]): Html => html`
  <dl class="facts">${facts.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`)}</dl>`;

/** The facts that identify a bill once there is nothing more to choose: who asked for how much, and what for. */
export const billFacts = (bill: Bill): readonly Fact[] => [
  ['Amount', formatAmount(bill.amount)],
  ['Merchant', bill.merchantName],
  bill.message ? ['For', bill.message] : undefined,
  ['Reference', bill.transId],
];

/** Until when a bill can be paid, for a payer's eye. */
export const payableUntil = (bill: Bill): string => `${formatMoment(bill.expiresAt)} (Douala time)`;
