import type { PaymentOrder } from '../../payments/order.js';

const WAYS = { link: 'Collection by link', direct: 'Collection from a phone' } as const;

/**
 * What Temporal's Web UI shows of a payment: a line for the head, and details in Markdown. Neither holds anything
 * about the payer or the recipient, for whoever may list workflows can read them.
 */
export function describeOrder(order: PaymentOrder, owner: string): { summary: string; details: string } {
  const what = order.kind === 'payout' ? 'Payout' : WAYS[order.method];
  const amount = `${order.amount.toLocaleString('en-US')} XAF`;
  const lines = [
    `**${what}** of **${amount}**`,
    '',
    `- Merchant: ${code(owner)}`,
    ...(order.externalId === undefined ? [] : [`- Merchant’s own id: ${code(order.externalId)}`]),
    ...(order.userId === undefined ? [] : [`- Merchant’s client: ${code(order.userId)}`]),
  ];
  return { summary: `${what} of ${amount}`, details: lines.join('\n') };
}

const code = (text: string) => `\`${text}\``;
