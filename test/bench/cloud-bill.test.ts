import { describe, expect, it } from '@jest/globals';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';
import { billableActions, monthlyBill } from './cloud-bill.js';

const { EventType } = temporal.api.enums.v1;
const { History: Decoder } = temporal.api.history.v1;

/** A history of these events, each with its attributes. */
const history = (...events: readonly object[]): History => Decoder.fromObject({ events });

const event = (name: keyof typeof EventType, attributes: object = {}) => ({
  eventType: EventType[name],
  ...attributes,
});
const marker = (workflowTaskCompletedEventId: number) =>
  event('EVENT_TYPE_MARKER_RECORDED', { markerRecordedEventAttributes: { workflowTaskCompletedEventId } });

describe('the billable actions of a history', () => {
  it('are one for its start, and one more for the update that comes with it', () => {
    expect(billableActions(history(event('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED')))).toBe(1);
    const started = history(
      event('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED'),
      event('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED'),
      event('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED'),
    );
    expect(billableActions(started)).toBe(2);
  });

  it('are one for all local activities of a workflow task', () => {
    expect(billableActions(history(marker(4), marker(4), marker(13)))).toBe(2);
  });

  it('are one for each attempt of an activity', () => {
    const retried = history(
      event('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED'),
      event('EVENT_TYPE_ACTIVITY_TASK_STARTED', { activityTaskStartedEventAttributes: { attempt: 3 } }),
      event('EVENT_TYPE_ACTIVITY_TASK_COMPLETED'),
    );
    expect(billableActions(retried)).toBe(3);
  });

  it('are not guessed for an event that nobody has looked up', () => {
    const unknown = history(event('EVENT_TYPE_NEXUS_OPERATION_SCHEDULED'));
    expect(() => billableActions(unknown)).toThrow('Is NEXUS_OPERATION_SCHEDULED billed?');
  });
});

describe("a month's bill at Temporal Cloud", () => {
  const none = { actions: 0, activeGigabyteHours: 0, retainedGigabyteHours: 0 };

  it("is that of Temporal's own examples", () => {
    expect(monthlyBill({ ...none, actions: 11.25e6 }).actions).toBeCloseTo(525, 6);
    const stored = { ...none, activeGigabyteHours: 720, retainedGigabyteHours: 3_600 };
    expect(monthlyBill(stored).storage).toBeCloseTo(34.02, 6);
  });

  it('has the last published price for what lies beyond it', () => {
    const [below, above] = [200e6, 300e6].map((actions) => monthlyBill({ ...none, actions }).actions);
    expect(below).toBeCloseTo(5_925, 6);
    expect(above).toBeCloseTo(5_925 + 100 * 25, 6);
  });

  it('has a tenth of the rest for the plan, and no less than 500 USD', () => {
    expect(monthlyBill(none).plan).toBe(500);
    expect(monthlyBill({ ...none, actions: 240e6 }).plan).toBeCloseTo(692.5, 6);
  });
});
