import type { Proposal } from '../payments/decision.js';
import { nextDue } from '../payments/notification.js';
import type { PaymentResolution } from '../payments/payment.js';
import {
  decideFrom,
  followedBy,
  type PaymentState,
  type Pursuit,
  pursuitOf,
  type Review,
  reviewOf,
  statusOf,
} from '../payments/payment-state.js';
import { needsSecondPerson } from '../payments/second-person.js';
import { toPayment } from '../payments/to-payment.js';

/** A payment's summary for operators, as Markdown, most important first; without personal data. */
export function describePayment(state: PaymentState): string {
  const { final, transId, reason, revenue, expiresAt, resolution } = toPayment(state);
  const review = reviewOf(state);
  const pursuit = pursuitOf(state.phase);
  const nextAt = pursuit?.kind === 'verifying' ? pursuit.nextAt : followedBy(pursuit)?.polling.nextAt;
  const isAsked = nextAt !== undefined && review?.held !== true;
  const rows: [string, string | undefined][] = [
    ['To do', review && toDo(state, review)],
    ['Waits for a second person', review?.proposed && proposal(review.proposed)],
    ['Reason', reason && escaped(reason)],
    ['Decide from', review && shown(decideFrom(state))],
    ['Not known', pursuit && openQuestion(pursuit)],
    ['Waits', state.phase.kind === 'waiting' ? escaped(state.phase.unsent.reason) : undefined],
    ['Amount', `${state.order.amount.toLocaleString('en')} XAF`],
    ['Transaction', transId && `\`${transId}\``],
    ['Link ends', final || expiresAt === undefined ? undefined : expiresAt],
    ['Next question to the provider', isAsked ? `${shown(nextAt)}, or when notified` : undefined],
    ['Received after fees', revenue === undefined ? undefined : `${revenue.toLocaleString('en')} XAF`],
    ['Merchant still to be notified', nextDue(state.notifications)?.type],
    ['Decided', resolution && decided(resolution)],
  ];
  const list = rows.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]));
  return `**${statusOf(state)}**${final ? ', final' : ''}\n\n${list.join('\n')}`;
}

function toDo(state: PaymentState, { number, proposed }: Review): string {
  if (proposed !== undefined) {
    return `a second person, and not ${proposed.by}, has to decide the same on review ${number}, or to reject it`;
  }
  const people = needsSecondPerson(state) ? ', which takes two people' : '';
  return `decide review ${number} with the resolve call: resend, fail or match${people}`;
}

function proposal({ decision, by, why, force, at }: Proposal): string {
  const what = decision.action === 'match' ? `match \`${decision.transId}\`` : decision.action;
  return `${what}${force ? ' (forced)' : ''}, decided by ${by} at ${shown(at)}: ${escaped(why)}`;
}

function decided({ action, by, why, approval }: PaymentResolution): string {
  const second = approval === undefined ? '' : `; and by ${approval.by}: ${escaped(approval.why)}`;
  return `${action} by ${by}: ${escaped(why)}${second}`;
}

function openQuestion(pursuit: Pursuit): string | undefined {
  switch (pursuit.kind) {
    case 'searching':
      return `whether the provider took it: ${escaped(pursuit.doubt.reason)}`;
    case 'verifying':
      return `whether its request was taken twice: \`${pursuit.of.transId}\` is ${pursuit.outcome.status}, and the provider's list is read before that is told`;
    default:
      return undefined;
  }
}

/** Escapes other people's text, so that none of it is rendered as Markdown. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+!|~]/g, '\\$&');
}

function shown(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
