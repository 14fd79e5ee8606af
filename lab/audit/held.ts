import type { MadeVerdict, ObservedPayment } from '../people/observed-payment.js';
import { statusList } from '../world/provider-books.js';
import { type AuditCase, type Finding, MAX_CLOCK_SKEW_MS } from './case.js';

/** Compares what was sent of a payout with what it had to wait for, and with the verdicts on it. */
export function auditHeld(subject: AuditCase): Finding[] {
  return subject.record.planned.hold === undefined
    ? []
    : [...unapproved(subject), ...early(subject), ...stopped(subject), ...unreleased(subject)];
}

/** No payout that needs an approval leaves before another person than the clerk has approved it as it is. */
function unapproved(subject: AuditCase): Finding[] {
  const { record, shown } = subject;
  const { needsApproval, approveAbove = 0 } = record.planned.hold ?? {};
  const isNeeded = needsApproval || (shown?.amount ?? 0) > approveAbove;
  if (!isNeeded || !wasSent(subject)) return [];
  const sentAt = sentAtOf(subject) ?? Number.POSITIVE_INFINITY;
  const isApproved = approvals(record).some(({ at }) => at <= sentAt + MAX_CLOCK_SKEW_MS);
  return isApproved
    ? []
    : [{ invariant: 'unapproved', what: `it was sent, and nobody had approved it ${say(subject)}` }];
}

/** Nothing leaves before a payout's date, nor while the API shows that it is held. */
function early(subject: AuditCase): Finding[] {
  const { sendAt = Number.NEGATIVE_INFINITY, heldAt = Number.NEGATIVE_INFINITY } = subject.record;
  const sentAt = sentAtOf(subject);
  if (sentAt === undefined) return [];
  const at = sentAt + MAX_CLOCK_SKEW_MS;
  return [
    ...(at < sendAt ? [`it was sent ${sendAt - sentAt} ms before its date`] : []),
    ...(at < heldAt && !subject.isLost ? [`it was shown as held ${heldAt - sentAt} ms after it was sent`] : []),
  ].map((what): Finding => ({ invariant: 'early', what }));
}

/** What was stopped, or ran out of time, has sent nothing, and will send nothing. */
function stopped(subject: AuditCase): Finding[] {
  const { record, shown } = subject;
  const stop = record.verdicts.find(({ action, outcome }) => action !== 'approve' && outcome === 'done');
  const how = stop?.action ?? (shown?.failureCode === 'not_approved' ? 'not_approved' : undefined);
  // A verdict that the book has lost has stopped nothing: the payout waits for a person, who may have it sent.
  if (how === undefined || !wasSent(subject) || subject.isLost) return [];
  // What was released may be withdrawn after a request of which the provider has said that it took nothing.
  const isHarmless = how === 'cancel' && approvals(record).length > 0 && subject.transactions.length === 0;
  return isHarmless ? [] : [{ invariant: 'stopped', what: `it was sent in spite of ${how} ${say(subject)}` }];
}

/** A payout that was approved in time, and that nobody may have stopped, doesn't end as not approved. */
function unreleased({ record, shown, isLost }: AuditCase): Finding[] {
  const wasApproved = approvals(record).some(({ outcome }) => outcome === 'done');
  const mayBeStopped = record.verdicts.some(({ action, outcome }) => action === 'reject' && outcome !== 'refused');
  if (shown?.failureCode !== 'not_approved' || !wasApproved || mayBeStopped || isLost) return [];
  return [{ invariant: 'wrongOutcome', what: 'it was approved, and ended as not approved' }];
}

/** Approvals that count and were carried out, or may have been. */
function approvals({ verdicts }: ObservedPayment): MadeVerdict[] {
  return verdicts.filter(({ mayApprove, outcome }) => mayApprove && outcome !== 'refused');
}

/** Reports whether a request may have moved money: the provider's own second one is not ours. */
function wasSent({ posts, transactions }: AuditCase): boolean {
  return posts > 0 || transactions.some(({ isStray }) => !isStray);
}

/** Returns when the first request left, as far as is known, in ms since the epoch. */
function sentAtOf({ sentAt, transactions }: AuditCase): number | undefined {
  const times = transactions.filter(({ isStray }) => !isStray).map(({ createdAt }) => createdAt);
  const first = Math.min(sentAt ?? Number.POSITIVE_INFINITY, ...times);
  return first === Number.POSITIVE_INFINITY ? undefined : first;
}

function say({ posts, transactions }: AuditCase): string {
  return `(${posts} requests; the ledger has ${statusList(transactions)})`;
}
