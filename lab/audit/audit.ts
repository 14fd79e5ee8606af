import { DAY_MS } from '../../src/payments/words/time.js';
import type { ReceivedNotification } from '../people/merchant-endpoint.js';
import {
  effectiveDecisions,
  type MadeDecision,
  type ObservedPayment,
  wasReviewedSince,
} from '../people/observed-payment.js';
import { type FinalTransaction, statusList } from '../world/provider-books.js';
import { misbooked } from './booking.js';
import { type AuditCase, agrees, type Finding, isExcused, isOverruled, type Violation } from './case.js';
import { auditHeld } from './held.js';

/** Compares the provider's books with Sanaga's payments and the merchant's notifications. */
export function audit(subject: AuditCase): Violation[] {
  const about = subject.record.planned.id;
  return [
    ...doublePaid(subject),
    ...oversent(subject),
    ...lostPayments(subject),
    ...wrongOutcome(subject),
    ...wrongAmount(subject),
    ...unnoticed(subject),
    ...overLimit(subject),
    ...stuck(subject),
    ...misbooked(subject),
    ...decidedWrongly(subject),
    ...auditNotifications(subject),
    ...auditHeld(subject),
  ].map((violation) => ({ about, ...violation }));
}

/** Decisions to send: the order, and each time that an operator had it sent again. */
function decisionsToSend(record: ObservedPayment): number {
  return 1 + effectiveDecisions(record).filter(({ action }) => action === 'resend').length;
}

/**
 * A link moves money when it is paid; what goes straight to a phone may move money as soon as it is there. What the
 * provider doubles by itself is not ours.
 */
function doublePaid({ record, transactions, isForgotten }: AuditCase): Finding[] {
  if (isForgotten) return [];
  const own = transactions.filter(({ isStray }) => !isStray);
  const moving = record.planned.way === 'link' ? own.filter(isPaid) : own;
  if (moving.length <= decisionsToSend(record)) return [];
  return [{ invariant: 'doublePaid', what: `${moving.length} transactions: ${statusList(transactions)}` }];
}

/** Money is sent once for each decision to send it. Making a link again harms nobody. */
function oversent({ record, posts, isForgotten }: AuditCase): Finding[] {
  const decisions = decisionsToSend(record);
  if (record.planned.way === 'link' || posts <= decisions || isForgotten) return [];
  return [{ invariant: 'oversent', what: `${posts} requests for ${decisions} decisions to send it` }];
}

function lostPayments({ record, shown, transactions, isForgotten }: AuditCase): Finding[] {
  if (shown === undefined) {
    if (isForgotten) return [];
    const isKnown = record.taken || transactions.length > 0;
    return isKnown
      ? [{ invariant: 'lost', what: `the API doesn't know it; the ledger has ${statusList(transactions)}` }]
      : [];
  }
  const wasPaid = transactions.some((booked) => isPaid(booked) && !booked.isStray);
  if (!wasPaid || shown.status === 'SUCCESSFUL' || shown.status === 'REVIEW' || isOverruled(record)) return [];
  return [{ invariant: 'lost', what: `it was paid, and is ${shown.status}` }];
}

function wrongOutcome({ record, shown, transactions }: AuditCase): Finding[] {
  const { way } = record.planned;
  const said = [
    ...record.wrongAnswers,
    ...record.shownEnds
      .filter(({ at, status, truth }) => !agrees(way, status, truth) && !isExcused(record, at))
      .map(({ status, truth }) => `shown as ${status} when the ledger had ${statusList(truth)}`),
  ].map((what): Finding => ({ invariant: 'wrongOutcome', what }));
  if (shown === undefined || !shown.final || isOverruled(record)) return said;
  if (agrees(way, shown.status, transactions)) return said;
  const what = `it ended ${shown.status}; the ledger has ${statusList(transactions)}`;
  return [...said, { invariant: 'wrongOutcome', what }];
}

