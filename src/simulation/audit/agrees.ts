import type { Status } from '../../sandbox/entry.js';
import type { PlannedOrder } from '../plan/plan-order.js';

/** Whether a payment may be said to have ended with a status, given the statuses of its transactions in the ledger. */
export function agrees(way: PlannedOrder['way'], said: string, ledger: readonly string[]): boolean {
  const has = (status: Status) => ledger.includes(status);
  switch (said) {
    case 'SUCCESSFUL':
      return has('SUCCESSFUL');
    case 'EXPIRED':
      return way === 'link' && has('EXPIRED') && !has('SUCCESSFUL');
    case 'FAILED':
      // A link that nobody was given may lie about unpaid; what was sent to a phone must have failed.
      return way === 'link' ? !has('SUCCESSFUL') : ledger.every((status) => status === 'FAILED');
    default:
      return false;
  }
}
