import { type Html, html } from '../http/html.js';
import { isOneName } from '../payments/words/person.js';
import type { Answer, Notifications, Payment, ProviderView, Timeline } from './api-client.js';
import { listAddress } from './approvals.js';
import { DECISIONS, decisionAddress, proposedWords, waitingResend } from './decision.js';
import { notificationBox } from './deliveries.js';
import { DECIDED } from './draft.js';
import { boxes, card, csrfField, factList, formLink, noticeBox } from './page.js';
import { objections, providerCard } from './provider-view.js';
import { readRefunds, refundedBox, refundsCard } from './refunds.js';
import { leaveNotice, type Notice, type Session, takeNotice } from './session.js';
import { type PageReply, type Part, partOf, requireValue, shown, type Visit } from './visit.js';
import {
  age,
  amount,
  amountOf,
  badge,
  forcedWords,
  nameOf,
  paymentAddress,
  personOf,
  sentence,
  time,
} from './words.js';

type TimelineEntry = Timeline['data'][number];

/** GET /desk/payments/:id: all that is known of a payment, with what the provider shows at this moment. */
export async function paymentPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const payment = requireValue(await api.payment(id));
  const [timeline, notifications, records, refunds] = await Promise.all([
    partOf(api.timeline(id)),
    partOf(api.notifications(id)),
    partOf(api.records(id)),
    readRefunds(visit, payment),
  ]);
  const title = nameOf(payment);
  const main = html`
<div class="title">
<div class="title-line"><h1>${title}</h1>${badge(payment.status, payment.final)}</div>
<p class="quiet"><code>${payment.id}</code></p>
</div>
${noticeBox(takeNotice(session, id))}
${reasonBox(payment)}
${refundedBox(payment, refunds)}
${proposalBox(session, payment)}
${resendBox(session, payment)}
${heldBox(session, payment)}
<div class="columns">
<div class="stack">
${providerCard(payment, records)}
${decisions(payment, records)}
${card(
  'timeline',
  'Timeline',
  shown(timeline, ({ data }) => html`<ol class="timeline">${data.map(entry)}</ol>`),
)}
</div>
<div class="stack">
${orderFacts(payment)}
${refundsCard(payment, refunds)}
${card('sent', 'What was sent, and when', shown(timeline, sentRequests))}
${card(
  'notified',
  'Notifications to the merchant',
  shown(notifications, ({ data }) => deliveries(session, id, data)),
)}
${actions(session, payment)}
</div>
</div>`;
  return { title: `${title}, ${payment.status}`, main };
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

