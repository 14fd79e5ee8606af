import { agrees } from './agrees.js';
import { auditNotices } from './audit-notices.js';
import type { Booked, Case, Found, Violation } from './case.js';

/** Compares what happened at the provider with what Sanaga shows and what the merchant was told. */
export function audit(subject: Case): Violation[] {
  const about = subject.record.planned.id;
  return [
    ...doublePaid(subject),
    ...lost(subject),
    ...wrongOutcome(subject),
    ...overLimit(subject),
    ...stuck(subject),
    ...auditNotices(subject),
  ].map((violation) => ({ about, ...violation }));
}

const statuses = (transactions: readonly Booked[]) =>
  transactions.map(({ status }) => status).join(', ') || 'nothing';

/**
 * A link moves money when it is paid; what goes straight to a phone may move money as soon as it is there. Operators
 * have a payment sent again only when there is none of it, so that theirs is the first, too.
 */
function doublePaid({ record, transactions }: Case): Found[] {
  const isLink = record.planned.way === 'link';
  const moving = isLink ? transactions.filter(({ status }) => status === 'SUCCESSFUL') : transactions;
  if (moving.length <= 1) return [];
  return [{ invariant: 'doublePaid', what: `${moving.length} transactions: ${statuses(transactions)}` }];
}

function lost({ record, shown, transactions }: Case): Found[] {
  if (shown === undefined) {
    const known = record.taken || transactions.length > 0;
    return known
      ? [{ invariant: 'lost', what: `the API doesn't know it; the ledger has ${statuses(transactions)}` }]
      : [];
  }
  const isPaid = transactions.some(({ status }) => status === 'SUCCESSFUL');
  if (!isPaid || shown.status === 'SUCCESSFUL' || shown.status === 'REVIEW') return [];
  return [{ invariant: 'lost', what: `it was paid, and is ${shown.status}` }];
}

function wrongOutcome({ record, shown, transactions }: Case): Found[] {
  const said = record.wrongAnswers.map((what): Found => ({ invariant: 'wrongOutcome', what }));
  if (shown === undefined || !shown.final) return said;
  const truth = transactions.map(({ status }) => status);
  if (agrees(record.planned.way, shown.status, truth)) return said;
  return [
    ...said,
    { invariant: 'wrongOutcome', what: `it ended ${shown.status}; the ledger has ${statuses(transactions)}` },
  ];
}

/** The ledger counts only what its own limit refused; the throttle fault is counted apart. */
function overLimit({ transactions }: Case): Found[] {
  const throttled = transactions.reduce((sum, { statusCalls }) => sum + statusCalls.throttled, 0);
  return throttled === 0 ? [] : [{ invariant: 'overLimit', what: `${throttled} status calls were too many` }];
}

/** At the end operators have gone through every review many times over: nobody is left to wait for. */
function stuck({ shown, transactions }: Case): Found[] {
  if (shown === undefined || shown.final) return [];
  return [{ invariant: 'stuck', what: `it is ${shown.status}; the ledger has ${statuses(transactions)}` }];
}