/** The API and the merchant's notifications name the amount that the ledger has moved. */
function wrongAmount({ record, shown, transactions }: AuditCase): Finding[] {
  const told = record.notifications.map(({ content }) => content.data);
  return [...(shown === undefined ? [] : [shown]), ...told].flatMap((said): Finding[] => {
    const booked = transactions.find(({ transId }) => transId === said.transId);
    const { amount, amountPaid = amount, status } = said;
    if (status !== 'SUCCESSFUL' || booked === undefined || amountPaid === booked.amount) return [];
    const what = `it says that ${amountPaid} XAF have moved; the ledger has ${booked.amount} XAF`;
    return [{ invariant: 'wrongOutcome', what }];
  });
}

/** Two transactions that move money are put before a person, unless nothing could tell Sanaga of the second. */
function unnoticed({ record, shown, transactions }: AuditCase): Finding[] {
  if (shown === undefined || shown.status === 'REVIEW') return [];
  const isLink = record.planned.way === 'link';
  const [, second] = transactions
    .filter((booked) => (isLink ? isPaid(booked) : booked.status !== 'FAILED'))
    .filter(({ isStray, isKnown }) => !isStray || isKnown)
    .sort((one, other) => one.createdAt - other.createdAt);
  if (second === undefined || wasReviewedSince(record, second.createdAt)) return [];
  return [{ invariant: 'unnoticed', what: `it has ${statusList(transactions)}, and nobody was asked` }];
}

/** Status questions beyond the provider's limit, whether it refused them or answered. */
function overLimit({ transactions, tooManyQuestions = [] }: AuditCase): Finding[] {
  const throttled = transactions.reduce((sum, { statusCalls }) => sum + statusCalls.throttled, 0);
  const found = tooManyQuestions.map((what): Finding => ({ invariant: 'overLimit', what }));
  return throttled === 0
    ? found
    : [...found, { invariant: 'overLimit', what: `${throttled} status calls were too many` }];
}

/** At the end operators have gone through every review many times over: nobody is left to wait for. */
function stuck({ shown, transactions, isForgotten }: AuditCase): Finding[] {
  if (shown === undefined || shown.final || isForgotten) return [];
  return [{ invariant: 'stuck', what: `it is ${shown.status}; the ledger has ${statusList(transactions)}` }];
}

/** Each review is decided once. */
function decidedWrongly({ record: { decisions }, isLost }: AuditCase): Finding[] {
  // A decision that the book has lost is made again.
  if (isLost) return [];
  const done = new Map<number, MadeDecision>();
  return decisions.flatMap((decision): Finding[] => {
    if (decision.outcome !== 'done') return [];
    const before = done.get(decision.review);
    done.set(decision.review, decision);
    if (before === undefined) return [];
    const what = `review ${decision.review} was decided twice: ${before.action}, ${decision.action}`;
    return [{ invariant: 'wrongOutcome', what }];
  });
}

function isPaid({ status }: Pick<FinalTransaction, 'status'>): boolean {
  return status === 'SUCCESSFUL';
}

/** Sanaga gives a notification up after this time, in ms. */
const PATIENCE_MS = 3 * DAY_MS;

const FINAL_EVENTS: Readonly<Record<string, string>> = {
  SUCCESSFUL: 'payment.succeeded',
  FAILED: 'payment.failed',
  EXPIRED: 'payment.expired',
};

/** Compares the merchant's notifications with the ledger. */
function auditNotifications(subject: AuditCase): Finding[] {
  return [
    ...unnotified(subject),
    ...forgotten(subject),
    ...untrue(subject),
    ...contradictory(subject),
    ...disorderly(subject),
  ];
}

/** The endpoint is never away for three days, so each notification must have been acknowledged. */
function unnotified({ shown, record }: AuditCase): Finding[] {
  if (shown === undefined) return [];
  const isRefunded = shown.status === 'SUCCESSFUL' && record.planned.refundOf !== undefined;
  const end = isRefunded ? 'payment.refunded' : FINAL_EVENTS[shown.status];
  const due = shown.final ? end : shown.status === 'REVIEW' ? 'payment.review' : undefined;
  const wasNotified = record.notifications.some(({ acknowledged, content: { type } }) => acknowledged && type === due);
  return due === undefined || wasNotified
    ? []
    : [{ invariant: 'unnotified', what: `the merchant was never notified of ${due}` }];
}