function refreshNotice(answer: Answer<Payment>): Notice {
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
function proposalBox({ person }: Session, payment: Payment): Html | undefined {
  const { proposed, rejected } = payment.review ?? {};
  if (proposed === undefined) return rejected && rejectedBox(rejected);
  const isOwn = isOneName(proposed.by, person);
  const confirm = decisionAddress(payment, proposed.action, proposed.transId);
  return html`<section class="notice" aria-labelledby="second"><h2 id="second">Waits for a second person</h2>
<p>${proposedWords(proposed)}, ${time(proposed.at)}. Why: ${proposed.why}</p>
<p class="quiet">${isOwn ? 'Nothing has been done yet. Another person has to decide the same; until then, you can withdraw it.' : 'Nothing has been done yet. Look at what the provider shows before you decide the same: then it is carried out. It is void when there is new evidence.'}</p>
<div class="actions">${!isOwn && formLink(confirm, `Decide the same: ${DECISIONS[proposed.action].name}`, false)}
${formLink(decisionAddress(payment, 'reject'), isOwn ? 'Withdraw it' : 'Reject it')}</div></section>`;
}

/** A decision to send the payment once more that may still be taken back. */
function resendBox({ person }: Session, payment: Payment): Html | undefined {
  const decided = waitingResend(payment);
  if (decided === undefined) return undefined;
  const { by, at, why } = decided;
  return html`<section class="notice" aria-labelledby="resend"><h2 id="resend">To be sent once more</h2>
<p><strong>${by}</strong> has decided so, ${time(at)}. Why: ${why}</p>
<p class="quiet">It could not be sent yet, and waits: this decision can be taken back. The timeline says why.</p>
<div class="actions">${formLink(decisionAddress(payment, 'reject'), isOneName(by, person) ? 'Withdraw it' : 'Reject it')}</div></section>`;
}

/** What a payout waits for before it is sent. Its merchant's people approve it, on a page of their own. */
function heldBox({ scopes, owner }: Session, { held, orderedBy, ...payment }: Payment): Html | undefined {
  if (held === undefined) return undefined;
  const date = held.sendAt !== undefined && html` It is not sent before ${time(held.sendAt)}.`;
  const approval =
    held.for.includes('approval') &&
    html`Another person has to approve it by ${time(held.until)}; it fails otherwise, unsent.`;
  const mayApprove = scopes.includes('approve') && payment.merchant === owner;
  const link = held.for.includes('approval')
    ? formLink(listAddress('approval'), 'Approve or reject it')
    : formLink(listAddress('date'), 'Reject it');
  return html`<section class="notice" aria-labelledby="held"><h2 id="held">Waits before it is sent</h2>
<p>${approval}${date}</p>
<p class="quiet">Ordered by ${orderedBy ?? 'nobody who is known'}.${held.approvals.map(({ by, at }) => html` Approved by ${by}, ${time(at)}.`)} Nothing was sent.</p>
${mayApprove && html`<div class="actions">${link}</div>`}</section>`;
}

type Rejected = NonNullable<NonNullable<Payment['review']>['rejected']>;

function rejectedBox({ action, proposedBy, by, why, at }: Rejected): Html {
  const what = by === proposedBy ? 'withdrew the decision' : `rejected the decision of ${proposedBy}`;
  return html`<section class="notice" aria-labelledby="second"><h2 id="second">A decision was ${by === proposedBy ? 'withdrawn' : 'rejected'}</h2>
<p>${by} ${what} (${DECISIONS[action].name}), ${time(at)}. Why: ${why}</p></section>`;
}

function orderFacts(payment: Payment): Html {
  const { resolution } = payment;
  const decided =
    resolution &&
    html`${resolution.by}: ${resolution.action}${resolution.transId && html` <code>${resolution.transId}</code>`}${forcedWords(resolution)}, on review ${resolution.review}. Why: ${resolution.why}${resolution.approval && html`. Second person: ${resolution.approval.by}. Why: ${resolution.approval.why}`}. Carried out ${time(resolution.at)}`;
  const metadata = Object.entries(payment.metadata);
  return card(
    'order',
    'The order',
    factList([
      ['Amount', amountOf(payment)],
      ['Merchant', payment.merchant],
      ['Refund of', payment.refundOf && html`<a href="${paymentAddress(payment.refundOf)}">${payment.refundOf}</a>`],
      ['Refunded because', payment.refundReason],
      [payment.kind === 'payout' ? 'Recipient' : 'Payer', personOf(payment)],
      ['Ordered by', payment.orderedBy],
      ['Order (externalId)', payment.externalId],
      ['Customer (userId)', payment.userId],
      ['Message', payment.message],
      ['Transaction', payment.transId && html`<code>${payment.transId}</code>`],
      ["Operator's reference", payment.financialTransId],
      ['Medium', payment.medium],
      ['Fee', payment.fee !== undefined && amount(payment.fee)],
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
    ]),
  );
}

function decisions(payment: Payment, records: Part<ProviderView>): Html | undefined {
  const { review } = payment;
  if (review === undefined) return undefined;
  const decision = (action: (typeof DECIDED)[number]) => {
    const { name, effect, refusedWhen } = DECISIONS[action];
    return html`<h3>${name}</h3><p>${effect}</p>
<p class="quiet"><strong>Refused when</strong> ${refusedWhen}</p>${objections(payment, action, records)}
<p>${formLink(decisionAddress(payment, action), name, action !== 'match' && 'plain')}</p>`;
  };
  return card(
    'decide',
    `Decide on review ${review.number}`,
    html`
<p class="quiet">Sanaga checks every decision with the provider at that moment, and refuses it when the provider's records speak against it or can't be read.</p>
${review.secondPerson && html`<p>A decision on this payout <strong>takes two people</strong>: it is carried out when a second one has made the same.</p>`}
${boxes(DECIDED.map(decision))}`,
  );
}

function entry({ at, lastAt, summary, source }: TimelineEntry): Html {
  const until = lastAt !== undefined && html`, last ${time(lastAt)}`;
  return html`<li>${time(at)}<span>${summary} <span class="quiet">(${source}${until})</span></span></li>`;
}

/** Requests that may have moved money, and what came of each. */
const SENT: readonly TimelineEntry['type'][] = ['sending', 'accepted', 'rejected', 'send_failed', 'unanswered'];

function sentRequests({ data }: Timeline): Html {
  const entries = data.filter(({ type }) => SENT.includes(type));
  if (entries.length === 0) return html`<p>Nothing has been sent to the provider.</p>`;
  return html`<ol class="timeline">${entries.map(entry)}</ol>`;
}

function deliveries(session: Session, id: string, notifications: Notifications['data']): Html {
  if (notifications.length === 0) return html`<p>The merchant has been notified of nothing yet.</p>`;
  return boxes(notifications.map((one) => notificationBox(session, id, one)));
}

function actions(session: Session, { id, final, temporalUrl }: Payment): Html {
  const isWeb = temporalUrl !== undefined && /^https?:\/\//.test(temporalUrl);
  const effect = final
    ? "Compares the outcome with the provider's records again. If they contradict it, the payment goes to REVIEW."
    : 'Has the payment itself ask the provider, within the limit on questions.';
  return card(
    'more',
    'More',
    html`<form method="post" action="${paymentAddress(id)}/refresh">${csrfField(session.csrf)}
<p class="quiet">${effect}</p>
<div class="actions"><button class="button plain">${final ? 'Check the outcome again' : 'Ask the provider'}</button>
${isWeb && html`<a class="button plain" href="${temporalUrl}" rel="noreferrer">Workflow in Temporal</a>`}</div></form>`,
  );
}
