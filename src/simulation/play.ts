import { eachOf } from './each-of.js';
import type { PaymentRecord } from './payment-record.js';
import { DAY, HOUR, SECOND } from './plan/durations.js';
import type { Stage } from './stage.js';

/** The sandbox's own doings within this time, in ms, are done together. */
const STEP_MS = 20 * SECOND;
/** Requests of people under way at a time. */
const IN_FLIGHT = 32;
/** ms between two looks at who still waits for an end. */
const LOOK_MS = 3 * HOUR;
/** ms after the last payment's arrival that everybody has to come to an end. */
const DRAIN_MS = 9 * DAY;

/** Lets time pass until every payment has come to its end, or it has become too late for that. */
export async function play(stage: Stage, report: (line: string) => void): Promise<void> {
  const { world, lastArrival } = stage;
  const start = world.clock.now();
  let lookAt = start;
  for (;;) {
    const now = await world.time.now();
    await actWhatIsDue(stage);
    await world.sandbox.quiet();
    await stage.troublemaker.settled();
    if (now >= lookAt) {
      const waiting = stage.records.filter((record) => !hasEnded(record));
      report(`day ${((now - start) / DAY).toFixed(2)}: ${waiting.length} payments have not ended`);
      if (now > lastArrival && (waiting.length === 0 || isHopeless(stage, waiting, now))) return;
      lookAt = now + LOOK_MS;
    }
    if (now > lastArrival + DRAIN_MS) return;
    await world.time.sleepUntil(nextStop(stage, now, lookAt));
  }
}

/** What falls due while we act is acted on at once, too. */
async function actWhatIsDue({ world, timeline }: Stage): Promise<void> {
  for (;;) {
    const due = timeline.takeDue(await world.time.now());
    if (due.length === 0) return;
    await eachOf(due, IN_FLIGHT, (act) => act());
  }
}

function nextStop({ timeline, world }: Stage, now: number, lookAt: number): number {
  const sandbox = world.clock.nextDue();
  return Math.min(
    lookAt,
    timeline.next() ?? Number.POSITIVE_INFINITY,
    sandbox === undefined ? Number.POSITIVE_INFINITY : Math.max(sandbox, now + STEP_MS),
  );
}

/** The merchant knows the outcome, or was refused. */
function hasEnded({ refused, notices }: PaymentRecord): boolean {
  return refused || notices.some(({ acknowledged, told }) => acknowledged && told.data.final);
}

/** Nothing more is going to happen to those who wait: there is nobody to decide on them. */
function isHopeless(
  { operators, lastArrival }: Stage,
  waiting: readonly PaymentRecord[],
  now: number,
): boolean {
  const underReview = waiting.filter(({ notices }) => notices.at(-1)?.told.type === 'payment.review');
  return !operators.canResolve && underReview.length === waiting.length && now > lastArrival + 3 * DAY;
}
