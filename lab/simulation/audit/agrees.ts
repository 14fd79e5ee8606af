import type { Status } from '../../../sandbox/entry.js';
import type { PlannedOrder } from '../plan/plan-order.js';
import type { Booked } from './booked.js';

/**
 * Whether a payment may be said to have ended with a status, given its transactions in the provider's books. A stray one
 * may never be heard of: it can be the one that is paid, but speaks against nothing.
 */
export function agrees(way: PlannedOrder['way'], said: string, books: readonly Booked[]): boolean {
  const own = books.filter(({ isStray }) => !isStray);
  const has = (status: Status, among = own) => among.some((booked) => booked.status === status);
  switch (said) {
    case 'SUCCESSFUL':
      return has('SUCCESSFUL', [...books]);
    case 'EXPIRED':
      return way === 'link' && has('EXPIRED') && !has('SUCCESSFUL');
    case 'FAILED':
      // A link that nobody was given may lie about unpaid; what was sent to a phone must have failed.
      return way === 'link' ? !has('SUCCESSFUL') : own.every(({ status }) => status === 'FAILED');
    default:
      return false;
  }
}
