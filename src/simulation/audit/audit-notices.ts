import type { Notice } from '../actors/merchant-endpoint.js';
import { DAY } from '../plan/durations.js';
import { agrees } from './agrees.js';
import type { Case, Found } from './case.js';

/** How long a notification is tried. */
const PATIENCE_MS = 3 * DAY;

const FINAL_EVENTS: Readonly<Record<string, string>> = {
  SUCCESSFUL: 'payment.succeeded',
  FAILED: 'payment.failed',
  EXPIRED: 'payment.expired',
};

/** What the merchant was told of a payment, against what was so. */
export function auditNotices(subject: Case): Found[] {
  return [...unnotified(subject), ...untrue(subject), ...contradictory(subject), ...disorderly(subject)];
}

/** The endpoint is never away for three days, so whatever is to be told must have been acknowledged. */
function unnotified({ shown, record }: Case): Found[] {
  if (shown === undefined) return [];
  const due = shown.final
    ? FINAL_EVENTS[shown.status]
    : shown.status === 'REVIEW'
      ? 'payment.review'
      : undefined;
  const told = record.notices.some(({ acknowledged, told: { type } }) => acknowledged && type === due);
  return due === undefined || told ? [] : [{ invariant: 'unnotified', what: `nobody was told ${due}` }];
}

/** A notification carries the payment as it stands when it is sent: what it calls final must be the ledger's word. */
function untrue({ record }: Case): Found[] {
  return record.notices.flatMap(({ webhookId, told: { type, data }, truth }): Found[] => {
    const what = `${webhookId} said ${type}, ${data.status}; the ledger had ${truth.join(', ') || 'nothing'}`;
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
  const ends = new Set(
    record.notices.filter(({ told }) => told.data.final).map(({ told }) => told.data.status),
  );
  if (ends.size > 1) found.push({ invariant: 'notifiedWrong', what: `told of ${[...ends].join(' and ')}` });
  return found;
}

/** An event comes after the one before it was acknowledged, or given up. */
function disorderly({ record }: Case): Found[] {
  const firsts = new Map<number, Notice>();
  const acknowledged = new Map<number, number>();
  const found: Found[] = [];
  for (const notice of record.notices) {
    const number = Number(notice.webhookId.slice(notice.webhookId.lastIndexOf('_') + 1));
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
