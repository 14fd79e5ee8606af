import { occurrencesIn, type Taken } from './occurrences.js';
import type { Occurrence, Timeline, TimelineEntry } from './timeline-entry.js';

/** The most entries that are kept, and how many of them are the first. */
export const MAX_ENTRIES = 100;

export const FIRST_KEPT = 20;

/**
 * Adds the entries of one step of the payment machine. A repetition since the last milestone only raises a count, so
 * that a link that is polled for a day takes a line and not a page.
 *
 * @param now ms since the epoch
 */
export function recordStep(timeline: Timeline, taken: Taken, now: number): Timeline {
  return occurrencesIn(taken).reduce((known, occurrence) => withOccurrence(known, occurrence, now), timeline);
}

function withOccurrence({ entries, omitted }: Timeline, given: Occurrence, now: number): Timeline {
  const occurrence = namedOnce(entries, given);
  const milestone = entries.findLastIndex(isMilestone);
  const same = entries.findIndex((entry, index) => index > milestone && isSame(entry, occurrence));
  if (same !== -1) {
    const counted = entries.map((entry, index) =>
      index === same ? { ...entry, count: (entry.count ?? 1) + 1, lastAt: now } : entry,
    );
    return { entries: counted, omitted };
  }
  const longer = [...entries, { ...occurrence, at: now }];
  if (longer.length <= MAX_ENTRIES) return { entries: longer, omitted };
  return { entries: longer.filter((_, index) => index !== FIRST_KEPT), omitted: (omitted ?? 0) + 1 };
}

/**
 * Largest number of other transactions that are named. Anybody may send notifications, each about another transaction,
 * and each would be an entry.
 */
const MAX_NAMED = 5;

function namedOnce(entries: readonly TimelineEntry[], occurrence: Occurrence): Occurrence {
  if (!isOfOther(occurrence)) return occurrence;
  const named = new Set(entries.map((entry) => (isOfOther(entry) ? entry.transId : undefined)));
  named.delete(undefined);
  if (named.size < MAX_NAMED || named.has(occurrence.transId)) return occurrence;
  const { transId: _, ...unnamed } = occurrence;
  return unnamed;
}

function isOfOther(
  occurrence: Occurrence,
): occurrence is Extract<Occurrence, { type: 'asked' | 'provider_notification' }> {
  return (occurrence.type === 'asked' || occurrence.type === 'provider_notification') && occurrence.other === true;
}

/** Reports whether an entry is told each time; after it, a repetition of an earlier entry is worth another line. */
function isMilestone(occurrence: Occurrence): boolean {
  switch (occurrence.type) {
    case 'accepted':
    case 'rejected':
    case 'review_opened':
    case 'decided':
    case 'decision_proposed':
    case 'decision_rejected':
    case 'status_changed':
      return true;
    default:
      return false;
  }
}

function isSame({ at: _at, count: _count, lastAt: _lastAt, ...entry }: TimelineEntry, other: Occurrence) {
  return entry.type === other.type && JSON.stringify(entry) === JSON.stringify(other);
}
