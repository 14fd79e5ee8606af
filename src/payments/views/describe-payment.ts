import { undecidedUntil } from '../machine/following.js';
import { heldUntil } from '../machine/held.js';
import { graceEnd } from '../machine/look-ups.js';
import { needsSecondPerson } from '../machine/second-person.js';
import { objectionToWithdrawal, patienceEnd } from '../machine/waiting.js';
import { isForced, type Proposal } from '../words/decision.js';
import { amountOf, xaf } from '../words/limits.js';
import { type PaymentTerms, refundOf } from '../words/order.js';
import type { PaymentResolution } from '../words/payment.js';
import {
  decideFrom,
  type OtherTransaction,
  type PaymentState,
  reviewOf,
  statusOf,
  transIdOf,
} from '../words/payment-state.js';
import { followedBy, type Held, type Inquiry, inquiryOf, type Review, type Waiting } from '../words/phase.js';
import { HELD_FOR_WORDS } from './timeline-words.js';
import { toPayment } from './to-payment.js';

/** Characters of a line that the Web UI's frame has room for on a narrow screen. */
const LINE = 50;

/**
 * Markdown for the Web UI (2.42), whose frame is as high as the text would be if no line wrapped, and cuts off the
 * rest: empty lines at the end are then all that is lost.
 */
export function markdown(lines: readonly string[]): string {
  const wraps = lines.reduce((sum, line) => sum + Math.floor(line.length / LINE), 0);
  return lines.join('\n') + '\n\n\u00a0'.repeat(2 + wraps);
}

/** Sums up a payment for operators, as Markdown, most important first; without personal data. */
export function describePayment(state: PaymentState): string {
  return markdown(linesOf(state));
}

/** Writes the lines of {@link describePayment}. */
function linesOf(state: PaymentState): string[] {
  const { final, reason, amountPaid, revenue, expiresAt, resolution } = toPayment(state);
  const { phase, order, others } = state;
  const review = reviewOf(state);
  const refunded = refundOf(order);
  const inquiry = inquiryOf(phase);
  const desk = deskOf(state);
  const isLookedFor = inquiry?.kind === 'searching' || inquiry?.kind === 'verifying';
  const nextAt = isLookedFor ? inquiry.nextAt : followedBy(inquiry)?.polling.nextAt;
  const isAsked = nextAt !== undefined && review?.held !== true;
  const isWithoutEnd = phase.kind === 'following' && expiresAt === undefined;
  const rows: [string, string | undefined][] = [
    ['To do', review && toDo(state, review, desk)],
    ['Waits for a second person', review?.proposed && proposal(review.proposed)],
    ['Reason', reason && escapeMarkdown(reason)],
    ['Decide from', review && utcTime(decideFrom(state))],
    ['Not known', inquiry && openQuestion(inquiry)],
    ['Grace period', review ? undefined : graceOf(state, inquiry)],
    ['Waits', phase.kind === 'waiting' ? describeWait(state, phase, desk) : undefined],
    ['Held', phase.kind === 'held' ? describeHold(state, phase) : undefined],
    ['Ordered by', order.kind === 'payout' ? order.orderedBy : undefined],
    ['Approved by', approvalsOf(state)],
    ['Amount', amountOf({ amount: order.amount, amountPaid })],
    ['Refunds', refunded && code(refunded)],
    ['Transaction', describeTransaction(state)],
    ['Other transactions', others.length === 0 ? undefined : others.map(withWord).join(', ')],
    [
      'A person is asked',
      isWithoutEnd ? `if there is no outcome by ${utcTime(undecidedUntil(state, phase))}` : undefined,
    ],
    ['Link ends', final || expiresAt === undefined ? undefined : expiresAt],
    ['Next question to the provider', isAsked ? `${utcTime(nextAt)}, or when notified` : undefined],
    ['Received after fees', revenue === undefined ? undefined : xaf(revenue)],
    ['Decided', resolution && decisionText(resolution)],
    ['Can be done', review ? undefined : canBeDone(state, desk)],
  ];
  const list = rows.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]));
  return [`**${statusOf(state)}**${final ? ', final' : ''}`, '', ...list];
}

function toDo(state: PaymentState, { number, proposed }: Review, desk: string | undefined): string {
  if (proposed !== undefined) {
    const onDesk = desk === undefined ? '' : ` [on the desk](${desk})`;
    return `a second person, and not ${proposed.by}, has to decide the same on review ${number}, or to reject it${onDesk}`;
  }
  const people = needsSecondPerson(state) ? ', which takes two people' : '';
  const what = `decide review ${number}`;
  return desk === undefined
    ? `${what} with the resolve call: resend, fail or match${people}`
    : `[${what} on the desk](${desk}): resend, fail or match${people}`;
}

/**
 * Tells what an operator can do about a payment that waits for nobody. For one that isn't sent yet, there is nothing to
 * ask the provider.
 */
