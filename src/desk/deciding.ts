import { type Html, html } from '../http/html.js';
import { type Force, isForced } from '../payments/words/decision.js';
import { ApiAway, type Payment } from './api-client.js';
import { isDecidedAlready, isOld, reviewNumber, standingOf } from './decision.js';
import {
  confirmationPage,
  doneWords,
  FORCE_WORD,
  formPage,
  newsWords,
  overruledBy,
  typedWords,
} from './decision-pages.js';
import { ACTIONS, type Action, type Draft, type DraftFields, findDraft, keepDraft } from './draft.js';
import { errorPage, formLink } from './page.js';
import { leaveNotice, type Session } from './session.js';
import { type PageReply, ProblemError, partOf, requireValue, type Visit } from './visit.js';
import { paymentAddress, sentence } from './words.js';

function actionOf(text: string): Action | undefined {
  return ACTIONS.find((action) => action === text);
}

/** GET /desk/payments/:id/decide/:action: the form, empty or as it was typed. */
export async function decisionForm(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const action = actionOf(visit.param('action'));
  if (action === undefined) return NOT_FOUND;
  const payment = requireValue(await api.payment(id));
  const draft = findDraft(session, id, visit.query('draft'));
  const typed = draft?.fields ?? {
    review: visit.query('review'),
    transId: visit.query('transId'),
    why: visit.query('why'),
    shownAt: '',
  };
  if (isOld(payment, action, typed.review)) return await oldView(visit, payment, action, typed);
  return formPage(session, payment, action, typed, draft?.errors);
}

/** POST /desk/payments/:id/decide/:action: keeps what was typed, and has it confirmed. */
export async function draftDecision(visit: Visit): Promise<PageReply> {
  const { session } = visit;
  const id = visit.param('id');
  const action = actionOf(visit.param('action'));
  if (action === undefined) return NOT_FOUND;
  const draft = keepDraft(session, id, action, {
    review: visit.field('review'),
    transId: visit.field('transId'),
    why: visit.field('why'),
    shownAt: visit.field('shownAt'),
  });
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
  return confirmationPage(session, payment, draft);
}

/** POST /desk/payments/:id/confirm/:draft: has Sanaga carry the decision out. */
export async function carryOut(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const id = visit.param('id');
  const draft = findDraft(session, id, visit.param('draft'));
  if (draft?.decision === undefined) return draftIsGone(session, id);
  if (draft.carriedOut === undefined) {
    const payment = requireValue(await api.payment(id));
    const { action, fields } = draft;
    if (isOld(payment, action, fields.review)) return await oldView(visit, payment, action, fields);
    const { force } = standingOf(session, payment, draft);
    const isMeant = !isForced(force) || visit.field('force') === FORCE_WORD;
    // A form that is sent again must not do what it didn't show. The review's number covers all else that it showed.
    if (!isMeant || visit.field('overruled') !== overruledBy(force, draft)) {
      return { to: `${paymentAddress(id)}/confirm/${draft.id}` };
    }
    draft.carriedOut ??= decide(visit, draft, force);
  }
  return { to: await draft.carriedOut };
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
      if (answer.status === 202 && standingOf(session, answer.value, draft).isOwn) {
        return say('done', 'Your decision is kept, and waits for a second person. Nothing else was done.');
      }
      return answer.status === 202
        ? say('unknown', `${NOT_YET} Load this page again in a moment.`)
        : say('done', doneWords(session, answer.value, draft));
    }
    const { detail, status, force: overruling, transactionAmount } = answer.problem;
    if (status === 401) throw new ProblemError(answer.problem);
    // Only an objection that was read can be overruled: not by `true`, with which somebody may have decided
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

const NOT_YET =
  "The provider hasn't answered yet, so the decision is still being checked: it may be carried out, or refused.";

const LOST_ANSWER =
  "It isn't known whether the decision was carried out. Read the payment below before you decide again: a decision on a review that has changed is refused.";

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
  return await refuse(visit, id, action, typed, text);
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
): Promise<PageReply> {
  const [payment, timeline] = await Promise.all([partOf(api.payment(id)), partOf(api.timeline(id))]);
  const number = payment.kind === 'ok' ? reviewNumber(payment.value, action) : undefined;
  const isTyped = typed.why.trim() !== '' || typed.transId.trim() !== '';
  const again =
    isTyped && number !== undefined
      ? keepDraft(session, id, action, { ...typed, review: String(number), shownAt: '' })
      : undefined;
  const more = html`${timeline.kind === 'ok' && newsWords(timeline.value, typed)}
${isTyped && typedWords(typed)}
${again && html`<div class="actions">${formLink(`${paymentAddress(id)}/decide/${action}?draft=${again.id}`, 'Go on with what you typed')}</div>`}`;
  return backTo(session, id, text, more);
}

function decidedAlready(session: Session, { id }: Payment): PageReply {
  const text = `You (${session.person}) have decided this already, and it waits for a second person, who has to decide the same.`;
  return backTo(session, id, text);
}

function draftIsGone(session: Session, id: string): PageReply {
  return backTo(session, id, 'The form is no longer there, and nothing was decided. Begin again.');
}

/** Leads to the payment, whose page says that a decision was refused. @param more what follows the text */
function backTo(session: Session, id: string, text: string, more?: Html): PageReply {
  leaveNotice(session, id, { kind: 'refused', text, more });
  return { to: paymentAddress(id) };
}

const NOT_FOUND: PageReply = { status: 404, ...errorPage('Not found', 'There is no such decision.') };