/** Notifications are numbered from 1, so each that arrives shows that all before it were due. */
function forgotten({ record, isLost }: AuditCase): Finding[] {
  if (isLost) return [];
  const numbers = new Set(record.notifications.filter(isAcknowledged).map(numberOf));
  const all = Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1);
  return all
    .filter((number) => !numbers.has(number))
    .map((number) => ({ invariant: 'unnotified', what: `notification ${number} was never taken` }));
}

/** Checks that a notification has the payment as it is when sent: the ledger must agree with a final status. */
function untrue({ record }: AuditCase): Finding[] {
  return record.notifications.flatMap(({ webhookId, at, content: { type, data }, truth }): Finding[] => {
    if (isExcused(record, at)) return [];
    const what = `${webhookId} said ${type}, ${data.status}; the ledger had ${statusList(truth)}`;
    const isFinalEvent = type === 'payment.refunded' || Object.values(FINAL_EVENTS).includes(type);
    const isWrong = data.final
      ? !agrees(record.planned.way, data.status, truth)
      : isFinalEvent && data.status !== 'REVIEW';
    return isWrong ? [{ invariant: 'notifiedWrong', what }] : [];
  });
}

function contradictory({ record, isLost }: AuditCase): Finding[] {
  const types = new Map<string, string>();
  const found: Finding[] = [];
  for (const { webhookId, content } of record.notifications) {
    const before = types.get(webhookId) ?? content.type;
    types.set(webhookId, before);
    if (before !== content.type) {
      found.push({
        invariant: 'notifiedWrong',
        what: `${webhookId} was ${before}, and then ${content.type}`,
      });
    }
  }
  return isLost ? found : [...found, ...secondEnds(record.notifications)];
}

/** An end that the merchant was notified of stays, unless a person was asked about it. */
function secondEnds(notifications: readonly ReceivedNotification[]): Finding[] {
  const inOrder = [...notifications].sort((one, other) => numberOf(one) - numberOf(other));
  let end: string | undefined;
  return inOrder.flatMap(({ content: { type, data } }): Finding[] => {
    if (type === 'payment.review') end = undefined;
    if (!data.final) return [];
    const before = end;
    end = data.status;
    return before === undefined || before === end
      ? []
      : [{ invariant: 'notifiedWrong', what: `notified of ${before} and of ${end}` }];
  });
}

/** An event comes after the one before it was acknowledged, or given up. */
function disorderly({ record, isLost }: AuditCase): Finding[] {
  if (isLost) return [];
  const firsts = new Map<number, ReceivedNotification>();
  const acknowledged = new Map<number, number>();
  const found: Finding[] = [];
  for (const notification of record.notifications) {
    const number = numberOf(notification);
    const before = firsts.get(number - 1);
    const isFirst = !firsts.has(number);
    if (isFirst) firsts.set(number, notification);
    if (isFirst && number > 1 && !acknowledged.has(number - 1)) {
      const isGivenUp = before !== undefined && notification.at - Date.parse(before.content.timestamp) >= PATIENCE_MS;
      if (!isGivenUp) found.push({ invariant: 'notifiedWrong', what: `${notification.webhookId} came out of order` });
    }
    if (notification.acknowledged && !acknowledged.has(number)) acknowledged.set(number, notification.at);
  }
  return found;
}

function numberOf({ webhookId }: ReceivedNotification): number {
  // The number of the book's era may follow.
  return Number(/[a-z]_(\d+)(?:_\d+)?$/.exec(webhookId)?.[1]);
}

function isAcknowledged({ acknowledged }: ReceivedNotification): boolean {
  return acknowledged;
}
