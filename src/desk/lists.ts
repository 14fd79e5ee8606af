import { type Content, type Html, html } from '../http/html.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { OperatorApi, Payment, PaymentPage, Unmatched } from './api-client.js';
import { facts, noticeBox, page } from './page.js';
import { type Notification, notificationOf, proposedWords } from './payment-page.js';
import { takeNotice } from './session.js';
import { type PageReply, type Part, partOf, requireValue, type Visit } from './visit.js';
import {
  age,
  badge,
  count,
  counted,
  type DeliveriesOf,
  deliveriesAddress,
  nameOf,
  paymentAddress,
  personOf,
  sentence,
  time,
} from './words.js';

type Summary = PaymentPage['data'][number];

/** Payments on one page of the queue. Each is read by itself, for why it is there. */
const PAGE_SIZE = 20;

/** What the API means by `incomplete`. */
const INCOMPLETE = "The records can't be read at the moment: payments that Temporal has deleted are missing.";

/** GET /desk: the payments that a person has to decide, oldest first. */
export async function reviewQueue(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const filter = { merchant: visit.query('merchant').trim(), kind: visit.query('kind') };
  const cursor = visit.query('cursor');
  const begun = Date.now();
  const { data, total, unreadable, incomplete, nextCursor } = requireValue(
    await api.reviews({
      merchant: filter.merchant || undefined,
      kind: filter.kind || undefined,
      limit: PAGE_SIZE,
      cursor: cursor || undefined,
    }),
  );
  const read = await Promise.all(data.map(({ id }) => partOf(api.payment(id))));
  const isPart = cursor !== '' || nextCursor !== undefined;
  const main = html`
<div class="title"><h1>Payments in REVIEW</h1>
<p>${counted(total, 'payment needs', 'payments need')} a person's decision${isPart && `; ${count(data.length)} of them are on this page`}. Oldest first, listed ${time(begun)}; the index can lag behind by a moment.</p></div>
${incomplete && html`<div class="notice" role="alert"><strong>Not complete</strong><p>${INCOMPLETE}</p></div>`}
${filterForm(filter)}
${unreadable.length > 0 && unreadableBox(unreadable)}
${data.length === 0 ? html`<div class="card"><p>${nothingInReview(isPart, incomplete)}</p></div>` : html`<ol class="list">${data.map((summary, index) => html`<li class="item">${queued(summary, read[index])}</li>`)}</ol>`}
${pager({ isFirst: cursor === '', first: queueAddress(filter), next: nextCursor && queueAddress(filter, nextCursor) })}`;
  return { page: page({ title: 'Payments in REVIEW', session, place: 'review', main }) };
}

function nothingInReview(isPart: boolean, incomplete = false): string {
  if (isPart) return 'None of these is in REVIEW any more.';
  return incomplete ? 'Nothing is known to be in REVIEW.' : 'Nothing is in REVIEW.';
}

interface QueueFilter {
  readonly merchant: string;
  readonly kind: string;
}

function queueAddress({ merchant, kind }: QueueFilter, cursor?: string): string {
  const wanted = Object.entries({ merchant, kind, cursor }).filter(([, value]) => value);
  const query = new URLSearchParams(wanted as [string, string][]).toString();
  return query === '' ? '/desk' : `/desk?${query}`;
}

function queued(summary: Summary, part: Part<Payment> | undefined): Html {
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
    value === kind
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  return html`<form class="card" method="get" action="/desk"><div class="row">
<div class="field"><label for="merchant">Merchant</label><input id="merchant" name="merchant" value="${merchant}" maxlength="40" autocomplete="off" autocapitalize="none"></div>
<div class="field"><label for="kind">Kind</label><select id="kind" name="kind">${option('', 'All')}${option('payout', 'Payouts')}${option('collection', 'Collections')}</select></div>
<div class="actions"><button class="button plain">Narrow the list</button></div></div></form>`;
}

function unreadableBox(unreadable: PaymentPage['unreadable']): Html {
  return html`<div class="notice"><p>${counted(unreadable.length, "payment's entry", "payments' entries")} in Temporal's index can't be read. They may be in REVIEW, too:</p>
<ul>${unreadable.map(({ id }) => html`<li><a href="${paymentAddress(id)}">${id}</a></li>`)}</ul></div>`;
}

/** What the two pages of notifications that merchants have not acknowledged say. */
const UNACKNOWLEDGED = {
  due: {
    title: 'Deliveries that are due',
    may: 'Each is tried for 72 hours, and then given up.',
    none: 'No delivery is due.',
    other: 'Deliveries that were given up',
  },
  abandoned: {
    title: 'Deliveries that were given up',
    may: 'Nobody sends these unless you do: find out why the merchant did not take them, and send them again. They are listed for as long as Temporal keeps the payment.',
    none: 'No delivery was given up, or each was sent again.',
    other: 'Deliveries that are due',
  },
} as const;

