import { type Html, html } from '../http/html.js';
import { type Force, isForced, overrules, overrulesAllOf } from '../payments/words/decision.js';
import { ApiAway, type Payment, type Proposed } from './api-client.js';
import { ACTIONS, type Action, type Draft, type DraftFields, type FieldErrors, findDraft, keepDraft } from './draft.js';
import { csrfField, errorPage, facts, noticeBox, page } from './page.js';
import { leaveNotice, type Session } from './session.js';
import { type PageReply, ProblemError, partOf, requireValue, type Visit } from './visit.js';
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

/** What each decision is, for the person who makes it. */
export const DECISIONS: Readonly<
  Record<Action, { readonly name: string; readonly effect: string; readonly refusedWhen: string }>
> = {
  match: {
    name: 'Match a transaction',
    effect:
      "The transaction that you name is this payment's. The payment goes on with it, and ends as it does. Nothing is sent.",
    refusedWhen:
      "the provider doesn't know the transaction; it belongs to another payment, or differs from the order; the provider doesn't say whose it is; or it moved no money, and another one did or still can.",
  },
  fail: {
    name: 'Fail the payment',
    effect:
      'You say that no money has moved, and that none will. The payment is FAILED, and its merchant is told so. A link that could still be paid is ended first.',
    refusedWhen: "the provider shows a transaction of the payment that isn't over.",
  },
  resend: {
    name: 'Send it once more',
    effect:
      'There is no transaction, and the payment is sent to the provider again. If the first request was taken after all, the money moves twice.',
    refusedWhen: 'the provider shows a transaction, or took the payment before.',
  },
  reject: {
    name: 'Reject the decision',
    effect:
      'The decision is not carried out: what waits for a second person is void, and what waits to be sent once more is not sent. The payment is in REVIEW, and anybody may decide again.',
    refusedWhen:
      "no decision waits any more, there is new evidence, or it isn't known whether the provider has taken what was to be sent.",
  },
};

/** What is said where a decision takes two people, of whom this operator is the first. */
const FIRST_OF_TWO =
  'It takes two people: your decision is kept, and nothing is done before somebody else has made the same one.';

/** The decision that waits for a second person, if this one is the same. */
function sameThatWaits({ review }: Payment, { action, fields }: Draft): Proposed | undefined {
  const { proposed } = review ?? {};
  if (proposed?.action !== action) return undefined;
  return action !== 'match' || proposed.transId === fields.transId ? proposed : undefined;
}

/** What somebody else has decided, if an operator, by deciding so, would carry it out. */
function toSecond(session: Session, payment: Payment, draft: Draft): Proposed | undefined {
  const proposed = sameThatWaits(payment, draft);
  if (proposed === undefined || proposed.by === session.name) return undefined;
  // To overrule a refusal is more than the first person has decided.
  return overrulesAllOf(forceOf(proposed), draft.refusal?.force ?? false) ? proposed : undefined;
}

/** Whether an operator's own decision is this one already, and waits for somebody else. */
function isDecidedAlready({ name }: Session, payment: Payment, draft: Draft): boolean {
  const proposed = sameThatWaits(payment, draft);
  return proposed?.by === name && !proposed.forced && draft.refusal === undefined;
}

function forceOf({ overruled, forced }: Proposed): Force {
  return overruled ?? forced ?? false;
}

/** What a decision overrules: what the first person does, or what a refusal has named. */
function forceIn(session: Session, payment: Payment, draft: Draft): Force {
  const first = toSecond(session, payment, draft);
  return first === undefined ? (draft.refusal?.force ?? false) : forceOf(first);
}

/** Whether to reject the decision that waits is to take back one's own. */
function isWithdrawal({ name }: Session, payment: Payment, action: Action): boolean {
  const by = payment.review?.proposed?.by ?? waitingResend(payment)?.by;
  return action === 'reject' && by === name;
}

