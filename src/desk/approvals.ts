import { randomToken } from '../http/browser.js';
import { type Html, html } from '../http/html.js';
import { type Answer, ApiAway, type Payment } from './api-client.js';
import { payoutBalance } from './float.js';
import { boxes, csrfField, factList, incompleteBox, noticeBox } from './page.js';
import { carryOutOnce, leaveNotice, type Notice, type Session, takeNotice } from './session.js';
import { type PageReply, type Part, ProblemError, partOf, requireValue, shown, type Visit } from './visit.js';
import { addressOf, amount, counted, duration, nameOf, readAmount, sentence, time } from './words.js';

/*
 * The page of those who approve payouts: their own merchant's, with what each is and who has ordered it. An approval
 * repeats the amount, and carries the digest of what the page has shown.
 */

export const APPROVALS_PATH = '/desk/approvals';

/** Payouts on one page. Each is read by itself. */
const PAGE_SIZE = 20;

/** The balance of the payout service, in XAF, and when the provider has told it. */
type Balance = Part<{ readonly balance: number; readonly asOf: string }>;

/** GET /desk/approvals: the merchant's payouts that wait for an approval. */
export async function approvalsPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const cursor = visit.query('cursor');
  // An operator's list has every merchant's.
  const merchant = session.scopes.includes('review') ? session.owner : '';
  const [list, balance] = await Promise.all([
    api.list({ held: 'approval', merchant, limit: PAGE_SIZE, cursor }),
    payoutBalance(api),
  ]);
  const { data, unreadable, nextCursor } = requireValue(list);
  const read = await Promise.all(data.map(({ id }) => partOf(api.payment(id))));
  const waiting = read.flatMap((part) => (part.kind === 'ok' && waits(part.value) ? [part.value] : []));
  const unread = [
    ...unreadable.map(({ id }) => id),
    ...data.flatMap(({ id }, at) => (read[at]?.kind === 'ok' ? [] : [id])),
  ];
  const main = html`
<div class="title"><h1>Payouts to approve</h1>
<p>${session.owner}: ${counted(waiting.length, 'payout waits', 'payouts wait')} for an approval${(cursor !== '' || nextCursor !== undefined) && ' on this page'}. What was just ordered may take a moment to appear.</p></div>
${noticeBox(takeNotice(session, APPROVALS_PATH))}
${unread.length > 0 && incompleteBox(`These could not be read, and may wait, too: ${unread.join(', ')}. Load the page again.`)}
${waiting.length > 0 && accountBox(balance, waiting)}
${boxes(
  waiting.map((payout) => payoutBox(session, payout, balance)),
  unread.length === 0 ? 'Nothing waits for an approval.' : 'Nothing else is known to wait for an approval.',
)}
${pages(cursor, nextCursor)}`;
  return { title: 'Payouts to approve', place: 'approvals', main };
}

type Waiting = Payment & { readonly held: NonNullable<Payment['held']> };

function waits(payment: Payment): payment is Waiting {
  return payment.held?.for.includes('approval') === true;
}

function accountBox(balance: Balance, waiting: readonly Payment[]): Html {
  const sum = waiting.reduce((total, payout) => total + payout.amount, 0);
  return html`<section class="card" aria-labelledby="account"><h2 id="account">The payout account</h2>
${shown(
  balance,
  (known) => html`<p>It holds <strong>${amount(known.balance)}</strong>, as of ${time(known.asOf)}.
${waiting.length > 1 && html`Together, the payouts on this page are of ${amount(sum)}${sum > known.balance && html`: <span class="differs">more than it holds</span>`}.`}</p>`,
)}</section>`;
}