/**
 * GET /desk/deliveries and /desk/deliveries/given-up: what merchants have not acknowledged, of a hundred payments at a
 * time.
 */
export const deliveriesPage =
  (which: DeliveriesOf) =>
  async (visit: Visit): Promise<PageReply> => {
    const { session, api } = visit;
    const cursor = visit.query('cursor');
    const { data, total, checked, unread, nextCursor } = requireValue(
      await api.unacknowledged(which, { cursor: cursor || undefined }),
    );
    const words = UNACKNOWLEDGED[which];
    const isPart = cursor !== '' || nextCursor !== undefined;
    const main = html`
<div class="title"><h1>${words.title}</h1>
<p>${total > 0 && html`${counted(total, 'payment', 'payments')} may have some${isPart && `, and ${count(checked)} of them ${checked === 1 ? 'was' : 'were'} asked for this page`}. ${counted(data.length, 'notification is', 'notifications are')} listed here, the oldest payment's first. `}${words.may}</p>
<p><a href="${deliveriesAddress(which === 'due' ? 'abandoned' : 'due')}">${words.other}</a></p></div>
${noticeBox(takeNotice(session, which))}
${unread > 0 && html`<div class="notice" role="alert"><strong>Not complete</strong><p>${counted(unread, 'payment', 'payments')} could not answer in time.</p></div>`}
${
  data.length === 0
    ? html`<div class="card"><p>${isPart ? 'These payments have none.' : words.none}</p></div>`
    : html`<ol class="list">${data.map(
        ({ payment, notification }) => html`<li class="item">
<div class="title-line"><h2><a href="${paymentAddress(payment.id)}">${nameOf(payment)}</a></h2>${badge(payment.status)}</div>
<div class="meta"><span>Merchant <strong>${payment.merchant}</strong></span><span>${AGES[which](notification)}</span><span><code>${payment.id}</code></span></div>
${notificationOf(session, payment.id, notification, { which, cursor })}</li>`,
      )}</ol>`
}
${pager({ isFirst: cursor === '', first: deliveriesAddress(which), next: nextCursor && deliveriesAddress(which, nextCursor) })}`;
    return { page: page({ title: words.title, session, place: 'deliveries', main }) };
  };

const AGES: Readonly<Record<DeliveriesOf, (notification: Notification) => string>> = {
  due: ({ at }) => `Due for ${age(at)}`,
  abandoned: ({ delivery }) => `Given up ${age(delivery.at)} ago`,
};

/** The way through a list whose pages are found by cursors: none leads back but to the first. */
function pager({
  isFirst,
  first,
  next,
}: {
  readonly isFirst: boolean;
  readonly first: string;
  readonly next: string | undefined;
}): Html | undefined {
  if (isFirst && next === undefined) return undefined;
  return html`<nav class="pages" aria-label="Pages">
${!isFirst && html`<a class="button plain" href="${first}">Oldest payments</a>`}
${next && html`<a class="button plain" href="${next}" rel="next">Newer payments</a>`}</nav>`;
}

/** GET /desk/unmatched: the provider's notifications that match no payment. */
export async function unmatchedPage({ session, api }: Visit): Promise<PageReply> {
  const { data } = requireValue(await api.unmatched());
  const main = html`
<div class="title"><h1>Notifications that match no payment, or can't be read</h1>
<p>The provider's latest 200 of them, newest first. They come from a payment that somebody made by hand at the provider, from another system on the same account, or from somebody who knows the webhook's address. They prove nothing, unless a <a href="/desk/statements">statement</a> has found the transaction: then the provider itself has shown it.</p></div>
${data.length === 0 ? html`<div class="card"><p>There is none.</p></div>` : html`<ol class="list">${data.map((one) => html`<li class="item">${unmatched(one)}</li>`)}</ol>`}`;
  return { page: page({ title: 'Unmatched notifications', session, place: 'unmatched', main }) };
}

/** @param isFound whether a search has led here: another one for the same would lead nowhere */
function unmatched(
  { transId, status, externalId, at, statement, unread }: Unmatched['data'][number],
  isFound = false,
): Html {
  const own = parsePaymentId(externalId);
  const named: Content = own !== undefined ? html`<a href="${paymentAddress(own)}">${own}</a>` : externalId;
  const title = transId === undefined ? "A notification that can't be read" : html`<code>${transId}</code>`;
  return html`<h2>${title} ${status === undefined ? undefined : badge(status)}</h2>
${facts([
  [statement === undefined ? 'Received' : 'Found', html`${time(at)}, ${age(at)} ago`],
  [
    'Found by',
    statement && html`<a href="/desk/statements/${encodeURIComponent(statement)}">the statement of ${statement}</a>`,
  ],
  ['Made for (externalId)', named ?? 'not said'],
  ['As it came', unread === undefined ? undefined : html`<code>${unread || 'nothing'}</code>`],
])}
${transId !== undefined && !isFound && html`<p><a href="/desk/search?q=${encodeURIComponent(transId)}">Look for this transaction</a></p>`}`;
}

/** What can be part of a search: the API refuses anything else. */
const IDENTIFIER = /^[a-zA-Z0-9_-]{1,100}$/;
const TRANSACTION = /^[A-Za-z0-9_.:/+=@~-]{1,200}$/;
const REFERENCE = /^[!-~]{1,200}$/;

/** Payments that a search shows of each kind. */
const MAX_FOUND = 20;

/** GET /desk/search?q=…: payments by any identifier. */
export async function searchPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
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
  return { page: page({ title, session, place: 'search', main }) };
}

interface Results {
  /** The payment whose id it is. */
  readonly direct?: string | undefined;
  readonly found: readonly { readonly summary: Summary; readonly by: readonly string[] }[];
  readonly unmatched: Unmatched['data'];
  /** What could not be searched, and why. */
  readonly missing: readonly string[];
}

async function search(api: OperatorApi, wanted: string): Promise<Results> {
  const isIdentifier = IDENTIFIER.test(wanted);
  const list = async (by: string, query: Parameters<OperatorApi['list']>[0], isPossible: boolean) => ({
    by,
    part: isPossible ? await partOf(api.list({ ...query, limit: MAX_FOUND })) : undefined,
  });
  const id = parsePaymentId(wanted);
  const [own, unmatchedPart, ...lists] = await Promise.all([
    id === undefined ? undefined : partOf(api.payment(id)),
    partOf(api.unmatched()),
    list('externalId', { externalId: wanted }, isIdentifier),
    list('userId', { userId: wanted }, isIdentifier),
    list('transaction', { transId: wanted }, TRANSACTION.test(wanted)),
    list("operator's reference", { financialTransId: wanted }, REFERENCE.test(wanted)),
  ]);
  const found = new Map<string, { summary: Summary; by: string[] }>();
  for (const { by, part } of lists) {
    for (const summary of part?.kind === 'ok' ? part.value.data : []) {
      const known = found.get(summary.id) ?? { summary, by: [] };
      known.by.push(by);
      found.set(summary.id, known);
    }
  }
  return {
    direct: own?.kind === 'ok' ? own.value.id : undefined,
    found: [...found.values()],
    unmatched:
      unmatchedPart.kind === 'ok'
        ? unmatchedPart.value.data.filter((one) => one.transId === wanted || one.externalId === wanted)
        : [],
    missing: lists.flatMap(({ by, part }) => {
      // That there are no records won't change in a moment; the page says what isn't found without them.
      if (part?.kind === 'missing') return part.code === 'no_records' ? [] : [`${by}: ${part.why}`];
      return part?.value.incomplete ? [`${by}: ${INCOMPLETE}`] : [];
    }),
  };
}

function resultList(wanted: string, { found, unmatched: kept, missing }: Results): Html {
  const isNothing = found.length === 0 && kept.length === 0;
  return html`
${missing.length > 0 && html`<div class="notice" role="alert"><strong>Not complete</strong><p>${missing.join(' ')}</p></div>`}
<section class="stack" aria-labelledby="found"><h2 id="found">${isNothing ? 'Nothing was found' : `${counted(found.length, 'payment', 'payments')} found`}</h2>
${isNothing && html`<p>No payment has ${wanted} as its id, externalId, userId, transaction or operator's reference. By the operator's reference, a payment is found about a minute after its end, and only with records. Without records, ended payments are found for as long as Temporal keeps them.</p>`}
<ul class="list">${found.map(
    ({
      summary,
      by,
    }) => html`<li class="item"><div class="title-line"><h3><a href="${paymentAddress(summary.id)}">${nameOf(summary)}</a></h3>${badge(summary.status, summary.final)}</div>
<div class="meta"><span>By ${by.join(', ')}</span><span>Merchant <strong>${summary.merchant}</strong></span><span>Created ${time(summary.createdAt)}</span><span><code>${summary.id}</code></span></div></li>`,
  )}</ul>
${kept.length > 0 && html`<h2>Notifications that match no payment</h2><ul class="list">${kept.map((one) => html`<li class="item">${unmatched(one, true)}</li>`)}</ul>`}
</section>`;
}
