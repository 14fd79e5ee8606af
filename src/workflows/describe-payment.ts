import { nextDue } from '../payments/notification.js';
import {
  decideFrom,
  followedBy,
  type PaymentState,
  type Pursuit,
  pursuitOf,
  reviewOf,
  statusOf,
} from '../payments/payment-state.js';
import { toPayment } from '../payments/to-payment.js';

/** A payment's summary for operators, as Markdown, most important first; without personal data. */
export function describePayment(state: PaymentState): string {
  const { final, transId, reason, revenue, expiresAt, resolution } = toPayment(state);
  const review = reviewOf(state);
  const pursuit = pursuitOf(state.phase);
  const nextAt = pursuit?.kind === 'verifying' ? pursuit.nextAt : followedBy(pursuit)?.polling.nextAt;
  const isAsked = nextAt !== undefined && review?.held !== true;
  const rows: [string, string | undefined][] = [
    ['To do', review && `decide review ${review.number} with the resolve call: resend, fail or match`],
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
    ['Decided', resolution && `${resolution.action} by ${resolution.by}: ${escaped(resolution.why)}`],
  ];
  const list = rows.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]));
  return `**${statusOf(state)}**${final ? ', final' : ''}\n\n${list.join('\n')}`;
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
