import { type Content, type Html, html } from '../http/html.js';
import { IDENTIFIER_PATTERN } from '../payments/words/limits.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { OperatorApi, PaymentPage, Unmatched } from './api-client.js';
import { boxes, factList, incompleteBox } from './page.js';
import { type PageReply, partOf, requireValue, type Visit } from './visit.js';
import { age, badge, counted, INCOMPLETE, nameOf, paymentAddress, searchAddress, time } from './words.js';

/** GET /desk/unmatched: the provider's notifications that match no payment. */
export async function unmatchedPage({ api }: Visit): Promise<PageReply> {
  const { data } = requireValue(await api.unmatched());
  const main = html`
<div class="title"><h1>Notifications that match no payment, or can't be read</h1>
<p>The provider's latest 200 of them, newest first. They come from a payment that somebody made by hand at the provider, from another system on the same account, or from somebody who knows the webhook's address. They prove nothing, unless a <a href="/desk/statements">statement</a> has found the transaction: then the provider itself has shown it.</p></div>
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

/** The API's filters that a search uses, what pages call each, and what it takes: the API refuses anything else. */
const FILTERS = [
  ['externalId', 'externalId', IDENTIFIER_PATTERN],
  ['userId', 'userId', IDENTIFIER_PATTERN],
  ['transId', 'transaction', /^[A-Za-z0-9_.:/+=@~-]{1,200}$/],
  ['financialTransId', "operator's reference", /^[!-~]{1,200}$/],
] as const;

/** Payments that a search shows of each kind. */
const MAX_FOUND = 20;

/** GET /desk/search?q=…: payments by any identifier. */
export async function searchPage(visit: Visit): Promise<PageReply> {
  const { api } = visit;
  const wanted = visit.query('q').trim();
  const results = wanted === '' ? undefined : await search(api, wanted);
  if (results?.direct !== undefined && results.found.length === 0) return { to: paymentAddress(results.direct) };
  const title = wanted === '' ? 'Search' : `Search for ${wanted.slice(0, 60)}`;
  const main = html`
<div class="title"><h1>Search</h1></div>
<form class="card" method="get" action="/desk/search"><div class="row search">
<div class="field"><label for="q">Payment, order, customer or transaction</label>
<span class="hint" id="q-hint">The payment's id (col_… or pay_…), the merchant's externalId or userId, the provider's transaction id, or the mobile operator's reference, which the payer's text message has. Phone numbers are kept where nobody can search for them: ask the caller for the order, or look in the provider's portal for the transaction.</span>
<input id="q" name="q" value="${wanted}" maxlength="200" aria-describedby="q-hint" autocomplete="off" autocapitalize="none" spellcheck="false" required></div>
<div class="actions"><button class="button">Search</button></div></div></form>
${results && resultList(wanted, results)}`;
  return { title, place: 'search', main };
}

interface Found {
  readonly summary: PaymentPage['data'][number];
  /** The identifiers that it was found by. */
  readonly by: readonly string[];
}

interface Results {
  /** The payment whose id it is. */
  readonly direct?: string | undefined;
  readonly found: readonly Found[];
  readonly unmatched: Unmatched['data'];
  /** Reasons why something could not be searched. */
  readonly missing: readonly string[];
}

async function search(api: OperatorApi, wanted: string): Promise<Results> {
  const id = parsePaymentId(wanted);
  const filters = FILTERS.filter(([, , pattern]) => pattern.test(wanted));
  const [own, unmatchedPart, lists] = await Promise.all([
    id === undefined ? undefined : partOf(api.payment(id)),
    partOf(api.unmatched()),
    Promise.all(filters.map(([filter]) => partOf(api.list({ [filter]: wanted, limit: MAX_FOUND })))),
  ]);
  const found = new Map<string, Found>();
  const missing: string[] = [];
  for (const [index, part] of lists.entries()) {
    const by = filters[index]?.[1] ?? '';
    if (part.kind === 'missing') {
      // Missing records won't appear in a moment; the page says what can't be found without them.
      if (part.code !== 'no_records') missing.push(`${by}: ${part.why}`);
      continue;
    }
    if (part.value.incomplete) missing.push(`${by}: ${INCOMPLETE}`);
    for (const summary of part.value.data) {
      found.set(summary.id, { summary, by: [...(found.get(summary.id)?.by ?? []), by] });
    }
  }
  const unmatched = unmatchedPart.kind === 'ok' ? unmatchedPart.value.data : [];
  return {
    direct: own?.kind === 'ok' ? own.value.id : undefined,
    found: [...found.values()],
    unmatched: unmatched.filter(({ transId, externalId }) => transId === wanted || externalId === wanted),
    missing,
  };
}

function resultList(wanted: string, { found, unmatched: kept, missing }: Results): Html {
  const isNothing = found.length === 0 && kept.length === 0;
  return html`
${missing.length > 0 && incompleteBox(missing.join(' '))}
<section class="stack" aria-labelledby="found"><h2 id="found">${isNothing ? 'Nothing was found' : `${counted(found.length, 'payment', 'payments')} found`}</h2>
${isNothing && html`<p>No payment has ${wanted} as its id, externalId, userId, transaction or operator's reference. By the operator's reference, a payment is found about a minute after its end, and only with records. Without records, ended payments are found for as long as Temporal keeps them.</p>`}
${boxes(found.map(foundBox))}
${kept.length > 0 && html`<h2>Notifications that match no payment</h2>${boxes(kept.map((one) => unmatchedBox(one, true)))}`}
</section>`;
}

function foundBox({ summary, by }: Found): Html {
  const { id, merchant, status, final, createdAt } = summary;
  return html`<div class="title-line"><h3><a href="${paymentAddress(id)}">${nameOf(summary)}</a></h3>${badge(status, final)}</div>
<div class="meta"><span>By ${by.join(', ')}</span><span>Merchant <strong>${merchant}</strong></span><span>Created ${time(createdAt)}</span><span><code>${id}</code></span></div>`;
}
