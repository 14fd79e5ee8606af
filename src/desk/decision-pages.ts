import { type Html, html } from '../http/html.js';
import { type Force, isForced, overrules } from '../payments/words/decision.js';
import { isOneName } from '../payments/words/person.js';
import type { Payment, Timeline } from './api-client.js';
import { DECISIONS, isWithdrawal, standingOf } from './decision.js';
import type { Action, Draft, DraftFields, FieldErrors } from './draft.js';
import { csrfField, factList, noticeBox, type Page } from './page.js';
import type { Session } from './session.js';
import {
  amount,
  amountOf,
  forcedWords,
  nameOf,
  overruledWords,
  paymentAddress,
  personOf,
  sentence,
  time,
} from './words.js';

/** The word with which an operator overrules a refusal. */
export const FORCE_WORD = 'force';

/** Says that a decision takes two people, to the first of them. */
const FIRST_OF_TWO =
  'It takes two people: your decision is kept, and nothing is done before somebody else has made the same one.';

/** Asks why, and for a match which transaction. */
export function formPage(
  session: Session,
  payment: Payment,
  action: Action,
  typed: DraftFields,
  errors: FieldErrors = {},
): Page {
  const { effect, refusedWhen } = DECISIONS[action];
  const name = isWithdrawal(session, payment, action) ? 'Withdraw the decision' : DECISIONS[action].name;
  const count = Object.keys(errors).length;
  const main = html`
<div class="title"><h1>${name}</h1><p class="quiet">${nameOf(payment)}, <code>${payment.id}</code></p></div>
${count > 0 && html`<div class="notice refused" role="alert"><strong>Not yet</strong><p>${Object.values(errors).join(' ')}</p></div>`}
<div class="card">
<p>${effect}</p>
<p><strong>Refused when</strong> ${refusedWhen}</p>
${payment.review?.secondPerson && action !== 'reject' && html`<p>${takesTwo(session, payment)}</p>`}
</div>
<form class="card" method="post" action="${paymentAddress(payment.id)}/decide/${action}">
${csrfField(session.csrf)}
<input type="hidden" name="action" value="${action}"><input type="hidden" name="review" value="${typed.review}"><input type="hidden" name="shownAt" value="${typed.shownAt || Date.now()}">
${action === 'match' && field({ name: 'transId', label: "The transaction's id", value: typed.transId, hint: "As the provider's portal or list shows it.", error: errors.transId, focus: count === 0 || errors.transId !== undefined })}
${field({ name: 'why', label: 'Why', value: typed.why, hint: action === 'reject' ? 'Operators see it.' : 'The merchant sees it, and so does everybody who reads the payment later. Name the ticket or the call.', error: errors.why, isLong: true, focus: count === 0 ? action !== 'match' : errors.why !== undefined && errors.transId === undefined })}
<div class="actions"><button class="button">Go on to the confirmation</button><a class="button plain" href="${paymentAddress(payment.id)}">Don't decide</a></div>
</form>`;
  return { title: `${count > 0 ? 'Error: ' : ''}${name}`, narrow: true, main };
}

/** Says that a decision takes two people, before it is known whether this operator is the first or the second. */
function takesTwo({ person }: Session, { review }: Payment): string {
  const proposed = review?.proposed;
  return proposed === undefined || isOneName(proposed.by, person)
    ? FIRST_OF_TWO
    : `It takes two people. ${proposed.by} has decided already: the same decision by you is carried out, and another one takes its place, and waits for a second person.`;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  readonly error?: string | undefined;
  readonly isLong?: boolean;
  readonly focus?: boolean;
}

