import { type Html, html } from '../http/html.js';
import type { Force } from '../payments/words/decision.js';
import { amountOf as amountWords, CURRENCY, xaf } from '../payments/words/limits.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../payments/words/time.js';
import type { Payment, Proposed } from './api-client.js';

const numbers = new Intl.NumberFormat('en-GB');

/** A number, such as `1,000`. */
export function count(value: number): string {
  return numbers.format(value);
}

/** An amount, such as `42,000 XAF`, which no line breaks. */
export function amount(value: number): string {
  return unbroken(xaf(value));
}

/** The amount that has moved or is to move and, where it differs, the one that was ordered. */
export function amountOf(payment: Parameters<typeof amountWords>[0]): string {
  return unbroken(amountWords(payment));
}

/** Reads an amount in XAF as people type it, such as `2,000,000` or `2 000 000 XAF`; `undefined` if it is none. */
export function readAmount(text: string): number | undefined {
  const [, digits] = /^(\d{1,3}(?:[ ,\u00a0\u202f]\d{3})+|\d{1,15})(?:\s*XAF)?$/i.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits.replace(/\D/g, ''));
}

const unbroken = (text: string) => text.replaceAll(` ${CURRENCY}`, `\u00a0${CURRENCY}`);

const dates = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Africa/Douala',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** A time (ISO 8601, or ms since the epoch) as people read it, in Douala. */
export function time(at: string | number): Html {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return html`${String(at)}`;
  return html`<time datetime="${date.toISOString()}">${dates.format(date)}</time>`;
}

/** A duration, such as `3 h 12 min`, to the minute. */
export function duration(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  const [days, hours] = [Math.floor(ms / DAY_MS), Math.floor((ms % DAY_MS) / HOUR_MS)];
  if (days === 0) return `${hours} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${days} ${days === 1 ? 'day' : 'days'} ${hours} h`;
}

/** The duration since a time. */
export function age(at: string): string {
  return duration(Math.max(0, Date.now() - Date.parse(at)));
}

type PaymentTitle = Pick<Payment, 'kind' | 'amount' | 'amountPaid'> & Partial<Pick<Payment, 'method' | 'refundOf'>>;

/** A payment by its kind and amount, such as `Payout of 42,000 XAF`. */
export function nameOf({ kind, method, refundOf, ...payment }: PaymentTitle): string {
  if (refundOf !== undefined) return `Refund of ${amountOf(payment)}`;
  const kinds = { link: 'Collection by link', direct: 'Direct collection' } as const;
  const name = kind === 'payout' ? 'Payout' : method === undefined ? 'Collection' : kinds[method];
  return `${name} of ${amountOf(payment)}`;
}

/** The person on the other side, as far as the API names one. */
export function personOf({ kind, phone, userId }: Pick<Payment, 'kind' | 'phone' | 'userId'>): string {
  const who = kind === 'payout' ? 'recipient' : 'payer';
  const known = [phone, userId && `customer ${userId}`].filter(Boolean).join(', ');
  return known === '' ? `a ${who} whose number isn't known here` : known;
}

/** A status, in a colour that only repeats what the word says. */
export function badge(status: string, final = false): Html {
  const colour = { REVIEW: 'review', SUCCESSFUL: 'good', FAILED: 'bad', EXPIRED: 'bad' }[status] ?? '';
  return html`<span class="badge ${colour}">${status}${final && ', final'}</span>`;
}

/** The machine's words, which begin in lower case and have no full stop, as a sentence. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Says what a decision overruled, to follow the decision in a sentence. */
export function forcedWords({ forced, overruled }: Pick<Proposed, 'forced' | 'overruled'>): string {
  return forced ? ` (forced: ${overruledWords(overruled ?? true)})` : '';
}

/** Names the objections that a decision overrules. */
export function overruledWords(force: Force): string {
  return typeof force === 'boolean' ? 'whatever comes up' : force.join(', ').replaceAll('_', ' ');
}

/** A number of things, in words. */
export function counted(many: number, one: string, several = `${one}s`): string {
  return `${count(many)} ${many === 1 ? one : several}`;
}

/** The page with an address that takes parameters; empty ones are left out. */
export function addressOf(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The address of a payment's page. */
export function paymentAddress(id: string): string {
  return `/desk/payments/${encodeURIComponent(id)}`;
}

/** The address of a search. */
export function searchAddress(wanted: string): string {
  return addressOf('/desk/search', { q: wanted });
}
