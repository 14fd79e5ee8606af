import { EMPTY_TIMELINE } from '../../payments/timeline.js';
import { type EndedState, type PaymentTimeline, timelineQuery } from '../../workflows/messages.js';
import { ApiError } from '../http/problem.js';
import {
  askRunning,
  type FoundPayment,
  isUntaken,
  type PaymentInTemporal,
  type ReadContext,
  stateAtStart,
  wasNeverBegun,
} from './find-payment.js';
import { type RecordedPayment, recordedContent } from './recorded-payments.js';
import { endedState } from './reopen-payment.js';
import { callTemporal } from './temporal-calls.js';

/** What has happened to a payment; `stoppedAt` (ms since the epoch) when its workflow was stopped by hand. */
export interface ReadTimeline extends PaymentTimeline {
  readonly stoppedAt?: number | undefined;
}

/**
 * What has happened to a payment: a running one is queried, an ended one has left it with its result. Of one that no
 * worker has ever taken, it is known that it was created.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function readTimeline(context: ReadContext, found: FoundPayment): Promise<ReadTimeline> {
  if (found.kind === 'recorded') return ofRecorded(found);
  if (found.running) return await ofRunning(context, found);
  const ended = await endedState(context, found);
  return ended === undefined ? await ofStopped(context, found) : of(ended);
}

function of({ state, timeline = EMPTY_TIMELINE }: EndedState): PaymentTimeline {
  return { createdAt: state.createdAt, timeline };
}

function ofRecorded(found: RecordedPayment): ReadTimeline {
  const { stopped, closedAt } = found.record;
  return { ...of(recordedContent(found)), stoppedAt: stopped ? closedAt : undefined };
}

async function ofRunning(context: ReadContext, found: PaymentInTemporal): Promise<ReadTimeline> {
  try {
    return await askRunning(context, found, () => found.handle.query(timelineQuery));
  } catch (error) {
    if (error instanceof ApiError && (await isUntaken(context, found))) {
      return of(await stateAtStart(context, found));
    }
    throw error;
  }
}

async function ofStopped(context: ReadContext, found: PaymentInTemporal): Promise<ReadTimeline> {
  const stoppedAt = (found.description.closeTime ?? new Date(found.describedAt)).getTime();
  try {
    const timeline = await callTemporal(context.client, () => found.handle.query(timelineQuery));
    return { ...timeline, stoppedAt };
  } catch (error) {
    if (!wasNeverBegun(error)) throw error;
    return { ...of(await stateAtStart(context, found)), stoppedAt };
  }
}