function field({ name, label, value, hint, error, isLong = false, focus = false }: Field): Html {
  const described = error === undefined ? `${name}-hint` : `${name}-hint ${name}-error`;
  const invalid = error !== undefined && html` aria-invalid="true"`;
  const autofocus = focus && html` autofocus`;
  const common = html`id="${name}" name="${name}" required aria-describedby="${described}"${invalid}${autofocus}`;
  return html`<div class="field">
<label for="${name}">${label}</label>
<span class="hint" id="${name}-hint">${hint}</span>
${error !== undefined && html`<span class="error" id="${name}-error">${error}</span>`}
${isLong ? html`<textarea ${common} maxlength="500" rows="3">${value}</textarea>` : html`<input ${common} maxlength="200" value="${value}" autocomplete="off" spellcheck="false" autocapitalize="none">`}
</div>`;
}

/** Says in words what is about to be done, before it is. */
export function confirmationPage(session: Session, payment: Payment, draft: Draft): Page {
  const { action, fields, refusal } = draft;
  const { first, force, moving } = standingOf(session, payment, draft);
  const isOverruling = isForced(force);
  const { secondPerson, proposed } = payment.review ?? {};
  const isFirst = secondPerson === true && action !== 'reject' && first === undefined;
  const { question, yes } = wordsOf(session, payment, draft);
  const title = isOverruling ? `Overrule: ${lowerCased(question)}` : question;
  const main = html`
<div class="title"><h1>${title}</h1><p class="quiet">Nothing has been decided yet.</p></div>
${refusal && noticeBox({ kind: 'refused', text: sentence(withoutForce(refusal.why)) })}
<div class="card">
<p>${DECISIONS[action].effect}</p>
${isFirst && html`<p><strong>${FIRST_OF_TWO}</strong>${proposed && ` It takes the place of what ${isOneName(proposed.by, session.person) ? 'you have' : `${proposed.by} has`} decided.`}</p>`}
${factList([
  ['Amount', html`<strong>${amountOf({ amount: payment.amount, amountPaid: moving })}</strong>`],
  [payment.kind === 'payout' ? 'Recipient' : 'Payer', personOf(payment)],
  ['Merchant', payment.merchant],
  ['Refunded', refundedWords(payment)],
  ['Order', payment.externalId],
  ['Payment', html`<code>${payment.id}</code>`],
  ['Transaction', action === 'match' && html`<code>${fields.transId}</code>`],
  ['Why', fields.why],
  ['Overrules', isOverruling && overruledWords(force)],
  [first === undefined ? 'Decided by' : 'Second person', session.person],
  ['First decided by', first && html`${first.by}${forcedWords(first)}, ${time(first.at)}: ${first.why}`],
  ['Review', html`number ${fields.review}${payment.review && html`, open since ${time(payment.review.since)}`}`],
])}
</div>
<form class="card" method="post" action="${paymentAddress(payment.id)}/confirm/${draft.id}">
${csrfField(session.csrf)}
<input type="hidden" name="overruled" value="${overruledBy(force, draft)}"><input type="hidden" name="action" value="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${isOverruling && forceField(action, force)}
<div class="actions"><button class="button ${(isOverruling || action === 'resend') && 'danger'}">${isOverruling ? `Overrule, and ${lowerCased(yes)}` : yes}</button><a class="button plain" href="${paymentAddress(payment.id)}">Don't decide</a></div>
</form>`;
  return { title, narrow: true, main };
}

/** Says what of a collection was refunded, or may be: the decision doesn't bring it back. */
function refundedWords({ refunded = 0, refunding = 0 }: Payment): Html | undefined {
  if (refunded + refunding === 0) return undefined;
  return html`<strong>${amount(refunded)}</strong>${refunding > 0 && html`, and ${amount(refunding)} being refunded`}`;
}

function forceField(action: Action, force: Force): Html {
  const isOfTransaction = overrules(force, 'different_transaction') || overrules(force, 'unassigned_transaction');
  const risk = {
    match: isOfTransaction
      ? 'The payment then stands with a transaction that differs from it, or that the provider assigns to nobody.'
      : "If another transaction is this payment's after all, the payment stands with the wrong one.",
    fail: 'If the transaction turns up later, the merchant may have paid by other means in the meantime.',
    resend: 'If the first request was taken after all, the money moves twice, and nobody can take it back.',
    reject: '',
  }[action];
  return html`<p>${risk} Overrule the refusal only if you know more than Sanaga can see, such as from the provider's support on the telephone. It is recorded as forced.</p>
<div class="field"><label for="force">Type the word ${FORCE_WORD} to overrule it</label>
<input id="force" name="force" required pattern="${FORCE_WORD}" title="the word ${FORCE_WORD}" autocomplete="off" autocapitalize="none" spellcheck="false"></div>`;
}

