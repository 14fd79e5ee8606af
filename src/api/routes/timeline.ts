import { viewPayment } from '../../engine/read-payment.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import { FIRST_KEPT } from '../../payments/views/timeline.js';
import {
  EMPTY_TIMELINE,
  type Occurrence,
  type Timeline,
  type TimelineEntry,
} from '../../payments/views/timeline-entry.js';
import { type ShownOccurrence, sourceOf, summaryOf } from '../../payments/views/timeline-words.js';
import { refundOf } from '../../payments/words/order.js';
import type { PaymentId } from '../../payments/words/payment-id.js';
import { isoTime } from '../../payments/words/time.js';
import { type TimelineResource, timelineSchema } from '../../schemas/timeline.js';
import { authenticatedRoute } from '../route.js';
import { ownPayment } from './payment-resource.js';

/** Returns the payment's timeline, oldest first. */
export const getTimeline = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/events',
  summary: "The payment's timeline: every step, with its time and origin",
  operationId: 'getTimeline',
  tag: 'Payments',
  responses: { 200: { description: 'Every step, oldest first.', schema: timelineSchema } },
  scopes: READING_SCOPES,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const payment = await viewPayment(context, found);
    const { state, timeline = EMPTY_TIMELINE } = payment;
    const stoppedAt = payment.stands === 'stopped' ? payment.at : undefined;
    const read = { createdAt: state.createdAt, refundOf: refundOf(state.order), timeline, stoppedAt };
    const data = isOperator(request.caller) ? viewTimeline(read) : viewForMerchant(read);
    return { status: 200, json: { data } };
  },
});

/** A payment's timeline; times in ms since the epoch. */
interface ReadTimeline {
  readonly createdAt: number;
  readonly refundOf?: PaymentId | undefined;
  readonly timeline: Timeline;
  /** Time when its workflow was stopped by hand. */
  readonly stoppedAt?: number | undefined;
}

/** Hidden from merchants, who could take the decision of one of two people for the outcome. */
const OPERATORS_ONLY: readonly TimelineResource['type'][] = ['decision_proposed', 'decision_rejected'];

function viewForMerchant(read: ReadTimeline) {
  const { timeline } = read;
  const entries = timeline.entries.map(withoutOperator);
  return viewTimeline({ ...read, timeline: { ...timeline, entries } }).filter(
    ({ type }) => !OPERATORS_ONLY.includes(type),
  );
}

/** Merchants see an operator's name only on a decision that was carried out. */
function withoutOperator(entry: TimelineEntry): TimelineEntry {
  switch (entry.type) {
    case 'expiring':
    case 'refresh_requested':
    case 'recheck_requested':
    case 'notification_requested':
      return entry.source === 'operator' ? { ...entry, by: undefined } : entry;
    case 'status_changed':
      return entry.source === 'operator' ? { ...entry, by: undefined, approvedBy: undefined } : entry;
    default:
      return entry;
  }
}

/**
 * Lists the events, oldest first, with those that aren't stored: the creation, the gap where entries were dropped, and
 * the end by hand.
 */
export function viewTimeline({ createdAt, refundOf, timeline, stoppedAt }: ReadTimeline) {
  const { entries, omitted } = timeline;
  const next = entries[FIRST_KEPT];
  const isFinal = entries.findLast(isStatusChange)?.final === true;
  return [
    toTimelineResource({ at: createdAt, type: 'created', status: 'CREATED', refundOf }),
    ...entries.slice(0, FIRST_KEPT).map(viewEntry),
    ...(omitted === undefined || next === undefined
      ? []
      : [toTimelineResource({ at: next.at, type: 'omitted', entries: omitted })]),
    ...entries.slice(FIRST_KEPT).map(viewEntry),
    ...(stoppedAt === undefined
      ? []
      : [toTimelineResource({ at: stoppedAt, type: 'stopped', ...(!isFinal && { status: 'REVIEW' }) })]),
  ];
}

/** Finality ends where a review begins. */
function isStatusChange(
  entry: TimelineEntry,
): entry is TimelineEntry & Extract<Occurrence, { type: 'status_changed' | 'review_opened' }> & { final?: true } {
  return entry.type === 'status_changed' || entry.type === 'review_opened';
}

function viewEntry(entry: TimelineEntry) {
  return toTimelineResource(entry.type === 'review_opened' ? { ...entry, status: 'REVIEW' } : entry);
}

type ShownEntry = ShownOccurrence & Pick<TimelineEntry, 'at' | 'count' | 'lastAt'>;

function toTimelineResource({ at, count, lastAt, ...occurrence }: ShownEntry): TimelineResource {
  const { type, ...details } = occurrence;
  return {
    at: isoTime(at),
    ...(lastAt !== undefined && { lastAt: isoTime(lastAt), count }),
    type,
    source: sourceOf(occurrence),
    ...details,
    summary: summaryOf(occurrence, count),
  };
}
