import { type Html, html } from '../http/html.js';
import type { Payment, Refunds } from './api-client.js';
import { card, factList } from './page.js';
import { type Part, partOf, type Visit } from './visit.js';
import { amount, badge, paymentAddress, time } from './words.js';

/** Reads the refunds of a collection; `undefined` for a payout. */
export async function readRefunds({ api }: Visit, { id, kind }: Payment): Promise<Part<Refunds> | undefined> {
  return kind === 'collection' ? await partOf(api.refunds(id)) : undefined;
}

/**
 * The refunds of a collection, with their sums. Nothing for one that has none and isn't SUCCESSFUL: there is nothing
 * to refund.
 */
export function refundsCard({ status }: Payment, refunds: Part<Refunds> | undefined): Html | undefined {
  if (refunds === undefined) return undefined;
  const isOfInterest = status === 'SUCCESSFUL' || status === 'REVIEW';
  if (refunds.kind === 'missing') {
    return isOfInterest
      ? card('refunds', 'Refunds', html`<p class="differs">Not known. ${refunds.why}</p>`)
      : undefined;
  }
  const { data, collected, refunded, refunding, refundable } = refunds.value;
  if (data.length === 0 && status !== 'SUCCESSFUL') return undefined;
  return card(
    'refunds',
    'Refunds',
    html`${factList([
      ['Collected', collected === undefined ? 'not known' : amount(collected)],
      ['Refunded', amount(refunded)],
      ['Being refunded', amount(refunding)],
      ['Refundable', amount(refundable)],
    ])}
${data.length > 0 && html`<ol class="timeline">${data.map(refundEntry)}</ol>`}`,
  );
}

function refundEntry(refund: Refunds['data'][number]): Html {
  const { id, status, final, createdAt, refundReason } = refund;
  return html`<li>${time(createdAt)}<span><a href="${paymentAddress(id)}">${amount(refund.amount)}</a> ${badge(status, final)} <span class="quiet">${refundReason}</span></span></li>`;
}

/**
 * Warns whoever decides on a collection that it was refunded, or that nobody knows whether it was: called FAILED, it
 * stays refunded.
 */
export function refundedBox({ status }: Payment, refunds: Part<Refunds> | undefined): Html | undefined {
  if (refunds === undefined || status !== 'REVIEW') return undefined;
  if (refunds.kind === 'missing') {
    return box(html`It isn't known whether this collection was refunded. ${refunds.why}`);
  }
  const { refunded, refunding } = refunds.value;
  if (refunded + refunding === 0) return undefined;
  const underWay = refunding > 0 && html` and ${amount(refunding)} being refunded`;
  return box(
    html`<strong>${amount(refunded)} refunded</strong>${underWay}: what is decided here doesn't bring it back.`,
  );
}

function box(text: Html): Html {
  return html`<section class="notice" aria-labelledby="refunded"><h2 id="refunded">Refunds of this collection</h2><p>${text}</p></section>`;
}
