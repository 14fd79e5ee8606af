/*
 * What Temporal Cloud bills: rules and prices of https://docs.temporal.io/evaluate/cloud/actions and
 * https://docs.temporal.io/cloud/pricing, read on 22 November 2026 in the revisions 24afc58 and 0217b71 of
 * https://github.com/temporalio/documentation.
 */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';

const { EventType } = temporal.api.enums.v1;

/** An event's name, such as `TIMER_STARTED`. */
export function eventName(type: temporal.api.enums.v1.EventType | null | undefined): string {
  return EventType[type ?? 0]?.replace('EVENT_TYPE_', '') ?? '';
}

/**
 * One action each. A start by update-with-start is one for the start and one for the update that it brings; a timer
 * counts when it is started, a signal when it is taken, an upsert however many attributes it has.
 */
const BILLED = new Set([
  'WORKFLOW_EXECUTION_STARTED',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'WORKFLOW_EXECUTION_SIGNALED',
  'WORKFLOW_EXECUTION_OPTIONS_UPDATED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'ACTIVITY_TASK_SCHEDULED',
  'TIMER_STARTED',
]);

const FREE = new Set([
  'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
  'WORKFLOW_EXECUTION_COMPLETED',
  'WORKFLOW_TASK_SCHEDULED',
  'WORKFLOW_TASK_STARTED',
  'WORKFLOW_TASK_COMPLETED',
  'ACTIVITY_TASK_STARTED',
  'ACTIVITY_TASK_COMPLETED',
  'TIMER_FIRED',
  'TIMER_CANCELED',
]);

/**
 * The billable actions in a history. All markers of one workflow task, those of local activities among them, count as
 * one; each attempt of an activity after its first counts, too. Queries are in no history: each is one more.
 *
 * @throws Error for an event of which it isn't said here whether it is billed
 */
export function billableActions({ events }: History): number {
  let actions = 0;
  const tasksWithMarkers = new Set<string>();
  for (const event of events ?? []) {
    const name = eventName(event.eventType);
    if (BILLED.has(name)) actions++;
    else if (name === 'MARKER_RECORDED') {
      tasksWithMarkers.add(String(event.markerRecordedEventAttributes?.workflowTaskCompletedEventId));
    } else if (!FREE.has(name)) throw new Error(`Is ${name} billed? Say so in cloud-bill.ts`);
    actions += (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1;
    const { meteringMetadata } = event.workflowTaskCompletedEventAttributes ?? {};
    actions += meteringMetadata?.nonfirstLocalActivityExecutionAttempts ?? 0;
  }
  return actions + tasksWithMarkers.size;
}

/** Pay as you go on the Business plan, in USD a million actions: up to so many actions a month, at this price. */
const TIERS = [
  { upTo: 5e6, price: 50 },
  { upTo: 10e6, price: 45 },
  { upTo: 20e6, price: 40 },
  { upTo: 50e6, price: 35 },
  { upTo: 100e6, price: 30 },
  { upTo: 200e6, price: 25 },
] as const;
/** No price is published for more than 200 million actions. It is no higher. */
const LAST_PRICE = 25;

/** USD a gigabyte-hour. A workflow's history is active while it is open, then retained. */
const ACTIVE_PRICE = 0.042;
const RETAINED_PRICE = 0.00105;

/** The plan itself: this share of the rest, and no less than this a month, in USD. */
const PLAN_SHARE = 0.1;
const PLAN_MINIMUM = 500;

export interface Consumption {
  /** A month. */
  readonly actions: number;
  readonly activeGigabyteHours: number;
  readonly retainedGigabyteHours: number;
}

/** A month's bill, in USD. What the plan includes (2.5 million actions, 102.5 GB) isn't taken off. */
export interface Bill {
  readonly actions: number;
  readonly storage: number;
  readonly plan: number;
}

export function monthlyBill(used: Consumption): Bill {
  let [price, from] = [0, 0];
  for (const tier of [...TIERS, { upTo: Number.POSITIVE_INFINITY, price: LAST_PRICE }]) {
    price += (Math.max(0, Math.min(used.actions, tier.upTo) - from) / 1e6) * tier.price;
    from = tier.upTo;
  }
  const storage = used.activeGigabyteHours * ACTIVE_PRICE + used.retainedGigabyteHours * RETAINED_PRICE;
  return { actions: price, storage, plan: Math.max(PLAN_MINIMUM, (price + storage) * PLAN_SHARE) };
}