function canBeDone(payment: PaymentState, desk: string | undefined): string | undefined {
  const { phase, order } = payment;
  if (phase.kind === 'sending') return undefined;
  if (phase.kind === 'held') return whileHeld(phase, payment.terms);
  if (phase.kind === 'waiting') {
    const call = order.kind === 'payout' ? 'cancel' : 'expire';
    return objectionToWithdrawal(payment, phase) === undefined ? `withdraw it, with the ${call} call` : undefined;
  }
  const what = phase.kind === 'ended' ? 'check the outcome again' : 'ask the provider now';
  return desk === undefined ? `${what}, with the refresh call` : `[${what}, on the desk](${desk})`;
}

/** Tells what the merchant's people can do about a held payout. */
function whileHeld(held: Held, { deskUrl }: PaymentTerms): string {
  const withdraw = 'withdraw it, with the cancel call';
  if (!held.for.includes('approval')) return withdraw;
  const where =
    deskUrl === undefined ? 'with the approve and reject calls' : `[on the desk](${deskUrl}/desk/approvals)`;
  return `approve or reject it, ${where}; ${withdraw}`;
}

/**
 * Tells how long an open question is waited for before the payment goes on without its answer, or a person is asked.
 */
function graceOf(state: PaymentState, inquiry: Inquiry | undefined): string | undefined {
  switch (inquiry?.kind) {
    case 'searching':
      return `until ${utcTime(graceEnd(state, inquiry.ambiguity))}`;
    case 'verifying':
      return `until ${utcTime(graceEnd(state, inquiry))}`;
    default:
      return undefined;
  }
}

function proposal({ decision, by, why, force, at }: Proposal): string {
  const what = decision.action === 'match' ? `match ${code(decision.transId)}` : decision.action;
  return `${what}${isForced(force) ? ' (forced)' : ''}, decided by ${by} at ${utcTime(at)}: ${escapeMarkdown(why)}`;
}

function decisionText({ action, by, why, approval }: PaymentResolution): string {
  const second = approval === undefined ? '' : `; and by ${approval.by}: ${escapeMarkdown(approval.why)}`;
  return `${action} by ${by}: ${escapeMarkdown(why)}${second}`;
}

/** Links to the payment's page on the desk. */
function deskOf({ order, terms }: PaymentState): string | undefined {
  return terms.deskUrl === undefined ? undefined : `${terms.deskUrl}/desk/payments/${order.id}`;
}

function describeWait(state: PaymentState, { cause, unsent, until }: Waiting, desk: string | undefined): string {
  const { hold, reason } = unsent;
  const why = hold === 'credentials' ? `the provider refuses our credentials: ${reason}` : reason;
  const where = desk === undefined ? ' with `reject`' : ` [on the desk](${desk})`;
  const recall = cause === 'operator' ? `; the resend can be taken back${where}` : '';
  return `${escapeMarkdown(why)}; next try ${utcTime(until)}; tried until ${utcTime(patienceEnd(state, unsent))}${recall}`;
}

function describeHold(state: PaymentState, held: Held): string {
  return held.for.map((one) => `for ${HELD_FOR_WORDS[one]}, until ${utcTime(heldUntil(state, held, one))}`).join('; ');
}

function approvalsOf({ release }: PaymentState): string | undefined {
  return release?.approvals.map(({ by, at }) => `${by} at ${utcTime(at)}`).join(', ') || undefined;
}

/**
 * Describes the payment's own transaction, with the provider's last status. CREATED may be a guess: a payment that is
 * opened again begins with it.
 */
function describeTransaction(state: PaymentState): string | undefined {
  const followed = followedBy(inquiryOf(state.phase));
  const transId = transIdOf(state);
  if (transId === undefined) return undefined;
  if (followed !== undefined && state.lastShown?.transId === transId && state.lastShown.wasPaid)
    return `${code(transId)} (once shown as SUCCESSFUL)`;
  return followed === undefined || followed.status === 'CREATED' ? code(transId) : withWord(followed);
}

function withWord({ transId, status }: Pick<OtherTransaction, 'transId' | 'status'>): string {
  return `${code(transId)} (${status} when last heard of)`;
}

function openQuestion(inquiry: Inquiry): string | undefined {
  switch (inquiry.kind) {
    case 'searching':
      return `whether the provider took it: ${escapeMarkdown(inquiry.ambiguity.reason)}`;
    case 'verifying':
      return `whether its request was taken twice: ${code(inquiry.of.transId)} is ${inquiry.outcome.status}, and the provider's list is read before that is told`;
    default:
      return undefined;
  }
}

/**
 * Escapes other people's text, so that nothing in it is rendered as Markdown. The Web UI makes a link of a bare
 * address, too: brackets take it apart, as security reports do.
 */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD')
    .replace(/:(?=\/\/)|@|(?<=www)\./gi, '[$&]')
    .replace(/[\\`*_{}[\]()<>#+!|~]/g, '\\$&');
}

/** Shows an identifier of the provider's as it is: nothing in it ends the code. */
function code(id: string): string {
  return `\`${id.replace(/[`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD')}\``;
}

function utcTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
