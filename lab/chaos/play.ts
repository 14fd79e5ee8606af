import { takePayment } from './actors/merchant.js';
import { operate } from './actors/operators.js';
import { pressButtons } from './actors/web-ui.js';
import type { ChaosRecord } from './chaos-record.js';
import type { Killer } from './killer.js';
import type { PlannedKill } from './plan/plan-kills.js';
import { type Scene, untilOver, wait } from './scene.js';

/**
 * ms that everything may take to come to its end once the last payment has arrived and the last process is up. A
 * notification that failed twice, at the merchant's and with a worker's death, is tried again after five minutes.
 */
const DRAIN_MS = 360_000;
/** ms between two looks at who still waits, and between two reports of it. */
const LOOK_MS = 500;
const REPORT_MS = 10_000;

export interface Plan {
  readonly kills: readonly PlannedKill[];
  /** ms in which payments arrive. */
  readonly lengthMs: number;
}

/**
 * Takes the payments while processes die. Resolves when each payment has come to its end and everybody has done what
 * they had to do, or when it has become too late for that.
 */
export async function play(scene: Scene, killer: Killer, plan: Plan): Promise<void> {
  const begun = performance.now();
  const until = (ms: number) => wait(begun + ms - performance.now(), scene);
  let busy = true;
  const payments = Promise.all(
    scene.records.map(async (record) => {
      await until(record.planned.arrivesAt);
      await takePayment(record, scene);
    }),
  ).then(() => {
    busy = false;
  });
  const isOpen = () => busy || scene.records.some((record) => !hasEnded(record));

  const reporting = setInterval(() => scene.report(progress(scene)), REPORT_MS);
  try {
    const deaths = Promise.all([killer.run(plan.kills), until(plan.lengthMs)]).then(async () => {
      scene.report('the last process is up again; waiting for the payments to end');
      const deadline = performance.now() + DRAIN_MS;
      while (isOpen() && performance.now() < deadline) await wait(LOOK_MS, scene);
      await killer.settled();
    });
    // None of these people ends it by coming to their own end, but any failure does.
    const people = [payments, operate(scene), pressButtons(scene)];
    await Promise.race([deaths, ...people.map(failure)]);
  } finally {
    clearInterval(reporting);
  }
}

/** Rejects as the doing does, unless that was cut short; never resolves. */
async function failure(doing: Promise<void>): Promise<never> {
  await untilOver(doing);
  return await new Promise(() => undefined);
}

/** The merchant knows the outcome, unless the workflow was terminated. */
function hasEnded({ notices, terminated }: ChaosRecord): boolean {
  return terminated || notices.findLast(({ acknowledged }) => acknowledged)?.told.data.final === true;
}

function progress({ records, doings }: Scene): string {
  const taken = records.filter((record) => record.taken).length;
  const ended = records.filter(hasEnded).length;
  const unanswered = doings.of('merchant: no answer') + doings.of('merchant: 503');
  return `${taken} of ${records.length} payments taken, ${ended} ended; ${unanswered} requests without an answer`;
}
