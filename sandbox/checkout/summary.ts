import type { Entry } from '../entry.js';
import { type Html, html } from './html.js';
import type { Locale } from './locale.js';

/** The payment that a link is for, as shown on its pages. */
export interface CheckoutSummary {
  readonly transId: string;
  readonly merchantName: string;
  /** XAF */
  readonly amount: number;
  /** The merchant's description of the payment. */
  readonly message?: string | undefined;
  /** The first ms at which the link can no longer be paid, by the sandbox's clock. */
  readonly expiresAt: number;
}

/** The summary of a link; `undefined` for any other transaction. */
export const summaryOf = (entry: Entry, merchantName: string): CheckoutSummary | undefined => {
  const { transId, amount, message, expiresAt } = entry;
  return expiresAt === undefined ? undefined : { transId, merchantName, amount, message, expiresAt };
};

/** A row of a list of facts. */
export type Fact = readonly [name: string, value: Html | string];

/** A definition list; `undefined` rows are left out. */
export const factList = (facts: readonly (Fact | undefined)[]): Html => html`
  <dl class="facts">${facts.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`)}</dl>`;

/** The facts that identify a payment. */
export const summaryFacts = (
  summary: CheckoutSummary,
  { texts, formatAmount }: Locale,
): readonly (Fact | undefined)[] => [
  [texts.amount, formatAmount(summary.amount)],
  [texts.merchant, summary.merchantName],
  summary.message ? [texts.purpose, summary.message] : undefined,
  [texts.reference, summary.transId],
];