/** The decision by which a payment is sent once more, as long as it waits and nothing has left. */
export function waitingResend({ resolution }: Payment): Payment['resolution'] {
  return resolution?.revocable ? resolution : undefined;
}

/** Whether a payment keeps an operator's decision for a second person. */
function isKept({ name }: Session, payment: Payment, draft: Draft): boolean {
  return sameThatWaits(payment, draft)?.by === name;
}

/** The word with which an operator overrules a refusal. */
const FORCE_WORD = 'force';

function actionOf(text: string): Action | undefined {
  return ACTIONS.find((action) => action === text);
}

/** GET /desk/payments/:id/decide/:action: the form, empty or as it was typed. */
export async function decisionForm(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const action = actionOf(visit.param('action'));
  if (action === undefined) return notFound(session);
  const payment = requireValue(await api.payment(id));
  const draft = findDraft(session, id, visit.query('draft'));
  const typed = draft?.fields ?? {
    review: visit.query('review'),
    transId: visit.query('transId'),
    why: visit.query('why'),
    shownAt: '',
  };
  if (isOld(payment, action, typed.review)) return await oldView(visit, payment, action, typed);
  return { page: formPage(session, payment, action, typed, draft?.errors) };
}

/** POST /desk/payments/:id/decide/:action: keeps what was typed, and has it confirmed. */
export async function draftDecision(visit: Visit): Promise<PageReply> {
  const { session } = visit;
  const id = visit.param('id');
  const action = actionOf(visit.param('action'));
  if (action === undefined) return notFound(session);
  const fields = {
    review: visit.field('review'),
    why: visit.field('why'),
    transId: visit.field('transId'),
    shownAt: visit.field('shownAt'),
  };
  const draft = keepDraft(session, id, action, fields);
  return draft.decision === undefined
    ? { to: `${paymentAddress(id)}/decide/${action}?draft=${draft.id}` }
    : { to: `${paymentAddress(id)}/confirm/${draft.id}` };
}

/** GET /desk/payments/:id/confirm/:draft: what is about to be done, in words. */
export async function confirmation(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const draft = findDraft(session, id, visit.param('draft'));
  if (draft?.decision === undefined) return draftIsGone(session, id);
  const payment = requireValue(await api.payment(id));
  if (isOld(payment, draft.action, draft.fields.review))
    return await oldView(visit, payment, draft.action, draft.fields);
  if (isDecidedAlready(session, payment, draft)) return decidedAlready(session, payment);
  return { page: confirmationPage(session, payment, draft) };
}

/** POST /desk/payments/:id/confirm/:draft: has Sanaga carry the decision out. */
export async function carryOut(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const draft = findDraft(session, id, visit.param('draft'));
  if (draft?.decision === undefined) return draftIsGone(session, id);
  if (draft.carriedOut === undefined) {
    const payment = requireValue(await api.payment(id));
    if (isOld(payment, draft.action, draft.fields.review))
      return await oldView(visit, payment, draft.action, draft.fields);
    const force = forceIn(session, payment, draft);
    const isMeant = !isForced(force) || visit.field('force') === FORCE_WORD;
    // A form that is sent again must not do what it didn't show. All else that it showed goes by the review's number.
    if (!isMeant || visit.field('overruled') !== overruledBy(force, draft)) {
      return { to: `${paymentAddress(id)}/confirm/${draft.id}` };
    }
    draft.carriedOut ??= decide(visit, draft, force);
  }
  return { to: await draft.carriedOut };
}

/** What a decision overrules if it is confirmed now, and the amount that moves then, as a form has them. */
function overruledBy(force: Force, { refusal }: Draft): string {
  return [force, refusal?.transactionAmount ?? ''].join();
}

