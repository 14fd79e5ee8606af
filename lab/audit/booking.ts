import type { ReceivedNotification } from '../people/merchant-endpoint.js';
import type { AuditCase, Finding } from './case.js';

/**
 * Compares what the book has of a payment with what is shown, what has left, and what its merchant was told: one row
 * for each order, as it is shown; a fence for each request for money; each notification in its place of the feed, and
 * told as the book says.
 */
export function misbooked(subject: AuditCase): Finding[] {
  return [...rowOf(subject), ...fencesOf(subject), ...feedOf(subject), ...toldOf(subject)].map((what) => ({
    invariant: 'misbooked',
    what,
  }));
}

function rowOf({ record, shown, booked: { row, untaken }, transactions, isForgotten }: AuditCase): string[] {
  if (row === undefined) {
    const isMissing = shown !== undefined || (record.taken && !isForgotten);
    return isMissing ? ['the book has no row of it'] : [];
  }
  const found: string[] = [];
  if (shown !== undefined) {
    const [is, was] = [row, shown].map(({ status, final, amount, amountPaid, transId }) =>
      [status, final ? 'final' : 'open', amount, status === 'SUCCESSFUL' ? amountPaid : '', transId].join(' '),
    );
    if (is !== was) found.push(`its row is ${is}, and it is shown as ${was}`);
  }
  const moved = transactions.find(({ transId }) => transId === row.transId);
  const { amount, amountPaid = amount } = row;
  if (row.status === 'SUCCESSFUL' && moved !== undefined && moved.amount !== amountPaid) {
    found.push(`its row says that ${amountPaid} XAF have moved; the ledger has ${moved.amount} XAF`);
  }
  if (untaken > 0) found.push(`no turn has taken ${untaken} of its messages`);
  return found;
}

/** Nothing leaves without a fence. What a book that went back has forgotten is in its list, which is read before. */
function fencesOf({ posts, booked: { row, fences }, isLost }: AuditCase): string[] {
  if (row === undefined || isLost || posts <= fences) return [];
  return [`${posts} requests have left with ${fences} fences`];
}

/** Each notification is in the feed, after those before it, and is delivered or given up. */
function feedOf({ booked: { notifications } }: AuditCase): string[] {
  let last = 0;
  return notifications.flatMap(({ id, position, delivery }) => {
    if (position === undefined) return [`${id} has no place in the feed`];
    const isBefore = position <= last;
    last = Math.max(last, position);
    return [
      ...(isBefore ? [`${id} is in the feed before an earlier one`] : []),
      ...(delivery === 'due' ? [`${id} is still to be delivered`] : []),
    ];
  });
}

/** The merchant has acknowledged just what the book has as delivered. */
function toldOf({ record, booked: { row, notifications }, isLost }: AuditCase): string[] {
  if (row === undefined) return [];
  const acknowledged = new Set(record.notifications.filter(isAcknowledged).map(({ webhookId }) => webhookId));
  const known = new Set(notifications.map(({ id }) => id));
  const delivered = notifications.filter(({ delivery }) => delivery === 'delivered').map(({ id }) => id);
  return [
    ...delivered.filter((id) => !acknowledged.has(id)).map((id) => `${id} is delivered, and the merchant has it not`),
    ...(isLost
      ? []
      : [...acknowledged].filter((id) => !known.has(id)).map((id) => `the book has nothing of ${id}, which was sent`)),
  ];
}

function isAcknowledged({ acknowledged }: ReceivedNotification): boolean {
  return acknowledged;
}
