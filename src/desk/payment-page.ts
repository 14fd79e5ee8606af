import { type Html, html } from '../http/html.js';
import { ownerOf } from '../payments/machine/matching.js';
import { isFinal } from '../payments/words/order.js';
import type { ProviderStatus } from '../payments/words/transaction.js';
import type { Notifications, Payment, Proposed, ProviderView, Timeline } from './api-client.js';
import { DECISIONS, reviewNumber, waitingResend } from './decisions.js';
import { type Action, DECIDED } from './draft.js';
import { csrfField, facts, noticeBox, page } from './page.js';
import { leaveNotice, type Notice, type Session, takeNotice } from './session.js';
import { type PageReply, type Part, partOf, requireValue, type Visit } from './visit.js';
import {
  age,
  amount,
  amountOf,
  badge,
  type DeliveriesOf,
  deliveriesAddress,
  duration,
  forcedWords,
  nameOf,
  paymentAddress,
  personOf,
  sentence,
  time,
} from './words.js';

type TimelineEntry = Timeline['data'][number];
export type Notification = Notifications['data'][number];
type Transaction = ProviderView['list']['transactions'][number];

interface Shown {
  readonly payment: Payment;
  readonly timeline: Part<Timeline>;
  readonly notifications: Part<Notifications>;
  readonly records: Part<ProviderView>;
}

/** GET /desk/payments/:id: all that is known of a payment, with what the provider shows at this moment. */
export async function paymentPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const payment = requireValue(await api.payment(id));
  const [timeline, notifications, records] = await Promise.all([
    partOf(api.timeline(id)),
    partOf(api.notifications(id)),
    partOf(api.records(id)),
  ]);
  const shown = { payment, timeline, notifications, records };
  return { page: render(session, shown, takeNotice(session, id)) };
}

/**
 * POST /desk/payments/:id/refresh: has the payment itself ask the provider, or compare a final one with its records.
 */
export async function refreshPayment(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const answer = await api.refresh(id);
  leaveNotice(session, id, refreshNotice(answer));
  return { to: paymentAddress(id) };
}

function refreshNotice(answer: Awaited<ReturnType<Visit['api']['refresh']>>): Notice {
  if (answer.kind === 'problem') return { kind: 'unknown', text: answer.problem.detail };
  const { status, final } = answer.value;
  if (answer.status === 202) {
    return { kind: 'unknown', text: "The provider hasn't answered yet. Load this page again in a moment." };
  }
  const [limits, end] = final ? ['', ', and final'] : [', as far as its limit on questions allows', ''];
  return {
    kind: 'done',
    text: `The provider was asked${limits}: the payment is ${status}${end}. The timeline has the answer.`,
  };
}

/** POST /desk/payments/:id/notifications/:number: has a notification delivered again. */
export async function resendNotification(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const [id, number] = [visit.param('id'), visit.param('number')];
  const answer = await api.resend(id, number);
  const from = visit.field('from');
  const list = from === 'due' || from === 'abandoned' ? from : undefined;
  leaveNotice(
    session,
    list ?? id,
    answer.kind === 'ok'
      ? { kind: 'done', text: `Notification ${number} of ${id} is being sent again.` }
      : { kind: answer.problem.status >= 500 ? 'unknown' : 'refused', text: answer.problem.detail },
  );
  return { to: list === undefined ? paymentAddress(id) : deliveriesAddress(list, visit.field('cursor')) };
}

function render(session: Session, shown: Shown, notice: Notice | undefined): string {
  const { payment, timeline, notifications, records } = shown;
  const title = nameOf(payment);
  const main = html`
<div class="title">
<div class="title-line"><h1>${title}</h1>${badge(payment.status, payment.final)}</div>
<p class="quiet"><code>${payment.id}</code></p>
</div>
${noticeBox(notice)}
${reasonBox(payment)}
${proposalBox(session, payment)}
${resendBox(session, payment)}
<div class="columns">
<div class="stack">
${evidence(payment, records)}
${decisions(payment, records)}
${history(timeline)}
</div>
<div class="stack">
${orderFacts(payment)}
${sentRequests(timeline)}
${deliveries(session, payment, notifications)}
${actions(session, payment)}
</div>
</div>`;
  return page({ title: `${title}, ${payment.status}`, session, main });
}