function payoutBox(session: Session, payout: Waiting, balance: Balance): Html {
  const { id, held, orderedBy } = payout;
  const isOwn = orderedBy === session.person;
  const left = Date.parse(held.until) - Date.now();
  return html`<h2 id="${id}">${nameOf(payout)}</h2>
${factList([
  ['Recipient', recipientOf(payout)],
  ['Refunds', payout.refundOf && html`<code>${payout.refundOf}</code>. Why: ${payout.refundReason ?? 'not said'}`],
  ['Message', payout.message],
  ['Order (externalId)', payout.externalId],
  ['Customer (userId)', payout.userId],
  ['Ordered by', html`${orderedBy ?? 'nobody who is known'}, ${time(payout.createdAt)}`],
  ['To be sent', held.sendAt === undefined ? 'as soon as it is approved' : html`on its date, ${time(held.sendAt)}`],
  ['To be approved', html`by ${time(held.until)}, in ${duration(Math.max(0, left))}; it fails otherwise, unsent`],
  ['The account', sufficiency(payout, balance)],
  ['Payment', html`<code>${id}</code>`],
])}
${isOwn && html`<p><strong>You have ordered it: another person has to approve it.</strong> Until then, your system can cancel it.</p>`}
${orderedBy === undefined && html`<p><strong>It isn't known who has ordered it, so nobody can approve it.</strong></p>`}
${!isOwn && orderedBy !== undefined && approvalForm(session, payout)}
${!isOwn && rejectionForm(session, payout)}`;
}

/** The recipient as far as the API names one. */
function recipientOf({ phone, medium, held }: Waiting): Html {
  const where = [phone, held.email, medium].filter((one) => one !== undefined).join(', ');
  return html`<strong>${held.name ?? 'without a name'}</strong>, ${where === '' ? 'whose number is not known here' : where}`;
}

function sufficiency(payout: Waiting, balance: Balance): Html | undefined {
  if (balance.kind === 'missing') return undefined;
  const { balance: sum } = balance.value;
  return sum >= payout.amount
    ? html`holds enough for it now`
    : html`<span class="differs">holds ${amount(sum)}, which is less than it</span>`;
}

/** The fields that show that a form is ours, and which of several loads of the page it is from. */
function formFields({ csrf }: Session): Html {
  return html`${csrfField(csrf)}<input type="hidden" name="form" value="${randomToken()}">`;
}

function approvalForm(session: Session, { id, held }: Waiting): Html {
  return html`<form method="post" action="${APPROVALS_PATH}/${id}/approve">${formFields(session)}
<input type="hidden" name="digest" value="${held.digest}">
<div class="field"><label for="amount-${id}">Repeat the amount to approve it</label>
<span class="hint" id="amount-${id}-hint">In XAF. It is ${held.sendAt === undefined ? 'sent at once, and' : 'sent on its date, and then'} can't be recalled.</span>
<input id="amount-${id}" name="amount" required inputmode="numeric" maxlength="40" autocomplete="off" aria-describedby="amount-${id}-hint"></div>
<div class="actions"><button class="button" aria-describedby="${id}">Approve</button></div></form>`;
}

function rejectionForm(session: Session, { id }: Waiting): Html {
  return html`<details><summary>Reject it</summary>
<form method="post" action="${APPROVALS_PATH}/${id}/reject">${formFields(session)}
<div class="field"><label for="why-${id}">Why</label>
<span class="hint" id="why-${id}-hint">It is kept with the payment. Nothing is sent, and the payout has to be ordered again.</span>
<input id="why-${id}" name="why" required maxlength="500" autocomplete="off" aria-describedby="why-${id}-hint"></div>
<div class="actions"><button class="button danger" aria-describedby="${id}">Reject</button></div></form></details>`;
}

function pages(cursor: string, next: string | undefined): Html | undefined {
  if (cursor === '' && next === undefined) return undefined;
  return html`<nav class="pages" aria-label="Pages">
${cursor !== '' && html`<a class="button plain" href="${APPROVALS_PATH}">Latest payouts</a>`}
${next && html`<a class="button plain" href="${addressOf(APPROVALS_PATH, { cursor: next })}" rel="next">Earlier payouts</a>`}</nav>`;
}

/** POST /desk/approvals/:id/approve: approves what the page has shown, if the amount was repeated. */
export async function approvePayout(visit: Visit): Promise<PageReply> {
  const { api } = visit;
  const [id, digest, typed] = [visit.param('id'), visit.field('digest'), visit.field('amount').trim()];
  return await decideOnce(visit, `approve ${id} ${typed}`, async () => {
    const payment = requireValue(await api.payment(id));
    if (readAmount(typed) !== payment.amount) {
      const what = typed === '' ? 'no amount' : typed.slice(0, 40);
      return { kind: 'refused', text: `You typed ${what}, and the payout is of ${amount(payment.amount)}.` };
    }
    return noticeOf(await api.approve(id, digest), approvedNotice);
  });
}

/** POST /desk/approvals/:id/reject: ends the payout unsent. */
export async function rejectPayout(visit: Visit): Promise<PageReply> {
  const { api } = visit;
  const [id, why] = [visit.param('id'), visit.field('why').trim()];
  return await decideOnce(visit, `reject ${id}`, async () => {
    const notice = noticeOf(await api.reject(id, why), rejectedNotice);
    return notice.kind === 'done' ? notice : { ...notice, more: html`<p>You typed: ${why}</p>` };
  });
}

/**
 * Does it once, however often one form is sent, and leads back to the page, which says what has come of it. The page
 * that is loaded anew has other forms: an approval that Temporal has lost can be given again.
 */
async function decideOnce(visit: Visit, key: string, decide: () => Promise<Notice>): Promise<PageReply> {
  const { session } = visit;
  const notice = await carryOutOnce(session, `${visit.field('form').slice(0, MAX_TOKEN)} ${key}`, () =>
    decide().catch((error: unknown): Notice => {
      if (!(error instanceof ApiAway)) throw error;
      return { kind: 'unknown', text: `${error.message}. ${LOST_ANSWER}` };
    }),
  );
  leaveNotice(session, APPROVALS_PATH, notice);
  return { to: APPROVALS_PATH };
}

/** Longest token of a form that is told from others. */
const MAX_TOKEN = 100;

const LOST_ANSWER =
  "It isn't known whether it was done: a payout that is still shown below waits for an approval as before.";

function noticeOf(answer: Answer<Payment>, done: (payment: Payment) => Notice): Notice {
  if (answer.kind === 'ok' && answer.status === 202) return { kind: 'unknown', text: TAKES_LONGER };
  if (answer.kind === 'ok') return done(answer.value);
  const { status, code, detail } = answer.problem;
  if (status === 401) throw new ProblemError(answer.problem);
  if (status >= 500) return { kind: 'unknown', text: `${sentence(detail)} ${LOST_ANSWER}` };
  return { kind: 'refused', text: [sentence(detail), REFUSALS[code]].join(' ').trim() };
}

const TAKES_LONGER = 'It takes longer than usual. Load this page again in a moment.';

/** What to do about a refusal, by the API's code. */
const REFUSALS: Readonly<Record<string, string>> = {
  not_held: 'Somebody has approved, rejected or cancelled it meanwhile, or its time was over.',
  digest_mismatch: 'Read what the payout is by now before you approve it.',
};

function approvedNotice(payment: Payment): Notice {
  const { held, status } = payment;
  const sent = held?.sendAt === undefined ? html`It is ${status} now.` : html`It is sent on ${time(held.sendAt)}.`;
  return { kind: 'done', text: `${nameOf(payment)}: approved.`, more: html`<p>${sent}</p>` };
}

function rejectedNotice(payment: Payment): Notice {
  return payment.status === 'FAILED'
    ? { kind: 'done', text: `${nameOf(payment)}: rejected. Nothing was sent.` }
    : {
        kind: 'unknown',
        text: `${nameOf(payment)} is ${payment.status}: an operator has to look whether it was sent.`,
      };
}
