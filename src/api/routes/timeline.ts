import { z } from 'zod';
import { listAudited } from '../../book/audit.js';
import type { Book } from '../../book/book.js';
import { type Notification, notificationsOf } from '../../book/notifications.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import { FIRST_KEPT } from '../../payments/views/timeline.js';
import type { Timeline, TimelineEntry } from '../../payments/views/timeline-entry.js';
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
    const { state, timeline } = found.kept;
    const told = await toldOf(context.book, found.id);
    const read = { createdAt: state.createdAt, refundOf: refundOf(state.order), timeline, told };
    const data = isOperator(request.caller) ? viewTimeline(read) : viewForMerchant(read);
    return { status: 200, json: { data } };
  },
});

/** A payment's timeline; times in ms since the epoch. */
interface ReadTimeline {
  readonly createdAt: number;
  readonly refundOf?: PaymentId | undefined;
  readonly timeline: Timeline;
  /** What its merchant was told, and who asked for that to be told again. */
  readonly told?: readonly TimelineEntry[];
}

/** What was delivered stands beside the payment: nothing of that changes it. */
async function toldOf(book: Book, id: PaymentId): Promise<readonly TimelineEntry[]> {
  const [notifications, asked] = await Promise.all([
    notificationsOf(book, id, book.now()),
    listAudited(book, ['resendNotification'], [id]),
  ]);
  const requests = asked.flatMap(({ at, detail }): TimelineEntry[] => {
    const { data } = resendDetail.safeParse(detail);
    if (data === undefined || !notifications.some(({ number }) => number === data.number)) return [];
    return [{ at, type: 'notification_requested', number: data.number, source: data.by.role, by: data.by.name }];
  });
  return [...notifications.flatMap(toDeliveryEntry), ...requests];
}

const resendDetail = z.object({
  number: z.int(),
  by: z.object({ role: z.enum(['merchant', 'operator']), name: z.string().optional() }),
});

function toDeliveryEntry({ number, type: event, delivery }: Notification): TimelineEntry[] {
  const about = { type: 'merchant_notification', number, event } as const;
  switch (delivery.kind) {
    case 'due': {
      const { lastTriedAt, tries } = delivery;
      if (lastTriedAt === undefined) return [];
      return [
        { ...about, at: lastTriedAt, delivery: 'failed', ...(tries > 1 && { count: tries, lastAt: lastTriedAt }) },
      ];
    }
    case 'noAddress':
      return [{ ...about, at: delivery.at, delivery: 'no_address' }];
    default:
      return [{ ...about, at: delivery.at, delivery: delivery.kind }];
  }
}

/** Hidden from merchants, who could take the decision of one of two people for the outcome. */
const OPERATORS_ONLY: readonly TimelineResource['type'][] = ['decision_proposed', 'decision_rejected'];

function viewForMerchant(read: ReadTimeline) {
  const { timeline } = read;
  const entries = timeline.entries.map(withoutOperator);
  const told = read.told?.map(withoutOperator) ?? [];
  return viewTimeline({ ...read, timeline: { ...timeline, entries }, told }).filter(
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
 * Lists the events, oldest first, with those that the payment doesn't keep: its creation, the gap where entries were
 * dropped, and what its merchant was told.
 */
export function viewTimeline({ createdAt, refundOf, timeline, told = [] }: ReadTimeline) {
  const { entries, omitted } = timeline;
  const next = entries[FIRST_KEPT];
  const kept = [
    toTimelineResource({ at: createdAt, type: 'created', status: 'CREATED', refundOf }),
    ...entries.slice(0, FIRST_KEPT).map(viewEntry),
    ...(omitted === undefined || next === undefined
      ? []
      : [toTimelineResource({ at: next.at, type: 'omitted', entries: omitted })]),
    ...entries.slice(FIRST_KEPT).map(viewEntry),
  ];
  if (told.length === 0) return kept;
  return [...kept, ...told.map(viewEntry)].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
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