function reasonBox({ review, reason, status }: Payment): Html | undefined {
  if (status !== 'REVIEW') return undefined;
  const since = review && html` Review ${review.number}, open for ${age(review.since)}.`;
  const none =
    review === undefined &&
    html`<p>The payment's workflow was stopped by hand, so nobody can decide on it here. See "Those that nobody can decide" in the operators' guide.</p>`;
  return html`<section class="notice" aria-labelledby="why"><h2 id="why">Why a person has to decide</h2>
<p>${sentence(reason ?? 'no reason is known')}</p><p class="quiet">${since}</p>${none}</section>`;
}

/** A decision that waits for a second person, and what the one who is signed in can do with it. */
function proposalBox({ name }: Session, payment: Payment): Html | undefined {
  const { proposed, rejected } = payment.review ?? {};
  if (proposed === undefined) return rejected && rejectedBox(rejected);
  const isOwn = proposed.by === name;
  const reject = decideAddress(payment, 'reject');
  const confirm = `${decideAddress(payment, proposed.action)}${proposed.transId === undefined ? '' : `&transId=${encodeURIComponent(proposed.transId)}`}`;
  return html`<section class="notice" aria-labelledby="second"><h2 id="second">Waits for a second person</h2>
<p>${proposedWords(proposed)}, ${time(proposed.at)}. Why: ${proposed.why}</p>
<p class="quiet">${isOwn ? 'Nothing has been done yet. Somebody with a key of another name has to decide the same; until then, you can withdraw it.' : 'Nothing has been done yet. Look at what the provider shows before you decide the same: then it is carried out. It is void when there is new evidence.'}</p>
<div class="actions">${!isOwn && html`<a class="button" href="${confirm}">Decide the same: ${DECISIONS[proposed.action].name}<span aria-hidden="true">&nbsp;…</span></a>`}
<a class="button plain" href="${reject}">${isOwn ? 'Withdraw it' : 'Reject it'}<span aria-hidden="true">&nbsp;…</span></a></div></section>`;
}

/** A decision to send the payment once more that may still be taken back. */
function resendBox({ name }: Session, payment: Payment): Html | undefined {
  const decided = waitingResend(payment);
  if (decided === undefined) return undefined;
  const { by, at, why } = decided;
  const reject = decideAddress(payment, 'reject');
  return html`<section class="notice" aria-labelledby="resend"><h2 id="resend">To be sent once more</h2>
<p><strong>${by}</strong> has decided so, ${time(at)}. Why: ${why}</p>
<p class="quiet">It could not be sent yet, and waits: this decision can be taken back. The timeline says why.</p>
<div class="actions"><a class="button plain" href="${reject}">${by === name ? 'Withdraw it' : 'Reject it'}<span aria-hidden="true">&nbsp;…</span></a></div></section>`;
}

type Rejected = NonNullable<NonNullable<Payment['review']>['rejected']>;

function rejectedBox({ action, proposedBy, by, why, at }: Rejected): Html {
  const what = by === proposedBy ? 'withdrew the decision' : `rejected the decision of ${proposedBy}`;
  return html`<section class="notice" aria-labelledby="second"><h2 id="second">A decision was ${by === proposedBy ? 'withdrawn' : 'rejected'}</h2>
<p>${by} ${what} (${DECISIONS[action].name}), ${time(at)}. Why: ${why}</p></section>`;
}

/** What one of two people has decided, without its end. */
export function proposedWords({ action, transId, transactionAmount, by, ...rest }: Omit<Proposed, 'why' | 'at'>): Html {
  return html`<strong>${by}</strong> has decided: ${DECISIONS[action].name}${transId && html` <code>${transId}</code>`}${transactionAmount !== undefined && ` of ${amount(transactionAmount)}`}${forcedWords(rest)}`;
}