/** @returns where to go next: the payment, or back to the confirmation when the refusal can be overruled */
async function decide(visit: Visit, draft: Draft, force: Force): Promise<string> {
  const { session, api } = visit;
  const { payment: id, decision, action, fields } = draft;
  if (decision === undefined) return paymentAddress(id);
  const say = (kind: 'done' | 'unknown', text: string) => {
    leaveNotice(session, id, { kind, text, more: kind === 'done' ? undefined : typedWords(fields) });
    return paymentAddress(id);
  };
  try {
    const answer = await api.resolve(id, { ...decision, ...(isForced(force) && { force }) });
    if (answer.kind === 'ok') {
      if (answer.status === 202 && isKept(session, answer.value, draft)) {
        return say('done', 'Your decision is kept, and waits for a second person. Nothing else was done.');
      }
      return answer.status === 202
        ? say('unknown', `${NOT_YET} Load this page again in a moment.`)
        : say('done', doneWords(session, answer.value, draft));
    }
    const { detail, status, force: overruling, transactionAmount } = answer.problem;
    if (status === 401) throw new ProblemError(answer.problem);
    // What comes up can only be overruled when it was read: not by `true`, with which somebody may have decided
    // elsewhere.
    if (typeof overruling === 'object') {
      draft.refusal = { why: detail, force: overruling, transactionAmount };
      draft.carriedOut = undefined;
      return `${paymentAddress(id)}/confirm/${draft.id}`;
    }
    if (status >= 500) return say('unknown', `${LOST_ANSWER} ${detail}`);
    await refuse(visit, id, action, fields, `${sentence(detail)} This is the payment as it is now.`);
    return paymentAddress(id);
  } catch (error) {
    if (error instanceof ApiAway) return say('unknown', LOST_ANSWER);
    draft.carriedOut = undefined;
    throw error;
  }
}

/** What was done, and who is on record for it. */
function doneWords({ name }: Session, payment: Payment, draft: Draft): string {
  const { resolution } = payment;
  const people = resolution?.approval?.by === name ? `${resolution.by} and ${name}` : name;
  const done = sentenceOf(payment, draft);
  return draft.action === 'reject' ? done : `${done} It is recorded as decided by ${people}.`;
}

const NOT_YET =
  "The provider hasn't answered yet, so the decision is still being checked: it may be carried out, or refused.";

const LOST_ANSWER =
  "It isn't known whether the decision was carried out. Read the payment below before you decide again: a decision on a review that has changed is refused.";

/** Whether the review that was looked at isn't the payment's any more. */
function isOld(payment: Payment, action: Action, seen: string): boolean {
  const number = reviewNumber(payment, action);
  return number === undefined || String(number) !== seen;
}

/** The number of the review that a decision is on. To take a resend back is on the one that it was decided on. */
export function reviewNumber(payment: Payment, action: Action): number | undefined {
  return payment.review?.number ?? (action === 'reject' ? waitingResend(payment)?.review : undefined);
}

/** Leads to the payment as it is now, which says why. */
async function oldView(
  visit: Visit,
  { id, status, review }: Payment,
  action: Action,
  typed: DraftFields,
): Promise<PageReply> {
  const text =
    review === undefined
      ? `The payment is ${status}, and not under review: there is nothing to decide.`
      : `You looked at review ${typed.review || '(none)'}. There is new evidence since, or somebody has decided, and this is review ${review.number}: read it before you decide.`;
  await refuse(visit, id, action, typed, text);
  return { to: paymentAddress(id) };
}

/**
 * Has the payment's page say that a decision was refused, what is new since its form was shown, and how to go on with
 * what was typed.
 */
