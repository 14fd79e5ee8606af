import type { Entry } from '../entry.js';
import { type Html, html } from './html.js';

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
export const summaryFacts = (summary: CheckoutSummary): readonly (Fact | undefined)[] => [
  ['Amount', formatAmount(summary.amount)],
  ['Merchant', summary.merchantName],
  summary.message ? ['For', summary.message] : undefined,
  ['Reference', summary.transId],
];

/** When the link expires, for display. */
export const expiryText = ({ expiresAt }: CheckoutSummary): string =>
  `${formatTime(expiresAt)} (Douala time)`;

const amountFormat = new Intl.NumberFormat('en-GB');

/** An amount in XAF for display: `5,000 XAF`, with a no-break space. */
export const formatAmount = (amount: number): string => `${amountFormat.format(amount)}\u00a0XAF`;

const timeFormat = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Africa/Douala',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** A time (ms since the epoch) in Douala: `Fri 21 Nov, 14:05`. Built from parts, since Node releases differ in commas. */
export const formatTime = (timeMs: number): string => {
  const parts = new Map(timeFormat.formatToParts(timeMs).map(({ type, value }) => [type, value]));
  return `${parts.get('weekday')} ${parts.get('day')} ${parts.get('month')}, ${parts.get('hour')}:${parts.get('minute')}`;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration in ms as hours and minutes, rounded down: `23 h 12 min`, `5 min`, `less than a minute`. */
export const formatTimeLeft = (durationMs: number): string => {
  if (durationMs < MINUTE_MS) return 'less than a minute';
  const hours = Math.floor(durationMs / HOUR_MS);
  const minutes = Math.floor((durationMs % HOUR_MS) / MINUTE_MS);
  return [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`].filter(Boolean).join(' ');
};