function orderFacts(payment: Payment): Html {
  const { resolution } = payment;
  const decided =
    resolution &&
    html`${resolution.by}: ${resolution.action}${resolution.transId && html` <code>${resolution.transId}</code>`}${forcedWords(resolution)}, on review ${resolution.review}. Why: ${resolution.why}${resolution.approval && html`. Second person: ${resolution.approval.by}. Why: ${resolution.approval.why}`}. Carried out ${time(resolution.at)}`;
  const metadata = Object.entries(payment.metadata);
  return html`<section class="card" aria-labelledby="order"><h2 id="order">The order</h2>
${facts([
  ['Amount', amountOf(payment)],
  ['Merchant', payment.merchant],
  [payment.kind === 'payout' ? 'Recipient' : 'Payer', personOf(payment)],
  ['Order (externalId)', payment.externalId],
  ['Customer (userId)', payment.userId],
  ['Message', payment.message],
  ['Transaction', payment.transId && html`<code>${payment.transId}</code>`],
  ["Operator's reference", payment.financialTransId],
  ['Medium', payment.medium],
  ['Fee', payment.fee !== undefined && amount(payment.fee, payment.currency)],
  ['Reason', payment.status !== 'REVIEW' && payment.reason],
  ['Failure code', payment.failureCode],
  ['Created', time(payment.createdAt)],
  ['Changed', time(payment.updatedAt)],
  ['Link ends', payment.expiresAt && time(payment.expiresAt)],
  ['Decided', decided],
  [
    'Metadata',
    metadata.length > 0 && html`<ul>${metadata.map(([name, value]) => html`<li>${name}: ${value}</li>`)}</ul>`,
  ],
])}</section>`;
}

/** What the provider shows at this moment, or that it isn't known. */
function evidence(payment: Payment, records: Part<ProviderView>): Html {
  return html`<section class="card" aria-labelledby="provider"><h2 id="provider">What the provider shows now</h2>
${records.kind === 'ok' ? recordsOf(payment, records.value) : html`<p class="differs">Not known. ${records.why}</p>`}
<p class="quiet">Only the provider's interface is asked: look in its portal as well. What is shown here decides nothing; each decision is checked with the provider again.</p>
</section>`;
}

function recordsOf(payment: Payment, { list, status }: ProviderView): Html {
  return html`${listOf(payment, list)}${status && statusOf(payment, status)}`;
}

function listOf(payment: Payment, { answer, transactions, asOf, message }: ProviderView['list']): Html {
  if (answer !== 'listed') {
    return html`<p><span class="differs">Its list isn't known</span>, asked ${time(asOf)}: ${message ?? answer}.</p>`;
  }
  if (transactions.length === 0) {
    return html`<p>Its list, read ${time(asOf)}, has <strong>no transaction</strong> for this payment. It may list one late.</p>`;
  }
  const many =
    transactions.length > 1 &&
    html`<p class="differs">There are ${transactions.length}: the money may have moved more than once.</p>`;
  return html`<p>Its list, read ${time(asOf)}:</p>${many}
<ul class="list">${transactions.map((one) => html`<li>${transactionOf(payment, one)}</li>`)}</ul>`;
}

function statusOf(payment: Payment, status: NonNullable<ProviderView['status']>): Html {
  const { answer, transId, transaction, asOf, message } = status;
  if (transaction !== undefined) {
    return html`<p>Asked for the payment's own transaction ${time(asOf)}:</p>${transactionOf(payment, transaction)}`;
  }
  return answer === 'unknown'
    ? html`<p>Asked for <code>${transId}</code> ${time(asOf)}: <span class="differs">the provider doesn't know it</span> (${message ?? 'without a reason'}).</p>`
    : html`<p><span class="differs">The status of <code>${transId}</code> isn't known</span>, asked ${time(asOf)}: ${message ?? answer}.</p>`;
}

