import type { PaymentState } from '../payments/payment-state.js';

/** What an operator sees of a payment at a glance, as Markdown; no personal data. */
export function describePayment(state: PaymentState): string {
  const {
    order,
    status,
    final,
    transId,
    reason,
    expiresAt,
    ambiguity,
    watch,
    notifications,
    revenue,
    held,
    resolved,
  } = state;
  const rows: [string, string | undefined][] = [
    ['Amount', `${order.amount.toLocaleString('en')} XAF`],
    ['Transaction', transId && `\`${transId}\``],
    ['Received after fees', revenue === undefined ? undefined : `${revenue.toLocaleString('en')} XAF`],
    ['Reason', reason],
    ['Not known', final ? undefined : ambiguity && `whether the provider took it: ${ambiguity.reason}`],
    ['Link ends', final || expiresAt === undefined ? undefined : shown(expiresAt)],
    [
      'Next look at the provider',
      final || held || transId === undefined ? undefined : `${shown(watch.nextAt)} or when notified`,
    ],
    ['Merchant still to be told', untold(notifications)],
    ['To do', status === 'REVIEW' ? 'decide it with the resolve call: resend, fail or match' : undefined],
    ['Decided', resolved && `${resolved.decision.action} by ${resolved.by}: ${resolved.why}`],
  ];
  const told = rows.filter(([, value]) => value !== undefined);
  const list = told.map(([name, value]) => `- ${name}: ${value}`).join('\n');
  return `**${status}**${final ? ', final' : ''}\n\n${list}`;
}

function untold(notifications: PaymentState['notifications']): string | undefined {
  const due = notifications.filter(({ delivery }) => delivery.kind === 'due');
  return due.map(({ type }) => type).join(', ') || undefined;
}

function shown(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