/** Leaves out how a caller of the API overrules a refusal: by a field that the desk doesn't have. */
function withoutForce(refusal: string): string {
  return refusal.replace(/(, or override this|; match it anyway) with "force": .*$/, '');
}

function lowerCased(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Words a decision: the question, the button that says yes, and the sentence once it is made. */
function wordsOf(
  session: Session,
  payment: Payment,
  draft: Draft,
): Readonly<Record<'question' | 'yes' | 'done', string>> {
  const { kind } = payment;
  const { transId } = draft.fields;
  const sum = amount(payment.amount);
  const what = lowerCased(nameOf(payment));
  switch (draft.action) {
    case 'match': {
      const { moving } = standingOf(session, payment, draft);
      const of = moving === undefined ? '' : ` of ${amount(moving)}`;
      // An amount not known to differ is checked with the provider, and refused if it differs.
      const yes = moving === undefined ? 'Match it' : `Match it: ${amount(moving)}`;
      return {
        question: `Match ${transId}${of} to this ${kind} of ${sum}?`,
        yes,
        done: `The ${what} was matched with ${transId}.`,
      };
    }
    case 'fail':
      return {
        question: `Fail this ${kind} of ${sum}?`,
        yes: `Fail it: ${sum}`,
        done: `The ${what} is FAILED now: no money has moved.`,
      };
    case 'resend': {
      const done = `The ${what} is sent once more.`;
      return kind === 'payout'
        ? { question: `Send ${sum} to the recipient once more?`, yes: `Send ${sum} once more`, done }
        : { question: `Ask the payer for ${sum} once more?`, yes: `Ask for ${sum} once more`, done };
    }
    case 'reject': {
      const verb = isWithdrawal(session, payment, draft.action) ? 'Withdraw' : 'Reject';
      return {
        question: `${verb} the decision on this ${kind} of ${sum}?`,
        yes: `${verb} it`,
        done: 'The decision that waited is void.',
      };
    }
  }
}

/** Writes what a decision overrules, and the amount that a match then books, as the value of a hidden field. */
export function overruledBy(force: Force, { refusal }: Draft): string {
  return [force, refusal?.transactionAmount ?? ''].join();
}

/** Says what was done, and who is on record for it. */
export function doneWords(session: Session, payment: Payment, draft: Draft): string {
  const { done } = wordsOf(session, payment, draft);
  if (draft.action === 'reject') return done;
  const { resolution } = payment;
  const { person } = session;
  const people = resolution?.approval?.by === person ? `${resolution.by} and ${person}` : person;
  return `${done} It is recorded as decided by ${people}.`;
}

/** Repeats what was typed, so that it isn't lost with its form. */
export function typedWords({ why, transId }: DraftFields): Html {
  return html`<p class="quiet">You had typed: ${transId && html`<code>${transId}</code>. `}${why}</p>`;
}

/** Entries of the timeline that a refusal shows, the latest. */
const MAX_NEWS = 5;

/** Lists what has happened since a form was shown. */
export function newsWords({ data }: Timeline, { shownAt }: DraftFields): Html | undefined {
  const since = Number(shownAt || Number.NaN);
  const news = data.filter(({ at, lastAt = at }) => Date.parse(lastAt) > since).slice(-MAX_NEWS);
  if (news.length === 0) return undefined;
  return html`<p>Since you began:</p><ul>${news.map(({ at, lastAt = at, summary }) => html`<li>${time(lastAt)}: ${summary}</li>`)}</ul>`;
}
