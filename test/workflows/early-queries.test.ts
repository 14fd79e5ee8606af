import { describe, expect, it } from '@jest/globals';
import { interceptors } from '../../src/workflows/query-guard.js';

type Guard = NonNullable<ReturnType<typeof interceptors>['internals']>[number];
type Input = Parameters<NonNullable<Guard['activate']>>[0];

/** What a worker gives a workflow: at a time, with so many events, and a query or news. */
interface Given {
  readonly at: number;
  readonly events: number;
  readonly isReplaying?: boolean;
  readonly query?: boolean;
}

/** Gives a workflow all of this, one after the other. @returns how many of them reached it */
function give(...all: readonly Given[]): number {
  const [guard] = interceptors().internals ?? [];
  let reached = 0;
  for (const { at, events, isReplaying = false, query = false } of all) {
    const activation = {
      timestamp: { seconds: at, nanos: 0 },
      historyLength: events,
      isReplaying,
      jobs: [query ? { queryWorkflow: { queryType: '__temporal_workflow_metadata' } } : { fireTimer: { seq: 1 } }],
    };
    guard?.activate?.({ activation, batchIndex: 0 } as unknown as Input, () => {
      reached++;
    });
  }
  return reached;
}

describe('a query that comes with what has happened since the last workflow task', () => {
  it('is refused, also after that: the workflow has seen what no task has told it', () => {
    const ahead = [
      { at: 1, events: 10 },
      { at: 1, events: 12 },
    ];
    expect(give(...ahead)).toBe(2);
    expect(() => give(...ahead, { at: 1, events: 12, query: true })).toThrow('ask again after it');
  });
});

describe('a query that comes with nothing new', () => {
  it.each<[string, readonly Given[]]>([
    ['after a task', [{ at: 1, events: 10 }]],
    [
      'after a task that was given in parts',
      [
        { at: 1, events: 10 },
        { at: 1, events: 10 },
      ],
    ],
    [
      'after a replay',
      [
        { at: 1, events: 10, isReplaying: true },
        { at: 1, events: 12, isReplaying: true },
      ],
    ],
    [
      'after the task that was waited for',
      [
        { at: 1, events: 10 },
        { at: 1, events: 12 },
        { at: 2, events: 14 },
      ],
    ],
  ])('is answered %s', (_, before) => {
    const last = before.at(-1) ?? { at: 1, events: 10 };
    expect(give(...before, { ...last, isReplaying: false, query: true })).toBe(before.length + 1);
  });
});
