import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { outcomeUpdate, type PaymentResult } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { currentState, type Found, findPayment } from './find-payment.js';
import { ENDED_MEANWHILE, refusalOf, waitFor } from './temporal-calls.js';

/** All who wait share this update, so that they cost the workflow's history as much as one. */
const SHARED_UPDATE = 'outcome';

/** ms between two waits of which the first ended early: time for a new run to begin. */
const PAUSE = 100;

/** ms between two looks at a payment that was final in this run, and is not any more. */
const REOPENED_PAUSE = 1_000;

/**
 * The payment once it is final, or as it stands when `waitMs` have passed, the caller has hung up or the process is
 * to stop.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function waitUntilFinal(
  api: Api,
  found: Found,
  waitMs: number,
  hangUp: AbortSignal,
): Promise<PaymentResult> {
  const outcome = await api.shutdown.reads.within(
    waitMs,
    (signal) => awaitOutcome(api, found, waitMs, signal),
    hangUp,
  );
  if (outcome !== undefined) return outcome;
  return await asItStands(api, found);
}

/** It may have ended while we waited, and an ended one has a result in place of somebody who answers. */
async function asItStands(api: Api, found: Found): Promise<PaymentResult> {
  return await currentState(api, (await findPayment(api, found.id)) ?? found);
}

async function awaitOutcome(
  api: Api,
  found: Found,
  limitMs: number,
  signal: AbortSignal,
): Promise<PaymentResult | undefined> {
  while (!signal.aborted) {
    try {
      const options = { updateId: SHARED_UPDATE };
      const waited = await waitFor(api.client, signal, limitMs, () =>
        found.handle.executeUpdate(outcomeUpdate, options),
      );
      if (waited === undefined) return undefined;
      // The update says what was so when it completed, once for all who ask under its id: by now it may not be so.
      const now = await asItStands(api, found);
      if (now.payment.final) return now;
      const wasFinal = waited.value.payment.final;
      await pause(wasFinal ? REOPENED_PAUSE : PAUSE, undefined, { signal }).catch(() => undefined);
    } catch (error) {
      if (hasEnded(error)) return undefined;
      throw error;
    }
  }
  return undefined;
}

function hasEnded(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || refusalOf(error) === ENDED_MEANWHILE;
}
