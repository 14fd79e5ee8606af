import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { ActivityFailure, log, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import { SERVICES } from '../payments/words/order.js';
import { dayAfter, dayOf, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS, startOf } from '../payments/words/time.js';
import { BALANCE_WINDOW_MS } from '../reconciliation/statement.js';
import { readMadeStatement, readStatementInput } from './inputs.js';
import {
  type MadeStatement,
  type StatementInput,
  type StatementRun,
  type StatementSteps,
  statementsQueue,
} from './messages.js';

/**
 * Time after its end in which a day is left to settle, in ms: what was begun in its last minutes is listed then, and
 * most of what was open has come to its end. Somebody who asks for a statement waits for the first alone. One of the
 * day so far waits until the orders of its last moment are committed.
 */
const SETTLING_MS = { scheduled: 3 * HOUR_MS, asked: 15 * MINUTE_MS, soFar: 5 * SECOND_MS } as const;

/** For how long a question to the provider is repeated, before the statement says that it isn't covered. */
const PROVIDER_PATIENCE_MS = { day: 4 * HOUR_MS, soFar: 15 * MINUTE_MS } as const;

/** Longest time that the book may be away. */
const BOOK_PATIENCE_MS = 12 * HOUR_MS;

/** Longer than the longest time limit of one question to the provider. */
const HEARTBEAT_TIMEOUT_MS = 2 * MINUTE_MS;

/** Time at which a schedule was to start this workflow, which may be long before it did. */
const SCHEDULED_START = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * Makes the statement of a day. Started by its schedule at midnight, it first asks for the balances, and then waits
 * until the day has settled.
 *
 * One of a day that isn't over covers it until its start. It changes nothing, and the night's is made all the same.
 */
export async function makeStatement(given: StatementInput = { v: 1 }): Promise<MadeStatement> {
  const { day: asked, soFar } = readStatementInput(given);
  const { runId, startTime, typedSearchAttributes } = workflowInfo();
  const begun = (typedSearchAttributes.get(SCHEDULED_START) ?? startTime).getTime();
  const day = asked ?? dayAfter(dayOf(begun), -1);
  const end = startOf(dayAfter(day));
  // One of the day so far that starts after midnight is a statement of the day.
  const until = soFar && begun < end ? begun : undefined;
  const run: StatementRun = { runId, day, ...(until !== undefined && { until }) };
  const patienceMs = PROVIDER_PATIENCE_MS[until === undefined ? 'day' : 'soFar'];

  if (asked === undefined)
    await continueWithout('its balances', () =>
      steps('Ask for the balances', BALANCE_WINDOW_MS).readBalances(dayAfter(day)),
    );
  const settled =
    until === undefined
      ? end + (asked === undefined ? SETTLING_MS.scheduled : SETTLING_MS.asked)
      : until + SETTLING_MS.soFar;
  if (Date.now() < settled) {
    setCurrentDetails(`Waits until ${day} has settled, at ${isoTime(settled)}.`);
    await sleep(settled - Date.now(), { summary: `until ${day} has settled` });
  }

  setCurrentDetails(`Makes the statement of ${day}${until === undefined ? '' : ` until ${isoTime(until)}`}.`);
  await steps("Read the day's payments", BOOK_PATIENCE_MS).readPayments(run);
  for (const service of SERVICES) {
    const search = steps(`Search the ${service} service`, patienceMs);
    await continueWithout(`the search of the ${service} service`, () => search.searchDay(run, service));
  }
  await continueWithout('some payments', () => steps('Look up payments', patienceMs).lookUpPayments(run));
  await steps('Compare', BOOK_PATIENCE_MS).comparePayments(run);
  await steps('Follow up what differs', BOOK_PATIENCE_MS).followUp(run);
  const published = await steps('Keep the statement', BOOK_PATIENCE_MS).publish(run);

  // Somebody may have completed the step by hand.
  const made = readMadeStatement(published);
  const { version, payments, differences, complete } = made;
  setCurrentDetails(
    `The statement of **${day}**, version ${version}: ${payments} payments, ${differences} differences${complete ? '' : ', **incomplete**'}.`,
  );
  return made;
}

/** A step on a queue of its own. Each can be repeated, and is until `patienceMs` are over. */
function steps(summary: string, patienceMs: number): StatementSteps {
  return proxyActivities<StatementSteps>({
    taskQueue: statementsQueue(workflowInfo().taskQueue),
    scheduleToCloseTimeout: patienceMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '2m' },
    summary,
  });
}

/** Goes on without something that the statement then says is missing. */
async function continueWithout(what: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn(`the statement goes on without ${what}`, { reason: error.cause?.message });
  }
}
