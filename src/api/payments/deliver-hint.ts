import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import { type PaymentState, statusOf, transIdOf } from '../../payments/payment-state.js';
import { type Hint, hintSignal } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { temporarilyUnavailable } from '../problem.js';
import { findPayment } from './find-payment.js';
import { endedState, isLatest, reopenWithHint } from './reopen-payment.js';
import { ask } from './temporal-calls.js';

/**
 * What became of a hint: taken by the payment; come after its end, and saying what is known, or something else, so
 * that the payment is looked at again; or meant for none that we know.
 */
export type HintDelivery = 'taken' | 'agrees' | 'late' | 'unknown';

type HintApi = Pick<Api, 'client' | 'descriptions' | 'taskQueue' | 'logger' | 'limits'>;

/** Tries of a hint that keeps meeting a payment in the moment in which it begins or ends. */
const OVERTAKEN_TRIES = 4;

/** ms between two such tries. */
const OVERTAKEN_PAUSE_MS = 20;

/**
 * Gives a payment the provider's hint; resolves only once Temporal has it for good.
 *
 * @throws {ApiError} `temporarily_unavailable`; `too_many_notifications` when they open an ended payment too often.
 */
export async function deliverHint(api: HintApi, id: PaymentId, hint: Hint): Promise<HintDelivery> {
  for (let tries = 0; tries < OVERTAKEN_TRIES; tries++) {
    const delivery = (await signalRunning(api, id, hint)) ?? (await tooLate(api, id, hint));
    if (delivery !== undefined) return delivery;
    await pause(OVERTAKEN_PAUSE_MS);
  }
  const cause = new Error('the payment began or ended at each try');
  throw temporarilyUnavailable(undefined, { cause });
}

/** `undefined` when the payment doesn't run. */
async function signalRunning({ client }: HintApi, id: PaymentId, hint: Hint): Promise<'taken' | undefined> {
  try {
    await ask(client, () => client.workflow.getHandle(id).signal(hintSignal, hint));
    return 'taken';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * A hint for a payment that has ended. It is no fact either: it can only make the payment ask the provider again.
 * `undefined` when the payment has been opened again meanwhile.
 */
async function tooLate(api: HintApi, id: PaymentId, hint: Hint): Promise<HintDelivery | undefined> {
  const found = await findPayment(api, id);
  if (found === undefined) return 'unknown';
  if (found.running) return undefined;

  const state = await endedState(api, found);
  if (state === undefined) {
    api.logger.warn({ paymentId: id, transId: hint.transId }, 'late hint for a payment that was stopped');
    return 'late';
  }
  if (agrees(state, hint)) return 'agrees';
  if (!(await isLatest(api, found))) return undefined;
  api.limits.reopenings.pass(id);
  return (await reopenWithHint(api, found, state, hint)) ? 'late' : undefined;
}

function agrees(state: PaymentState, hint: Hint): boolean {
  return hint.transId === transIdOf(state) && hint.status === statusOf(state);
}