async function refuse(
  { session, api }: Visit,
  id: string,
  action: Action,
  typed: DraftFields,
  text: string,
): Promise<void> {
  const [payment, timeline] = await Promise.all([partOf(api.payment(id)), partOf(api.timeline(id))]);
  const number = payment.kind === 'ok' ? reviewNumber(payment.value, action) : undefined;
  const isTyped = typed.why.trim() !== '' || typed.transId.trim() !== '';
  const shownAt = Number(typed.shownAt || Number.NaN);
  const entries = timeline.kind === 'ok' ? timeline.value.data : [];
  const news = entries.filter(({ at, lastAt = at }) => Date.parse(lastAt) > shownAt).slice(-MAX_NEWS);
  const again =
    isTyped && number !== undefined
      ? keepDraft(session, id, action, { ...typed, review: String(number), shownAt: '' })
      : undefined;
  const more = html`${news.length > 0 && html`<p>Since you began:</p><ul>${news.map(({ at, lastAt = at, summary }) => html`<li>${time(lastAt)}: ${summary}</li>`)}</ul>`}
${isTyped && typedWords(typed)}
${again && html`<div class="actions"><a class="button plain" href="${paymentAddress(id)}/decide/${action}?draft=${again.id}">Go on with what you typed<span aria-hidden="true">&nbsp;…</span></a></div>`}`;
  leaveNotice(session, id, { kind: 'refused', text, more });
}

/** Entries of the timeline that a refusal shows, the latest. */
const MAX_NEWS = 5;

/** What was typed, so that it isn't lost with its form. */
function typedWords({ why, transId }: DraftFields): Html {
  return html`<p class="quiet">You had typed: ${transId && html`<code>${transId}</code>. `}${why}</p>`;
}

function decidedAlready(session: Session, { id }: Payment): PageReply {
  const text = `You (${session.name}) have decided this already, and it waits for a second person: somebody with a key of another name has to decide the same.`;
  leaveNotice(session, id, { kind: 'refused', text });
  return { to: paymentAddress(id) };
}

function draftIsGone(session: Session, id: string): PageReply {
  const text = 'The form is no longer there, and nothing was decided. Begin again.';
  leaveNotice(session, id, { kind: 'refused', text });
  return { to: paymentAddress(id) };
}

function notFound(session: Session): PageReply {
  return { status: 404, page: errorPage('Not found', 'There is no such decision.', session) };
}

