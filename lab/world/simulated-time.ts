import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, WorkflowClientInterceptor } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ManualClock } from '../../sandbox/clock.js';
import type { Timeline } from '../people/context.js';
import { NAMESPACE } from './worker-parts.js';

/** Simulated time stands still: a workflow task never ends. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

/** Time limit for a sleep while nobody asks for the time, in real ms: a killed worker is missed after ten seconds. */
const STALL_MS = 120_000;

/** Number of such sleeps allowed while somebody does ask: a busy machine is slow. */
const MAX_STALLS = 5;

/**
 * The time of the time-skipping server, which the sandbox's clock follows. It stands in for the real one everywhere
 * but in limits on how long a connection may take.
 *
 * While nobody sleeps, the server's time passes with the real one, so the server needn't be asked; while somebody does,
 * it may jump at any moment.
 */
export class SimulatedTime {
  #known: { readonly time: number; readonly tick: number } | undefined;
  #asking: Promise<number> = Promise.resolve(0);
  #queued: Promise<number> | undefined;
  /** Counts questions for the time. The provider asks at each request, so a growing count shows progress. */
  #questions = 0;

  constructor(
    private readonly env: Pick<TestWorkflowEnvironment, 'currentTimeMs' | 'sleep'>,
    private readonly clock: ManualClock,
    private readonly stallMs = STALL_MS,
  ) {}

  /** Brings the sandbox's clock up to the server's time, and gives it: ms since the epoch. */
  async now(): Promise<number> {
    this.#questions += 1;
    const time =
      this.#known === undefined
        ? await this.#ask()
        : Math.floor(this.#known.time + performance.now() - this.#known.tick);
    this.clock.advanceTo(time);
    return this.clock.now();
  }

  /** The time without a question to the server: it may lag behind while somebody sleeps. ms since the epoch. */
  readonly known = (): number => {
    if (this.#known === undefined) return this.clock.now();
    return Math.max(this.clock.now(), Math.floor(this.#known.time + performance.now() - this.#known.tick));
  };

  /**
   * Lets time pass until `time`.
   *
   * @throws StalledError if it doesn't reach it
   */
  async sleepUntil(time: number): Promise<void> {
    const left = time - (await this.now());
    if (left <= 0) return;
    this.#known = undefined;
    await this.#orStall(this.env.sleep(left), time);
    const now = await this.env.currentTimeMs();
    this.#known = { time: now, tick: performance.now() };
    this.clock.advanceTo(now);
  }

  async #orStall(sleep: Promise<void>, time: number): Promise<void> {
    const woken = new AbortController();
    const isAwake = sleep.then(() => true);
    try {
      for (let stalls = 1; ; stalls += 1) {
        const before = this.#questions;
        const stall = pause(this.stallMs, false, { signal: woken.signal }).catch(() => true);
        if (await Promise.race([isAwake, stall])) return;
        if (this.#questions === before || stalls === MAX_STALLS)
          throw new StalledError(`time doesn't reach ${new Date(time).toISOString()}`);
      }
    } finally {
      woken.abort();
    }
  }

  /** An answer that is under way may be older than the question: all who ask meanwhile share the next one. */
  #ask(): Promise<number> {
    this.#queued ??= this.#asking
      .catch(() => 0)
      .then(() => {
        this.#queued = undefined;
        this.#asking = this.env.currentTimeMs();
        return this.#asking;
      });
    return this.#queued;
  }
}

/**
 * Lets the server's time go on when somebody terminates a workflow. The test server keeps time from skipping while a
 * task is on its way and, when its workflow is terminated meanwhile, for ever: this releases the hold.
 */
export function unlockingTime({
  workflowService,
  testService,
}: Pick<Connection, 'workflowService' | 'testService'>): WorkflowClientInterceptor {
  if (testService === undefined) throw new Error('only the test server has a time of its own');
  return {
    async terminate(input, next) {
      const answer = await next(input);
      const { history } = await workflowService.getWorkflowExecutionHistory({
        namespace: NAMESPACE,
        execution: input.workflowExecution,
      });
      for (const _open of openTasks(history?.events ?? [])) await testService.unlockTimeSkipping({});
      return answer;
    },
  };
}

/**
 * The tasks of a workflow and its activities that are on their way, or were when it ended: what each is, and since
 * which event.
 */
export function openTasks(events: readonly temporal.api.history.v1.IHistoryEvent[]): string[] {
  let task: string | undefined;
  const activities = new Map<string, string>();
  for (const event of events) {
    const id = String(event.eventId);
    if (event.workflowTaskScheduledEventAttributes) task = `workflow task since event ${id}`;
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(id, `${scheduled.activityType?.name} since event ${id}`);
    const workflowTask =
      event.workflowTaskCompletedEventAttributes ??
      event.workflowTaskFailedEventAttributes ??
      event.workflowTaskTimedOutEventAttributes;
    if (workflowTask) task = undefined;
    const activity =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (activity) activities.delete(String(activity.scheduledEventId));
  }
  return [...(task === undefined ? [] : [task]), ...activities.values()];
}

/** Something planned for a time (ms since the epoch). */
interface PlannedAct {
  readonly at: number;
  readonly order: number;
  readonly run: () => Promise<void> | void;
}

/**
 * The plans of people in the simulation, in order of time. Acts that need no exact time are put off to the next tick,
 * so that many happen at once and time makes fewer stops.
 */
export class PlannedTimeline implements Timeline {
  readonly #acts: PlannedAct[] = [];
  #added = 0;

  /**
   * @param origin the first tick, in ms since the epoch
   * @param tickMs ms between two ticks
   */
  constructor(
    private readonly origin: number,
    private readonly tickMs: number,
  ) {}

  /** Plans something for the first tick at or after a time. */
  at(time: number, run: PlannedAct['run']): void {
    this.exactly(this.origin + Math.ceil((time - this.origin) / this.tickMs) * this.tickMs, run);
  }

  /** Plans something for just this moment. */
  exactly(time: number, run: PlannedAct['run']): void {
    const planned = { at: time, order: this.#added++, run };
    this.#acts.splice(this.#placeOf(planned), 0, planned);
  }

  /** The time of the next thing planned, in ms since the epoch. */
  next(): number | undefined {
    return this.#acts.at(-1)?.at;
  }

  /** Takes out everything that has fallen due, in order. */
  takeDue(now: number): (() => Promise<void> | void)[] {
    const due: (() => Promise<void> | void)[] = [];
    for (let last = this.#acts.at(-1); last !== undefined && last.at <= now; ) {
      due.push(last.run);
      this.#acts.pop();
      last = this.#acts.at(-1);
    }
    return due;
  }

  /** Kept from last to first, so that the next one is taken from the end. */
  #placeOf({ at, order }: PlannedAct): number {
    let low = 0;
    let high = this.#acts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#acts[middle];
      if (other !== undefined && (other.at > at || (other.at === at && other.order > order))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
