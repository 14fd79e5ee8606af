import type { Dice } from '../plan/dice.js';
import type { PlannedOrder } from '../plan/plan-order.js';
import type { SeenPayment } from './api-client.js';
import type { BookedEntry } from './cast.js';

export type Decision =
  | { readonly action: 'resend' | 'fail' }
  | { readonly action: 'match'; readonly transId: string };

/** The transaction that the payment is, by the provider's books: one that is paid or may be, before all others. */
function best(transactions: readonly BookedEntry[]): BookedEntry | undefined {
  return [...transactions].reverse().sort((one, other) => rank(one) - rank(other))[0];
}

function rank({ status, isStray }: BookedEntry): number {
  const stray = isStray ? 1 : 0;
  if (status === 'SUCCESSFUL') return stray;
  return status === 'PENDING' ? 2 + stray : 4 + stray;
}

/** What the provider's books call for; nothing while its own transaction is being followed. */
export function rightly(
  dice: Dice,
  payment: SeenPayment,
  transactions: readonly BookedEntry[],
): Decision | undefined {
  const entry = best(transactions);
  if (entry === undefined) return { action: dice.chance('resend', 0.3) ? 'resend' : 'fail' };
  const isFollowed = payment.transId === entry.transId && entry.status === 'PENDING';
  return isFollowed ? undefined : { action: 'match', transId: entry.transId };
}

/** A decision that the provider's books contradict, where they show it to whoever asks now. */
export function wrongly(dice: Dice, transactions: readonly BookedEntry[], now: number): Decision | undefined {
  const wrongId: Decision = { action: 'match', transId: `T${dice.between('wrong', 1, 1e9)}` };
  const [entry] = transactions;
  if (entry === undefined) return wrongId;
  if (entry.listedFrom > now) return undefined;
  return dice.pick<Decision>('which mistake', [
    [2, { action: 'resend' }],
    [entry.status === 'FAILED' ? 0 : 2, { action: 'fail' }],
    [1, wrongId],
  ]);
}

/** Whether the provider's books contradict a decision. */
export function isContradicted(
  way: PlannedOrder['way'],
  decision: Decision,
  transactions: readonly BookedEntry[],
): boolean {
  const mayMove = ({ status }: BookedEntry) =>
    status === 'SUCCESSFUL' || status === 'PENDING' || (way !== 'link' && status !== 'FAILED');
  if (decision.action !== 'match') return transactions.some(mayMove);
  const matched = transactions.find(({ transId }) => transId === decision.transId);
  if (matched === undefined) return true;
  const isPaid = ({ status }: BookedEntry) => status === 'SUCCESSFUL';
  return !isPaid(matched) && transactions.some(mayMove(matched) ? isPaid : mayMove);
}