function formPage(
  session: Session,
  payment: Payment,
  action: Action,
  typed: DraftFields,
  errors: FieldErrors = {},
): string {
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
${field({ name: 'why', label: 'Why', value: typed.why, hint: action === 'reject' ? 'Operators see it.' : 'The merchant sees it, and so does everybody who reads the payment later. Name the ticket or the call.', error: errors.why, isLong: true, focus: action !== 'match' && count === 0 ? true : errors.why !== undefined && errors.transId === undefined })}
<div class="actions"><button class="button">Go on to the confirmation</button><a class="button plain" href="${paymentAddress(payment.id)}">Don't decide</a></div>
</form>`;
  return page({ title: `${count > 0 ? 'Error: ' : ''}${name}`, session, narrow: true, main });
}

/** What its taking two people means for this operator, who has yet to say what the decision is. */
function takesTwo({ name }: Session, { review }: Payment): string {
  const proposed = review?.proposed;
  return proposed === undefined || proposed.by === name
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

function confirmationPage(session: Session, payment: Payment, draft: Draft): string {
  const { action, fields, refusal } = draft;
  const force = forceIn(session, payment, draft);
  const isOverruling = isForced(force);
  const first = toSecond(session, payment, draft);
  const isFirst = payment.review?.secondPerson === true && action !== 'reject' && first === undefined;
  const question = questionOf(session, payment, draft);
  const moving = matchedAmount(payment, draft);
  const title = isOverruling ? `Overrule: ${lowerCased(question)}` : question;
  const main = html`
<div class="title"><h1>${title}</h1><p class="quiet">Nothing has been decided yet.</p></div>
${refusal && noticeBox({ kind: 'refused', text: sentence(withoutForce(refusal.why)) })}
<div class="card">
<p>${DECISIONS[action].effect}</p>
${isFirst && html`<p><strong>${FIRST_OF_TWO}</strong>${payment.review?.proposed && ` It takes the place of what ${payment.review.proposed.by === session.name ? 'you have' : `${payment.review.proposed.by} has`} decided.`}</p>`}
${facts([
  [
    'Amount',
    html`<strong>${moving === undefined ? amount(payment.amount, payment.currency) : amountOf({ ...payment, amountPaid: moving })}</strong>`,
  ],
  [payment.kind === 'payout' ? 'Recipient' : 'Payer', personOf(payment)],
  ['Merchant', payment.merchant],
  ['Order', payment.externalId],
  ['Payment', html`<code>${payment.id}</code>`],
  ['Transaction', action === 'match' && html`<code>${fields.transId}</code>`],
  ['Why', fields.why],
  ['Overrules', isOverruling && overruledWords(force)],
  [first === undefined ? 'Decided by' : 'Second person', session.name],
  ['First decided by', first && html`${first.by}${forcedWords(first)}, ${time(first.at)}: ${first.why}`],
  ['Review', html`number ${fields.review}${payment.review && html`, open since ${time(payment.review.since)}`}`],
])}
</div>
<form class="card" method="post" action="${paymentAddress(payment.id)}/confirm/${draft.id}">
${csrfField(session.csrf)}
<input type="hidden" name="overruled" value="${overruledBy(force, draft)}"><input type="hidden" name="action" value="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${isOverruling && forceField(action, force)}
<div class="actions"><button class="button ${(isOverruling || action === 'resend') && 'danger'}">${yesOf(session, payment, draft)}</button><a class="button plain" href="${paymentAddress(payment.id)}">Don't decide</a></div>
</form>`;
  return page({ title, session, narrow: true, main });
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

/** The machine's words are for callers of the API, who have a field for it. */
function withoutForce(refusal: string): string {
  return refusal.replace(/(, or override this|; match it anyway) with "force": .*$/, '');
}

function lowerCased(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** What the transaction of a match is of, where that is known to differ from the order. */
function matchedAmount({ review }: Payment, { action, fields, refusal }: Draft): number | undefined {
  if (action !== 'match') return undefined;
  const { proposed } = review ?? {};
  return refusal?.transactionAmount ?? (proposed?.transId === fields.transId ? proposed?.transactionAmount : undefined);
}

function questionOf(session: Session, payment: Payment, draft: Draft): string {
  const { action, fields } = draft;
  const sum = amount(payment.amount, payment.currency);
  const moving = matchedAmount(payment, draft);
  switch (action) {
    case 'match':
      return `Match ${fields.transId}${moving === undefined ? '' : ` of ${amount(moving)}`} to this ${payment.kind} of ${sum}?`;
    case 'fail':
      return `Fail this ${payment.kind} of ${sum}?`;
    case 'resend':
      return payment.kind === 'payout'
        ? `Send ${sum} to the recipient once more?`
        : `Ask the payer for ${sum} once more?`;
    case 'reject':
      return `${isWithdrawal(session, payment, action) ? 'Withdraw' : 'Reject'} the decision on this ${payment.kind} of ${sum}?`;
  }
}

function yesOf(session: Session, payment: Payment, draft: Draft): string {
  const { action } = draft;
  const sum = amount(payment.amount, payment.currency);
  const moving = matchedAmount(payment, draft);
  const words = {
    // What isn't known to differ is checked with the provider, and refused if it does.
    match: moving === undefined ? 'Match it' : `Match it: ${amount(moving)}`,
    fail: `Fail it: ${sum}`,
    resend: payment.kind === 'payout' ? `Send ${sum} once more` : `Ask for ${sum} once more`,
    reject: isWithdrawal(session, payment, action) ? 'Withdraw it' : 'Reject it',
  }[action];
  return isForced(forceIn(session, payment, draft)) ? `Overrule, and ${lowerCased(words)}` : words;
}

/** What has been done. */
function sentenceOf(payment: Payment, { action, fields }: Draft): string {
  const what = lowerCased(nameOf(payment));
  switch (action) {
    case 'match':
      return `The ${what} was matched with ${fields.transId}.`;
    case 'fail':
      return `The ${what} is FAILED now: no money has moved.`;
    case 'resend':
      return `The ${what} is sent once more.`;
    case 'reject':
      return 'The decision that waited is void.';
  }
}
