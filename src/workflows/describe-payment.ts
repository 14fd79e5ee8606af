import type { PaymentState } from '../payments/payment-state.js';

/** What an operator sees of a payment at a glance, as Markdown; no personal data. */
export function describePayment(state: PaymentState): string {
  const { order, status, final, transId, reason, expiresAt, ambiguity, watch, undelivered, revenue } = state;
  const rows: [string, string | undefined][] = [
    ['Amount', `${order.amount.toLocaleString('en')} XAF`],
    ['Transaction', transId && `\`${transId}\``],
    ['Received after fees', revenue === undefined ? undefined : `${revenue.toLocaleString('en')} XAF`],
    ['Reason', reason],
    ['Not known', final ? undefined : ambiguity && `whether the provider took it: ${ambiguity.reason}`],
    ['Link ends', final || expiresAt === undefined ? undefined : shown(expiresAt)],
    [
      'Next look at the provider',
      final || transId === undefined ? undefined : `${shown(watch.nextAt)} or when notified`,
    ],
    ['Merchant still to be told', undelivered.map(({ type }) => type).join(', ') || undefined],
  ];
  const told = rows.filter(([, value]) => value !== undefined);
  return [
    `**${status}**${final ? ', final' : ''}`,
    ...told.map(([name, value]) => `- ${name}: ${value}`),
  ].join('\n\n');
}

function shown(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
