import { randomToken } from '../http/browser.js';
import { type Content, type Html, html } from '../http/html.js';
import type { HeldFor } from '../payments/words/order.js';
import { isOneName } from '../payments/words/person.js';
import { type Answer, ApiAway, type Payment, type PaymentPage } from './api-client.js';
import { payoutBalance } from './float.js';
import { boxes, csrfField, factList, incompleteBox, noticeBox, pager } from './page.js';
import { carryOutOnce, leaveNotice, type Notice, type Session, takeNotice } from './session.js';
import { type PageReply, type Part, ProblemError, partOf, requireValue, shown, type Visit } from './visit.js';
import { addressOf, amount, counted, duration, nameOf, readAmount, sentence, time } from './words.js';

/*
 * The page of those who approve payouts: their own merchant's that are held, for an approval or for their date, with
 * what each is and who has ordered it. An approval repeats the amount, and carries the digest of what the page has
 * shown.
 */

export const APPROVALS_PATH = '/desk/approvals';

/** Payouts on one page. Each is read by itself. */
const PAGE_SIZE = 20;

/** The lists of payouts, by what they wait for. Those that wait for both are in both. */
const LISTS = {
  approval: {
    name: 'To approve',
    title: 'Payouts to approve',
    one: 'payout waits for an approval',
    more: 'payouts wait for an approval',
  },
  date: {
    name: 'With a date',
    title: 'Payouts with a date',
    one: 'payout waits for its date',
    more: 'payouts wait for their date',
  },
} as const satisfies Record<HeldFor, object>;

const readList = (text: string): HeldFor => (text === 'date' ? 'date' : 'approval');

/** The query that names a list: none for the first one. */
const filterOf = (list: HeldFor) => (list === 'date' ? { held: list } : {});

/** The address of a list of payouts that wait. */
export const listAddress = (list: HeldFor) => addressOf(APPROVALS_PATH, filterOf(list));

/** The balance of the payout service, in XAF, and when the provider has told it. */
type Balance = Part<{ readonly balance: number; readonly asOf: string }>;

/** GET /desk/approvals: the merchant's payouts that are held. `held=date`: those that wait for their date. */
export async function approvalsPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const [waitsFor, cursor] = [readList(visit.query('held')), visit.query('cursor')];
  const { title, one, more } = LISTS[waitsFor];
  // An operator's list has every merchant's.
  const merchant = session.scopes.includes('review') ? session.owner : '';
  const [list, balance] = await Promise.all([
    api.list({ held: waitsFor, merchant, limit: PAGE_SIZE, cursor, totals: 'true' }),
    payoutBalance(api),
  ]);
  const { data, unreadable, nextCursor, totals } = requireValue(list);
  const read = await Promise.all(data.map(({ id }) => partOf(api.payment(id))));
  const waiting = read.flatMap((part) => (part.kind === 'ok' && isHeld(part.value, waitsFor) ? [part.value] : []));
  const unread = [
    ...unreadable.map(({ id }) => id),
    ...data.flatMap(({ id }, at) => (read[at]?.kind === 'ok' ? [] : [id])),
  ];
  const main = html`
<div class="title"><h1>${title}</h1>
${choice(waitsFor)}
<p>${session.owner}: ${counted(waiting.length, one, more)}${(cursor !== '' || nextCursor !== undefined) && ' on this page'}.</p></div>
${noticeBox(takeNotice(session, APPROVALS_PATH))}
${unread.length > 0 && incompleteBox(`These could not be read, and may wait, too: ${unread.join(', ')}. Load the page again.`)}
${totals !== undefined && totals.count > 0 && accountBox(balance, totals)}
${boxes(
  waiting.map((payout) => payoutBox(session, payout, waitsFor, balance)),
  unread.length === 0 ? `No ${more}.` : `No other ${more}, as far as is known.`,
)}
${pager(APPROVALS_PATH, filterOf(waitsFor), cursor, nextCursor, { first: 'Latest payouts', next: 'Earlier payouts' })}`;
  return { title, place: 'approvals', main };
}

type Waiting = Payment & { readonly held: NonNullable<Payment['held']> };

function isHeld(payment: Payment, waitsFor: HeldFor): payment is Waiting {
  return payment.held?.for.includes(waitsFor) === true;
}

function choice(current: HeldFor): Html {
  const link = (list: HeldFor) => {
    const isCurrent = list === current && html` aria-current="page"`;
    return html`<li><a href="${listAddress(list)}"${isCurrent}>${LISTS[list].name}</a></li>`;
  };
  return html`<nav aria-label="Payouts that wait"><ul>${link('approval')}${link('date')}</ul></nav>`;
}

