import type { MoneySetting } from './world.js';

const refund = (index: number, amount: number) => ({ index, amount, key: 0, isRefund: true }) as const;
const payout = (index: number, amount: number) => ({ index, amount, key: 0, isRefund: false }) as const;

/** Worlds that are small enough to be visited to their ends. */
export const SETTINGS = {
  refunds: {
    name: 'refunds of one collection',
    orders: [refund(0, 60), refund(0, 100), refund(1, 50), refund(2, 40)],
    allowance: { claims: 3, troubles: 1, decisions: 1 },
  },
  takenBack: {
    name: 'a collection that is taken back while its refunds wait',
    orders: [refund(0, 60), refund(1, 40)],
    allowance: { claims: 2, falls: 2, troubles: 1, decisions: 1 },
  },
  careless: {
    name: "a provider that shows an order others' transactions, and names nobody",
    isCareless: true,
    orders: [payout(0, 60), payout(1, 60)],
    allowance: { claims: 2, troubles: 2 },
  },
  day: {
    name: "a day's limit",
    orders: [payout(0, 60), payout(1, 60), payout(2, 40)],
    limit: 100,
    allowance: { claims: 3, days: 1, changes: 1, troubles: 1 },
    changes: ['limit'],
  },
  approvals: {
    name: 'an approval, while names and keys change',
    orders: [payout(0, 60)],
    approveAbove: 50,
    allowance: { claims: 1, changes: 2 },
    changes: ['renamed', 'added'],
  },
  file: {
    name: 'a file that changes under way',
    orders: [payout(0, 60), payout(0, 80), payout(1, 40)],
    limit: 100,
    allowance: { claims: 3, changes: 2, troubles: 1 },
    changes: ['approveAbove', 'removed', 'limit'],
  },
} as const satisfies Record<string, MoneySetting>;
