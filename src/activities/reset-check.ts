import { status as grpc } from '@grpc/grpc-js';
import { Context } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import { DAY_MS } from '../payments/words/time.js';

/** Time limit of the whole check at Temporal, in ms; below an activity's margin beyond the provider's time limit. */
const CHECK_LIMIT_MS = 3_000;

/**
 * Largest difference between a server's clock readings for an activity and for its first attempt, in ms. Another
 * attempt comes a second later at the earliest.
 */
const ONE_MOMENT_MS = 100;

/**
 * The longest that a payment's first request can be delayed, in ms: the upper bound of the setting SEND_BY. Any request
 * after that is a repetition, decided after a look-up of what had been sent before, or the first of a payout that was
 * held, which is made only if the list shows nothing.
 */
export const MAX_FIRST_SEND_AGE_MS = 7 * DAY_MS;

/**
 * Sends a request that moves money or makes a link, unless somebody has reset the payment's workflow to an earlier
 * point, or restored Temporal since the payment began. Such a run has no record of what was sent since then, so the
 * payment has to be looked up, and it never sends it again.
 *
 * Nothing is sent either when Temporal doesn't answer in time: the outcome is `unchecked`.
 *
 * @param restoredAt time of Temporal's last restore from a backup, in ms since the epoch
 */
export async function sendIfNotReset(
  send: () => Promise<InitiationOutcome>,
  restoredAt?: number,
): Promise<InitiationOutcome> {
  const origin = isFirstAttempt() ? await originOrUnknown(restoredAt) : 'repeated';
  if (origin === 'beginning') return await send();
  if (origin === 'unknown') {
    const reason = 'nothing was sent: Temporal did not confirm in time that the workflow had not been reset';
    return { kind: 'unchecked', reason };
  }
  return { kind: 'ambiguous', reason: SENT_BEFORE[origin], isReset: true };
}

/** Reasons why the request may have been sent before. Merchants read them. */
const SENT_BEFORE = {
  repeated: 'Temporal may have handed the request to a worker before',
  reset: 'the workflow was reset, and may have sent it before',
  restored: 'Temporal was restored from a backup since the payment began, so it may have been sent before',
  deleted: "an earlier run of the workflow was deleted, so it can't be ruled out that it was sent before",
} as const;

/**
 * Reports whether no worker can have had the request before. Its retry policy allows one attempt, but while it is under
 * way, somebody can change the policy in Temporal, or reset the activity. A reset counts the attempts anew, but keeps
 * the time: only the first attempt is scheduled at the same time as the activity.
 */
function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs - scheduledTimestampMs < ONE_MOMENT_MS;
}

/**
 * Reports whether an earlier run of the workflow, unknown to this one, may have sent the payment's request: somebody
 * has reset the workflow or restored Temporal since, or Temporal doesn't answer in time.
 */
export async function mayHaveBeenReset(restoredAt?: number): Promise<boolean> {
  return (await originOrUnknown(restoredAt)) !== 'beginning';
}

/** The run's origin; `unknown` when Temporal doesn't say in time. */
async function originOrUnknown(restoredAt: number | undefined): Promise<Origin | 'unknown'> {
  try {
    return await findOrigin(restoredAt);
  } catch (error) {
    // Merchants read the reason; gRPC's message, which may name addresses, is for the operator's log.
    Context.current().log.warn('Temporal did not say whether the workflow was reset; nothing was sent', {
      error,
    });
    return 'unknown';
  }
}

/**
 * Origin of the activity's run: a payment's own beginning, a run that somebody reset, one that Temporal has from a
 * backup, or a run that Temporal should have and has lost.
 */
type Origin = 'beginning' | 'reset' | 'restored' | 'deleted';

/**
 * Walks back from the activity's run through the runs that it continues (continue-as-new) to the first one. A reset
 * copies the first event of a run's history into a new run, so the first event of a run that was reset names another
 * run. One such run anywhere in the chain is enough: it may have continued as new before it reached the request that
 * the run it replaces, or a later one, has sent.
 *
 * A run that Temporal no longer has ends the walk. Temporal deletes an ended run after the namespace's retention, 30
 * days at least (temporal/namespace.ts), so if it was deleted then, the run that continued it is older than
 * {@link MAX_FIRST_SEND_AGE_MS}. The request is then a repetition that was decided after the provider had been asked
 * about every earlier one; refusing it would only make an operator's `resend` impossible for payments that have been
 * open for a month. (A first request that old would have waited for a month without any worker.) If the run that
 * continued it is younger, somebody deleted the run, and nobody knows whether it was one that was reset.
 *
 * @throws an error of gRPC when Temporal doesn't answer in time or doesn't have the activity's own run.
 */
async function findOrigin(restoredAt = 0): Promise<Origin> {
  const { client, info } = Context.current();
  const { workflowExecution: own, namespace } = info;
  if (own === undefined) throw new Error('this activity was not started by a workflow');
  const { workflowId } = own;

  return await client.withDeadline(Date.now() + CHECK_LIMIT_MS, async () => {
    let runId = own.runId;
    let continuedAtMs: number | undefined;
    for (;;) {
      const execution = { workflowId, runId };
      let start: RunStart;
      try {
        start = readStart(
          await client.workflowService.getWorkflowExecutionHistory({
            namespace,
            execution,
            maximumPageSize: 1,
          }),
        );
      } catch (error) {
        if (continuedAtMs === undefined || !isNotFound(error)) throw error;
        return info.scheduledTimestampMs - continuedAtMs > MAX_FIRST_SEND_AGE_MS ? 'beginning' : 'deleted';
      }
      if (start.originalRunId !== runId) return 'reset';
      if (start.atMs < restoredAt) return 'restored';
      if (start.continuedRunId === '') return 'beginning';
      runId = start.continuedRunId;
      continuedAtMs = start.atMs;
    }
  });
}

/** The first event of a run. */
interface RunStart {
  /** The run for which the event was written; a reset leaves it as it was. */
  readonly originalRunId: string;
  /** The run that this one continues; empty for the first. */
  readonly continuedRunId: string;
  /** Time of the event's writing, in ms since the epoch. */
  readonly atMs: number;
}

type HistoryPage = Awaited<ReturnType<Context['client']['workflowService']['getWorkflowExecutionHistory']>>;

/** @throws Error when the page doesn't begin with a run's first event. */
function readStart({ history }: HistoryPage): RunStart {
  const [event] = history?.events ?? [];
  const started = event?.workflowExecutionStartedEventAttributes;
  const seconds = event?.eventTime?.seconds;
  if (!started || !seconds) throw new Error("Temporal sent a history without the run's start");
  return {
    originalRunId: started.originalExecutionRunId ?? '',
    continuedRunId: started.continuedExecutionRunId ?? '',
    atMs: Number(seconds) * 1_000,
  };
}

function isNotFound(error: unknown): boolean {
  return isGrpcServiceError(error) && error.code === grpc.NOT_FOUND;
}
