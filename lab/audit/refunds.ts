import { MINIMUM_AMOUNT } from '../../src/payments/words/limits.js';
import type { SeenRefunds } from '../people/api-client.js';
import { effectiveDecisions, wasReviewed } from '../people/observed-payment.js';
import type { AuditCase, Finding, Violation } from './case.js';

/**
 * Compares the refunds of each collection with the provider's ledger.
 *
 * @param sums what the API shows of them at the end, by the collection's id
 */
export function auditRefunds(cases: readonly AuditCase[], sums: ReadonlyMap<string, SeenRefunds>): Violation[] {
  const byCollection = new Map<string, AuditCase[]>();
  for (const one of cases) {
    const { refundOf } = one.record.planned;
    if (refundOf !== undefined) byCollection.set(refundOf, [...(byCollection.get(refundOf) ?? []), one]);
  }
  return [...byCollection].flatMap(([about, refunds]) => {
    const collection = cases.find(({ record }) => record.planned.id === about);
    if (collection === undefined) return [];
    const found = [
      ...overRefunded(collection, refunds),
      ...refunds.flatMap((one) => refused(collection, one, refunds)),
      ...wrongSums(sums.get(about), collection, refunds),
    ];
    return found.map((finding) => ({ about, ...finding }));
  });
}

/** No more is paid out for a collection than it has collected. What is sent twice is found payment by payment. */
function overRefunded(collection: AuditCase, refunds: readonly AuditCase[]): Finding[] {
  const paidOut = refunds.reduce((sum, one) => sum + sentOf(one), 0);
  const collected = collectedBy(collection);
  // Others can't tell what the book has forgotten.
  if (paidOut <= collected || refunds.some(({ isForgotten }) => isForgotten)) return [];
  const parts = refunds.map((one) => `${one.record.planned.id} ${sentOf(one)}`).join(', ');
  return [{ invariant: 'overRefunded', what: `${collected} XAF were collected, and ${paidOut} refunded: ${parts}` }];
}

/** A refund is refused for want of room only when the others may have taken it, and otherwise only for a reason. */
function refused(collection: AuditCase, refund: AuditCase, refunds: readonly AuditCase[]): Finding[] {
  const { refusal, planned } = refund.record;
  const { phone, amount, expectedRefundable } = planned.body;
  const wrong = (why: string): Finding[] => [{ invariant: 'wrongOutcome', what: `${planned.id}: ${refusal}, ${why}` }];
  switch (refusal) {
    case 'more_than_refundable': {
      const others = refunds.filter((one) => one !== refund).reduce((sum, one) => sum + mostOf(one, collection), 0);
      const rest = leastCollected(collection) - others;
      return rest >= MINIMUM_AMOUNT && Number(amount ?? MINIMUM_AMOUNT) <= rest
        ? wrong(`and at least ${rest} XAF were left`)
        : [];
    }
    case 'not_refundable':
      return wasReviewed(collection.record) || collection.isLost
        ? []
        : wrong('and the collection was paid, and never under review');
    case 'not_found':
      return collection.isForgotten ? [] : wrong('and the collection was taken');
    case 'refundable_mismatch':
      return expectedRefundable === undefined ? wrong('and nothing was expected') : [];
    case 'phone_required': {
      const { way, body } = collection.record.planned;
      const isKnown = phone !== undefined || way === 'direct' || body.refundTo !== undefined;
      return isKnown ? wrong('and a number is known') : [];
    }
    default:
      return [];
  }
}

/** The API lists all refunds that it has taken, and its sums are those of the refunds and of the ledger. */
function wrongSums(seen: SeenRefunds | undefined, collection: AuditCase, refunds: readonly AuditCase[]): Finding[] {
  if (seen === undefined) return [];
  const { collected = 0, refunded, refunding, refundable, data } = seen;
  const listed = new Set(data.map(({ id }) => id));
  const missing = refunds.filter(
    ({ record: { taken, planned }, isForgotten }) => taken && !isForgotten && !listed.has(planned.id),
  );
  const paid = refunds.flatMap(({ shown }) =>
    shown?.status === 'SUCCESSFUL' ? [shown.amountPaid ?? shown.amount] : [],
  );
  const sum = paid.reduce((total, amount) => total + amount, 0);
  // What can't be read may be among the refunds that were paid; and one that was paid twice counts twice.
  const isOpen = refunds.some(
    ({ shown, record, transactions }) =>
      (shown === undefined && record.taken) || transactions.filter(({ status }) => status !== 'FAILED').length > 1,
  );
  const found = [
    ...(missing.length > 0 ? [`it lacks ${missing.map(({ record }) => record.planned.id).join(', ')}`] : []),
    ...(refunded !== sum && !isOpen ? [`${refunded} XAF are shown as refunded, and ${sum} XAF were`] : []),
    ...(collected > collectedBy(collection) ? [`${collected} XAF are shown as collected`] : []),
    ...(refunded + refunding + refundable > collected && !refunds.some((one) => requestsOf(one) > 1)
      ? [`the sums are more than the ${collected} XAF collected`]
      : []),
  ];
  return found.map((what) => ({ invariant: 'wrongOutcome', what: `its refunds: ${what}` }));
}

/** What the provider has paid, or may pay, of a refund; in XAF. */
function sentOf({ transactions }: AuditCase): number {
  const sent = transactions.filter(({ status, isStray }) => status !== 'FAILED' && !isStray);
  return Math.max(0, ...sent.map(({ amount }) => amount));
}

function collectedBy({ transactions }: AuditCase): number {
  return transactions.filter(({ status }) => status === 'SUCCESSFUL').reduce((sum, { amount }) => sum + amount, 0);
}

/** The least that Sanaga may have known to be collected: of several transactions, it may have known one. In XAF. */
function leastCollected({ transactions }: AuditCase): number {
  const paid = transactions.filter(({ status }) => status === 'SUCCESSFUL').map(({ amount }) => amount);
  return paid.length === 0 ? 0 : Math.min(...paid);
}

/** The most that a refund may have counted for at any time, in XAF, with what the provider made of it by itself. */
function mostOf({ record, shown, transactions }: AuditCase, collection: AuditCase): number {
  const amount = Math.max(shown?.amount ?? 0, Number(record.planned.body.amount ?? collectedBy(collection)));
  const strays = transactions.filter(({ isStray }) => isStray).reduce((sum, stray) => sum + stray.amount, 0);
  return amount * requestsOf({ record }) + strays;
}

/** The most requests that there may have been for a refund. Each counts until the checks of its end are over. */
function requestsOf({ record }: Pick<AuditCase, 'record'>): number {
  return 1 + effectiveDecisions(record).filter(({ action }) => action === 'resend').length;
}
