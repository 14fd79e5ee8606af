import { type Content, type Html, html } from '../http/html.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { OperatorApi, PaymentPage, Unmatched } from './api-client.js';
import { boxes, factList, incompleteBox } from './page.js';
import { type PageReply, type Part, partOf, requireValue, type Visit } from './visit.js';
import { age, badge, counted, nameOf, paymentAddress, searchAddress, time } from './words.js';

/** GET /desk/unmatched: the provider's notifications that match no payment. */
export async function unmatchedPage({ api }: Visit): Promise<PageReply> {
  const { data } = requireValue(await api.unmatched());
  const main = html`
<div class="title"><h1>Notifications that match no payment, or can't be read</h1>
<p>The provider's latest 1,000 of them, newest first. They come from a payment that somebody made by hand at the provider, from another system on the same account, or from somebody who knows the webhook's address. They prove nothing, unless a <a href="/desk/statements">statement</a> has found the transaction: then the provider itself has shown it.</p></div>
${boxes(
  data.map((one) => unmatchedBox(one)),
  'There is none.',
)}`;
  return { title: 'Unmatched notifications', place: 'unmatched', main };
}

/** @param isFound `true` in the result of a search: a link to the same search would lead nowhere */
function unmatchedBox(
  { transId, status, externalId, at, statement, unread }: Unmatched['data'][number],
  isFound = false,
): Html {
  const own = parsePaymentId(externalId);
  const named: Content = own !== undefined ? html`<a href="${paymentAddress(own)}">${own}</a>` : externalId;
  const title = transId === undefined ? "A notification that can't be read" : html`<code>${transId}</code>`;
  return html`<h2>${title} ${status === undefined ? undefined : badge(status)}</h2>
${factList([
  [statement === undefined ? 'Received' : 'Found', html`${time(at)}, ${age(at)} ago`],
  [
    'Found by',
    statement && html`<a href="/desk/statements/${encodeURIComponent(statement)}">the statement of ${statement}</a>`,
  ],
  ['Made for (externalId)', named ?? 'not said'],
  ['As it came', unread === undefined ? undefined : html`<code>${unread || 'nothing'}</code>`],
])}
${transId !== undefined && !isFound && html`<p><a href="${searchAddress(transId)}">Look for this transaction</a></p>`}`;
}

/** What the API takes to look for: it refuses anything else. */
const REFERENCE = /^[!-~]{1,200}$/;

/** Payments that a search shows. */
const MAX_FOUND = 20;

/** GET /desk/search?q=…: payments by any identifier. */
export async function searchPage(visit: Visit): Promise<PageReply> {
  const { api } = visit;
  const wanted = visit.query('q').trim();
  const results = wanted === '' ? undefined : await search(api, wanted);
  const [first, ...others] = results?.found ?? [];
  if (first?.id === wanted && others.length === 0) return { to: paymentAddress(wanted) };
  const title = wanted === '' ? 'Search' : `Search for ${wanted.slice(0, 60)}`;
  const main = html`
<div class="title"><h1>Search</h1></div>
<form class="card" method="get" action="/desk/search"><div class="row search">
<div class="field"><label for="q">Payment, order, customer or transaction</label>
<span class="hint" id="q-hint">The payment's id (col_… or pay_…), the merchant's externalId or its beginning, or userId, the provider's transaction id, or the mobile operator's reference, which the payer's text message has. Phone numbers are kept where nobody can search for them: ask the caller for the order, or look in the provider's portal for the transaction.</span>
<input id="q" name="q" value="${wanted}" maxlength="200" aria-describedby="q-hint" autocomplete="off" autocapitalize="none" spellcheck="false" required></div>
<div class="actions"><button class="button">Search</button></div></div></form>
${results && resultList(wanted, results)}`;
  return { title, place: 'search', main };
}

type Found = PaymentPage['data'][number];

interface Results {
  readonly found: readonly Found[];
  readonly unmatched: Unmatched['data'];
  /** Why payments could not be searched. */
  readonly missing: string | undefined;
}

async function search(api: OperatorApi, wanted: string): Promise<Results> {
  const [list, unmatchedPart] = await Promise.all([
    REFERENCE.test(wanted) ? partOf(api.list({ reference: wanted, limit: MAX_FOUND })) : undefined,
    partOf(api.unmatched()),
  ]);
  const unmatched = unmatchedPart.kind === 'ok' ? unmatchedPart.value.data : [];
  return {
    found: list?.kind === 'ok' ? list.value.data : [],
    unmatched: unmatched.filter(({ transId, externalId }) => transId === wanted || externalId === wanted),
    missing: list && missingOf(list),
  };
}

function missingOf(list: Part<PaymentPage>): string | undefined {
  if (list.kind === 'missing') return list.why;
  const unread = list.value.unreadable.map(({ id }) => id);
  return unread.length === 0 ? undefined : `These have it, and could not be read: ${unread.join(', ')}.`;
}

/** The identifiers by which a payment was found. The operator's reference isn't in a list. */
function foundBy({ id, externalId, userId, transId }: Found, wanted: string): readonly string[] {
  const by = Object.entries({ id, externalId, userId, transaction: transId }).flatMap(([name, value]) =>
    value === wanted ? [name] : [],
  );
  if (by.length > 0) return by;
  return [externalId?.startsWith(wanted) ? 'the beginning of its externalId' : "operator's reference"];
}

function resultList(wanted: string, { found, unmatched: kept, missing }: Results): Html {
  const isNothing = found.length === 0 && kept.length === 0;
  return html`
${missing !== undefined && incompleteBox(missing)}
<section class="stack" aria-labelledby="found"><h2 id="found">${isNothing ? 'Nothing was found' : `${counted(found.length, 'payment', 'payments')} found`}</h2>
${isNothing && html`<p>No payment has ${wanted} as its id, externalId, userId, transaction or operator's reference.</p>`}
${boxes(found.map((one) => foundBox(one, wanted)))}
${kept.length > 0 && html`<h2>Notifications that match no payment</h2>${boxes(kept.map((one) => unmatchedBox(one, true)))}`}
</section>`;
}

function foundBox(summary: Found, wanted: string): Html {
  const { id, merchant, status, final, createdAt } = summary;
  return html`<div class="title-line"><h3><a href="${paymentAddress(id)}">${nameOf(summary)}</a></h3>${badge(status, final)}</div>
<div class="meta"><span>By ${foundBy(summary, wanted).join(', ')}</span><span>Merchant <strong>${merchant}</strong></span><span>Created ${time(createdAt)}</span><span><code>${id}</code></span></div>`;
}
