import { FIRST_KEPT, type Occurrence, type TimelineEntry } from '../../payments/timeline.js';
import { isOperator } from '../http/auth.js';
import { type ReadTimeline, readTimeline } from '../payments/read-timeline.js';
import { type ShownOccurrence, sourceOf, summaryOf } from '../payments/timeline-words.js';
import { type TimelineResource, timelineSchema } from '../resources.js';
import { authenticatedRoute } from '../route.js';
import { ownPayment } from './payment-resource.js';

/** What has happened to the payment, oldest first. */
export const listEvents = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/events',
  summary: "The payment's timeline: every step, when, and whose doing it was",
  operationId: 'listEvents',
  tag: 'Payments',
  responses: { 200: { description: 'Every step, oldest first.', schema: timelineSchema } },
  problems: ['not_found', 'temporarily_unavailable', 'records_unavailable', 'record_unreadable'],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const all = viewTimeline(await readTimeline(context, found));
    const data = isOperator(request.caller) ? all : all.filter(({ type }) => !OPERATORS_ONLY.includes(type));
    return { status: 200, json: { data } };
  },
});

/** What one of two people decides, a merchant could take for the outcome. */
const OPERATORS_ONLY: readonly TimelineResource['type'][] = ['decision_proposed', 'decision_rejected'];

/** Oldest first, with what isn't stored: the creation, the gap where entries were dropped, and the end by hand. */
export function viewTimeline({ createdAt, timeline, stoppedAt }: ReadTimeline) {
  const { entries, omitted } = timeline;
  const next = entries[FIRST_KEPT];
  const isFinal = entries.findLast(isStatusChange)?.final === true;
  return [
    view({ at: createdAt, type: 'created', status: 'CREATED' }),
    ...entries.slice(0, FIRST_KEPT).map(viewEntry),
    ...(omitted === undefined || next === undefined
      ? []
      : [view({ at: next.at, type: 'omitted', entries: omitted })]),
    ...entries.slice(FIRST_KEPT).map(viewEntry),
    ...(stoppedAt === undefined
      ? []
      : [view({ at: stoppedAt, type: 'stopped', ...(!isFinal && { status: 'REVIEW' }) })]),
  ];
}

/** Finality ends where a review begins. */
function isStatusChange(
  entry: TimelineEntry,
): entry is TimelineEntry &
  Extract<Occurrence, { type: 'status_changed' | 'review_opened' }> & { final?: true } {
  return entry.type === 'status_changed' || entry.type === 'review_opened';
}

function viewEntry(entry: TimelineEntry) {
  return view(entry.type === 'review_opened' ? { ...entry, status: 'REVIEW' } : entry);
}

type Shown = ShownOccurrence & Pick<TimelineEntry, 'at' | 'count' | 'lastAt'>;

function view({ at, count, lastAt, ...occurrence }: Shown): TimelineResource {
  const { type, ...details } = occurrence;
  return {
    at: iso(at),
    ...(lastAt !== undefined && { lastAt: iso(lastAt), count }),
    type,
    source: sourceOf(occurrence),
    ...details,
    summary: summaryOf(occurrence, count),
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