function accountBox(balance: Balance, { count, amount: sum }: NonNullable<PaymentPage['totals']>): Html {
  return html`<section class="card" aria-labelledby="account"><h2 id="account">The payout account</h2>
${shown(
  balance,
  (known) => html`<p>It holds <strong>${amount(known.balance)}</strong>, as of ${time(known.asOf)}.
${count > 1 && html`Together, the ${count} payouts that wait are of ${amount(sum)}${sum > known.balance && html`: <span class="differs">more than it holds</span>`}.`}</p>`,
)}</section>`;
}

function payoutBox(session: Session, payout: Waiting, list: HeldFor, balance: Balance): Html {
  const { id, held, orderedBy } = payout;
  const date = dateOf(payout);
  return html`<h2 id="${id}">${nameOf(payout)}</h2>
${factList([
  ['Recipient', recipientOf(payout)],
  ['Refunds', payout.refundOf && html`<code>${payout.refundOf}</code>. Why: ${payout.refundReason ?? 'not said'}`],
  ['Message', payout.message],
  ['Order (externalId)', payout.externalId],
  ['Customer (userId)', payout.userId],
  ['Ordered by', html`${orderedBy ?? 'nobody who is known'}, ${time(payout.createdAt)}`],
  ['To be sent', date === undefined ? 'as soon as it is approved' : html`on its date, ${time(date)}`],
  isHeld(payout, 'approval') ? ['To be approved', approvalTime(held)] : ['Approved', approvers(held)],
  ['The account', sufficiency(payout, balance)],
  ['Payment', html`<code>${id}</code>`],
])}
${isHeld(payout, 'approval') && approval(session, payout, list)}
${rejectionForm(session, payout, list)}`;
}

/** The date that the payout still waits for. */
function dateOf({ held }: Waiting): string | undefined {
  return held.for.includes('date') ? held.sendAt : undefined;
}

function approvalTime({ until }: Waiting['held']): Html {
  const left = Date.parse(until) - Date.now();
  return html`by ${time(until)}, in ${duration(Math.max(0, left))}; it fails otherwise, unsent`;
}

function approvers({ approvals }: Waiting['held']): Content {
  return approvals.length === 0 ? 'it needs no approval' : approvals.map(({ by, at }) => html`by ${by}, ${time(at)}`);
}

function approval(session: Session, payout: Waiting, list: HeldFor): Html {
  const { orderedBy } = payout;
  if (orderedBy === undefined) {
    return html`<p><strong>It isn't known who has ordered it, so nobody can approve it.</strong></p>`;
  }
  return isOneName(orderedBy, session.person)
    ? html`<p><strong>You have ordered it: another person has to approve it.</strong></p>`
    : approvalForm(session, payout, list);
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

/** The fields that show that a form is ours, which of several loads of the page it is from, and where it leads back. */
function formFields({ csrf }: Session, list: HeldFor): Html {
  return html`${csrfField(csrf)}<input type="hidden" name="form" value="${randomToken()}"><input type="hidden" name="held" value="${list}">`;
}

function approvalForm(session: Session, payout: Waiting, list: HeldFor): Html {
  const { id, held } = payout;
  return html`<form method="post" action="${APPROVALS_PATH}/${id}/approve">${formFields(session, list)}
<input type="hidden" name="digest" value="${held.digest}">
<div class="field"><label for="amount-${id}">Repeat the amount to approve it</label>
<span class="hint" id="amount-${id}-hint">In XAF. It is ${dateOf(payout) === undefined ? 'sent at once, and' : 'sent on its date, and then'} can't be recalled.</span>
<input id="amount-${id}" name="amount" required inputmode="numeric" maxlength="40" autocomplete="off" aria-describedby="amount-${id}-hint"></div>
<div class="actions"><button class="button" aria-describedby="${id}">Approve</button></div></form>`;
}

function rejectionForm(session: Session, { id }: Waiting, list: HeldFor): Html {
  return html`<details><summary>Reject it</summary>
<form method="post" action="${APPROVALS_PATH}/${id}/reject">${formFields(session, list)}
<div class="field"><label for="why-${id}">Why</label>
<span class="hint" id="why-${id}-hint">It is kept with the payment. Nothing is sent. Whoever still wants it orders anew, once this one is FAILED.</span>
<input id="why-${id}" name="why" required maxlength="500" autocomplete="off" aria-describedby="why-${id}-hint"></div>
<div class="actions"><button class="button danger" aria-describedby="${id}">Reject</button></div></form></details>`;
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
  return { to: listAddress(readList(visit.field('held'))) };
}

/** Longest token of a form that is told from others. */
const MAX_TOKEN = 100;

const LOST_ANSWER = "It isn't known whether it was done: look for the payout, and at what it waits for now.";

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
  not_held: 'Somebody has approved, rejected or cancelled it meanwhile, its time was over, or its date has come.',
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