function transactionOf(payment: Payment, transaction: Transaction): Html {
  const { transId, status, externalId, userId, transType } = transaction;
  const isOtherAmount = transaction.amount !== undefined && transaction.amount !== payment.amount;
  const isAnothers = ['another', 'disputed'].includes(ownerOf(payment.id, transaction));
  const names = [...new Set([externalId, userId].filter((one) => one !== undefined))].join(', ');
  const type = payment.kind === 'payout' ? 'Payout' : 'Collection';
  const isOtherType = transType !== undefined && transType !== type;
  const differs = (words: string) => html` <span class="differs">${words}</span>`;
  return html`<div class="item"><h3><code>${transId}</code> ${badge(status)}</h3>
${facts([
  [
    'Amount',
    transaction.amount === undefined
      ? 'not said'
      : html`${amount(transaction.amount)}${isOtherAmount && differs(`the order is of ${amount(payment.amount)}`)}`,
  ],
  ['Made for', names === '' ? 'not said' : html`<code>${names}</code>${isAnothers && differs('another payment')}`],
  ['Type', transType && html`${transType}${isOtherType && differs(`the order is a ${type}`)}`],
  ['Medium', transaction.medium],
  ['After fees', transaction.revenue !== undefined && amount(transaction.revenue)],
  ["Operator's reference", transaction.financialTransId],
  ['Reason', transaction.reason],
])}
${payment.review && html`<p><a class="button plain" href="${decideAddress(payment, 'match')}&amp;transId=${encodeURIComponent(transId)}">Match ${transId}</a></p>`}
</div>`;
}

function decideAddress(payment: Payment, action: Action): string {
  return `${paymentAddress(payment.id)}/decide/${action}?review=${reviewNumber(payment, action) ?? ''}`;
}

function decisions(payment: Payment, records: Part<ProviderView>): Html | undefined {
  const { review } = payment;
  if (review === undefined) return undefined;
  return html`<section class="card" aria-labelledby="decide"><h2 id="decide">Decide on review ${review.number}</h2>
<p class="quiet">Sanaga checks every decision with the provider at that moment, and refuses it when the provider's records speak against it or can't be read.</p>
${review.secondPerson && html`<p>A decision on this payout <strong>takes two people</strong>: it is carried out when a second one has made the same.</p>`}
<ul class="list">${DECIDED.map((action) => {
    const { name, effect, refusedWhen } = DECISIONS[action];
    return html`<li class="item"><h3>${name}</h3><p>${effect}</p>
<p class="quiet"><strong>Refused when</strong> ${refusedWhen}</p>${objections(payment, action, records)}
<p><a class="button ${action !== 'match' && 'plain'}" href="${decideAddress(payment, action)}">${name}<span aria-hidden="true">&nbsp;…</span></a></p></li>`;
  })}</ul></section>`;
}

/** What stands against a decision at this moment, as far as the page knows. */
function objections({ review, method }: Payment, action: Action, records: Part<ProviderView>): Html[] {
  if (action === 'match' || review === undefined) return [];
  const found: Html[] = [];
  const waitMs = Date.parse(review.decideFrom) - Date.now();
  if (waitMs > 0) {
    found.push(
      html`<p class="differs">Too early until ${time(review.decideFrom)}, in ${duration(waitMs)}: the provider may list a transaction late.</p>`,
    );
  }
  const list = records.kind === 'ok' && records.value.list.answer === 'listed' ? records.value.list : undefined;
  const isOver = (status: ProviderStatus) => status !== 'SUCCESSFUL' && isFinal({ kind: method ?? 'payout' }, status);
  const inTheWay = list?.transactions.filter(({ status }) => action === 'resend' || !isOver(status)) ?? [];
  if (inTheWay.length > 0) {
    const shown = inTheWay.map(({ transId, status }) => `${transId} (${status})`).join(', ');
    found.push(html`<p class="differs">The provider shows ${shown}.</p>`);
  }
  return found;
}

function entry({ at, lastAt, summary, source }: TimelineEntry): Html {
  const until = lastAt !== undefined && html`, last ${time(lastAt)}`;
  return html`<li>${time(at)}<span>${summary} <span class="quiet">(${source}${until})</span></span></li>`;
}

/** Requests that may have moved money, and what came of each. */
const SENT: readonly TimelineEntry['type'][] = ['sending', 'accepted', 'rejected', 'send_failed', 'unanswered'];

