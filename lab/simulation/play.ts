import { eachOf } from './each-of.js';
import { type PaymentRecord, wasReviewed } from './payment-record.js';
import { DAY, HOUR, SECOND } from './plan/durations.js';
import type { Stage } from './stage.js';

/** What the sandbox is to do within each stretch of this length, in ms, is done together at its end. */
const STEP_MS = 30 * SECOND;
/** Requests of people under way at a time. */
const IN_FLIGHT = 32;
/** ms between two looks at who still waits for an end. */
const LOOK_MS = 3 * HOUR;
/** ms for which an outcome that a person had to decide is compared with the provider's books, and some more. */
const CHECKED_FOR_MS = DAY + HOUR;
/** ms after the last payment's arrival that everybody has to come to an end. */
const DRAIN_MS = 9 * DAY;

/**
 * Lets time pass until every payment has come to its end, or it has become too late for that.
 *
 * @throws StalledError when time stands still.
 */
export async function play(stage: Stage, report: (line: string) => void): Promise<void> {
  const { world, start, lastArrival } = stage;
  let lookAt = start;
  for (;;) {
    const now = await world.time.now();
    await actWhatIsDue(stage);
    await world.sandbox.quiet();
    await stage.troublemaker.settled();
    if (now >= lookAt) {
      const waiting = stage.records.filter((record) => !hasEnded(record, now)).length;
      report(`day ${((now - start) / DAY).toFixed(2)}: ${waiting} payments have not ended`);
      if (now > lastArrival && waiting === 0 && world.clock.nextDue() === undefined) return;
      lookAt = now + LOOK_MS;
    }
    if (now > lastArrival + DRAIN_MS) return;
    await world.time.sleepUntil(nextStop(stage, lookAt));
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

function nextStop({ timeline, world, start }: Stage, lookAt: number): number {
  const sandbox = world.clock.nextDue() ?? Number.POSITIVE_INFINITY;
  const step = start + Math.ceil((sandbox - start) / STEP_MS) * STEP_MS;
  return Math.min(lookAt, timeline.next() ?? Number.POSITIVE_INFINITY, step);
}

/** The merchant knows the outcome, or was refused. One that was reviewed is checked for a day more. */
function hasEnded(record: PaymentRecord, now: number): boolean {
  if (record.refused || record.terminated) return true;
  const last = record.notices.findLast(({ acknowledged }) => acknowledged);
  return last?.told.data.final === true && (!wasReviewed(record) || now > last.at + CHECKED_FOR_MS);
}
