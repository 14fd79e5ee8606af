import { type Html, html } from '../http/html.js';
import type { Payment, PaymentPage } from './api-client.js';
import { proposedWords } from './decision.js';
import { floatBox } from './float.js';
import { boxes, pager } from './page.js';
import { type PageReply, type Part, partOf, requireValue, type Visit } from './visit.js';
import { age, amount, badge, count, counted, nameOf, paymentAddress, personOf, sentence, time } from './words.js';

/** Payments on one page of the queue. Each is read by itself, for why it is there. */
const PAGE_SIZE = 20;

interface QueueFilter {
  readonly merchant: string;
  readonly kind: string;
}

/** GET /desk: the payments that a person has to decide, oldest first. */
export async function reviewQueue(visit: Visit): Promise<PageReply> {
  const { api } = visit;
  const filter = { merchant: visit.query('merchant').trim(), kind: visit.query('kind') };
  const cursor = visit.query('cursor');
  const begun = Date.now();
  const [reviews, float] = await Promise.all([api.reviews({ ...filter, limit: PAGE_SIZE, cursor }), floatBox(visit)]);
  const { data, total, totalAmount, unreadable, nextCursor } = requireValue(reviews);
  const read = await Promise.all(data.map(({ id }) => partOf(api.payment(id))));
  const isPart = cursor !== '' || nextCursor !== undefined;
  const main = html`
<div class="title"><h1>Payments in REVIEW</h1>
<p>${counted(total, 'payment needs', 'payments need')} a person's decision${isPart && `; ${count(data.length)} of them are on this page`}. ${total > 0 && html`Their orders come to ${amount(totalAmount)}. `}Oldest first, listed ${time(begun)}.</p></div>
${float}
${filterForm(filter)}
${unreadable.length > 0 && unreadableBox(unreadable)}
${boxes(
  data.map((summary, index) => reviewBox(summary, read[index])),
  isPart ? 'None of these is in REVIEW any more.' : 'Nothing is in REVIEW.',
)}
${pager('/desk', filter, cursor, nextCursor)}`;
  return { title: 'Payments in REVIEW', place: 'review', main };
}

function reviewBox(summary: PaymentPage['data'][number], part: Part<Payment> | undefined): Html {
  const payment = part?.kind === 'ok' ? part.value : undefined;
  const why =
    payment?.reason ?? (part?.kind === 'missing' ? `It couldn't be read: ${part.why}` : 'No reason is known.');
  const { since, proposed, secondPerson } = payment?.review ?? {};
  return html`<div class="title-line"><h2><a href="${paymentAddress(summary.id)}">${nameOf(summary)}</a></h2>
${payment !== undefined && payment.status !== 'REVIEW' && html`${badge(payment.status, payment.final)} <span class="quiet">decided meanwhile</span>`}</div>
<p class="why">${sentence(why)}</p>
${proposed && html`<p class="differs">Waits for a second person: ${proposedWords(proposed)}.</p>`}
${secondPerson && proposed === undefined && html`<p class="quiet">A decision takes two people.</p>`}
<div class="meta">
<span>Merchant <strong>${summary.merchant}</strong></span>
${payment && html`<span>${personOf(payment)}</span>`}
${since && html`<span>In REVIEW for <strong>${age(since)}</strong></span>`}
<span>Created ${time(summary.createdAt)}</span>
<span>Order ${summary.externalId ?? 'without an id'}</span>
<span><code>${summary.id}</code></span>
</div>`;
}

function filterForm({ merchant, kind }: QueueFilter): Html {
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === kind && html` selected`}>${text}</option>`;
  return html`<form class="card" method="get" action="/desk"><div class="row">
<div class="field"><label for="merchant">Merchant</label><input id="merchant" name="merchant" value="${merchant}" maxlength="40" autocomplete="off" autocapitalize="none"></div>
<div class="field"><label for="kind">Kind</label><select id="kind" name="kind">${option('', 'All')}${option('payout', 'Payouts')}${option('collection', 'Collections')}</select></div>
<div class="actions"><button class="button plain">Narrow the list</button></div></div></form>`;
}

function unreadableBox(unreadable: PaymentPage['unreadable']): Html {
  return html`<div class="notice"><p>${counted(unreadable.length, 'payment', 'payments')} can't be read. They may be in REVIEW, too:</p>
<ul>${unreadable.map(({ id }) => html`<li><a href="${paymentAddress(id)}">${id}</a></li>`)}</ul></div>`;
}
