import type { Notice } from '../actors/merchant-endpoint.js';
import { DAY } from '../plan/durations.js';
import { agrees } from './agrees.js';
import { inWords } from './booked.js';
import type { Case, Found } from './case.js';
import { isExcused } from './excuses.js';

/** How long a notification is tried. */
const PATIENCE_MS = 3 * DAY;

const FINAL_EVENTS: Readonly<Record<string, string>> = {
  SUCCESSFUL: 'payment.succeeded',
  FAILED: 'payment.failed',
  EXPIRED: 'payment.expired',
};

/** What the merchant was told of a payment, against what was so. */
export function auditNotices(subject: Case): Found[] {
  return [
    ...unnotified(subject),
    ...forgotten(subject),
    ...untrue(subject),
    ...contradictory(subject),
    ...disorderly(subject),
  ];
}

/** The endpoint is never away for three days, so whatever is to be told must have been acknowledged. */
function unnotified({ shown, record }: Case): Found[] {
  if (shown === undefined || record.terminated) return [];
  const due = shown.final
    ? FINAL_EVENTS[shown.status]
    : shown.status === 'REVIEW'
      ? 'payment.review'
      : undefined;
  const told = record.notices.some(({ acknowledged, told: { type } }) => acknowledged && type === due);
  return due === undefined || told ? [] : [{ invariant: 'unnotified', what: `nobody was told ${due}` }];
}

/** Notifications are numbered from 1, so that each that comes tells of all before it. */
function forgotten({ record }: Case): Found[] {
  const numbers = new Set(record.notices.filter(isAcknowledged).map(numberOf));
  const all = Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1);
  return all
    .filter((number) => !numbers.has(number))
    .map((number) => ({ invariant: 'unnotified', what: `notification ${number} was never taken` }));
}

/** A notification carries the payment as it stands when it is sent: what it calls final must be the ledger's word. */
function untrue({ record }: Case): Found[] {
  return record.notices.flatMap(({ webhookId, at, told: { type, data }, truth }): Found[] => {
    if (isExcused(record, at)) return [];
    const what = `${webhookId} said ${type}, ${data.status}; the ledger had ${inWords(truth)}`;
    const isFinalEvent = Object.values(FINAL_EVENTS).includes(type);
    const isWrong = data.final
      ? !agrees(record.planned.way, data.status, truth)
      : isFinalEvent && data.status !== 'REVIEW';
    return isWrong ? [{ invariant: 'notifiedWrong', what }] : [];
  });
}

function contradictory({ record }: Case): Found[] {
  const types = new Map<string, string>();
  const found: Found[] = [];
  for (const { webhookId, told } of record.notices) {
    const before = types.get(webhookId) ?? told.type;
    types.set(webhookId, before);
    if (before !== told.type) {
      found.push({ invariant: 'notifiedWrong', what: `${webhookId} was ${before}, and then ${told.type}` });
    }
  }
  return [...found, ...secondEnds(record.notices)];
}

/** An end that has been told stays, unless a person was asked about it. */
function secondEnds(notices: readonly Notice[]): Found[] {
  const inOrder = [...notices].sort((one, other) => numberOf(one) - numberOf(other));
  let end: string | undefined;
  return inOrder.flatMap(({ told: { type, data } }): Found[] => {
    if (type === 'payment.review') end = undefined;
    if (!data.final) return [];
    const before = end;
    end = data.status;
    return before === undefined || before === end
      ? []
      : [{ invariant: 'notifiedWrong', what: `told of ${before} and ${end}` }];
  });
}

/** An event comes after the one before it was acknowledged, or given up. */
function disorderly({ record }: Case): Found[] {
  const firsts = new Map<number, Notice>();
  const acknowledged = new Map<number, number>();
  const found: Found[] = [];
  for (const notice of record.notices) {
    const number = numberOf(notice);
    const before = firsts.get(number - 1);
    const isFirst = !firsts.has(number);
    if (isFirst) firsts.set(number, notice);
    if (isFirst && number > 1 && !acknowledged.has(number - 1)) {
      const isGivenUp = before !== undefined && notice.at - Date.parse(before.told.timestamp) >= PATIENCE_MS;
      if (!isGivenUp)
        found.push({ invariant: 'notifiedWrong', what: `${notice.webhookId} came out of order` });
    }
    if (notice.acknowledged && !acknowledged.has(number)) acknowledged.set(number, notice.at);
  }
  return found;
}

function numberOf({ webhookId }: Notice): number {
  return Number(webhookId.slice(webhookId.lastIndexOf('_') + 1));
}

function isAcknowledged({ acknowledged }: Notice): boolean {
  return acknowledged;
}