function sentRequests(timeline: Part<Timeline>): Html {
  const entries = timeline.kind === 'ok' ? timeline.value.data.filter(({ type }) => SENT.includes(type)) : [];
  const body =
    timeline.kind === 'missing'
      ? html`<p class="differs">Not known. ${timeline.why}</p>`
      : entries.length === 0
        ? html`<p>Nothing has been sent to the provider.</p>`
        : html`<ol class="timeline">${entries.map(entry)}</ol>`;
  return html`<section class="card" aria-labelledby="sent"><h2 id="sent">What was sent, and when</h2>${body}</section>`;
}

function history(timeline: Part<Timeline>): Html {
  return html`<section class="card" aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
${timeline.kind === 'ok' ? html`<ol class="timeline">${timeline.value.data.map(entry)}</ol>` : html`<p class="differs">Not known. ${timeline.why}</p>`}
</section>`;
}

function deliveries(session: Session, payment: Payment, notifications: Part<Notifications>): Html {
  const body =
    notifications.kind === 'missing'
      ? html`<p class="differs">Not known. ${notifications.why}</p>`
      : notifications.value.data.length === 0
        ? html`<p>The merchant has been notified of nothing yet.</p>`
        : html`<ul class="list">${notifications.value.data.map((one) => html`<li class="item">${notificationOf(session, payment.id, one)}</li>`)}</ul>`;
  return html`<section class="card" aria-labelledby="notified"><h2 id="notified">Notifications to the merchant</h2>${body}</section>`;
}

/** The page of deliveries that a notification is shown on. */
interface DeliveriesPage {
  readonly which: DeliveriesOf;
  /** Where it begins; empty for the first page. */
  readonly cursor: string;
}

/** One notification, how far its delivery has come, and a button that sends it again. */
export function notificationOf(
  session: Session,
  payment: string,
  { number, type, at, delivery }: Notification,
  from?: DeliveriesPage,
): Html {
  const action = `${paymentAddress(payment)}/notifications/${number}`;
  return html`<h3>${number}. ${type}</h3>
<p class="quiet">${time(at)}</p><p>${deliveryWords(delivery)}</p>
<form method="post" action="${action}">${csrfField(session.csrf)}
${from && html`<input type="hidden" name="from" value="${from.which}"><input type="hidden" name="cursor" value="${from.cursor}">`}
<div class="actions"><button class="button plain">Send it again<span class="unseen"> notification ${number} of ${payment}</span></button></div></form>`;
}

function deliveryWords(delivery: Notification['delivery']): Html {
  switch (delivery.status) {
    case 'due': {
      const failed =
        delivery.lastError !== undefined &&
        html` The last of ${delivery.tries} tries${delivery.lastTriedAt && html`, ${time(delivery.lastTriedAt)},`} failed: <span class="differs">${delivery.lastError}</span>.`;
      // They go out one after the other: one whose time has come is on its way, or behind another.
      const next =
        Date.parse(delivery.at) > Date.now()
          ? html`next try ${time(delivery.at)}`
          : 'it is being sent, or waits for the notification before it';
      return html`Not acknowledged yet; ${next}.${failed}`;
    }
    case 'delivered':
      return html`Acknowledged ${time(delivery.at)}.`;
    case 'no_address':
      return html`Not sent: the merchant has no address for it.`;
    case 'abandoned':
      return html`<span class="differs">Given up</span> ${time(delivery.at)}, ${delivery.lastError === undefined ? 'without a try' : html`after the last try failed: ${delivery.lastError}`}.`;
  }
}

function actions(session: Session, { id, final, temporalUrl }: Payment): Html {
  const isWeb = temporalUrl !== undefined && /^https?:\/\//.test(temporalUrl);
  return html`<section class="card" aria-labelledby="more"><h2 id="more">More</h2>
<form method="post" action="${paymentAddress(id)}/refresh">${csrfField(session.csrf)}
<p class="quiet">${final ? "Compares the outcome with the provider's records again. If they contradict it, the payment goes to REVIEW." : 'Has the payment itself ask the provider, within the limit on questions.'}</p>
<div class="actions"><button class="button plain">${final ? 'Check the outcome again' : 'Ask the provider'}</button>
${isWeb && html`<a class="button plain" href="${temporalUrl}" rel="noreferrer">Workflow in Temporal</a>`}</div></form></section>`;
}
