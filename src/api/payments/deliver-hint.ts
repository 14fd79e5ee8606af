import { WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import type { PaymentState } from '../../payments/payment-state.js';
import { type Hint, hintSignal } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { findPayment } from './find-payment.js';
import { endedState, reopenWithHint } from './reopen-payment.js';
import { ask } from './temporal-calls.js';

/**
 * What became of a hint: taken by the payment; come after its end, and saying what is known, or something else, so
 * that the payment is looked at again; or meant for none that we know.
 */
export type HintDelivery = 'taken' | 'agrees' | 'late' | 'unknown';

/**
 * Gives a payment the provider's hint; resolves only once Temporal has it for good.
 *
 * @throws {ApiError} `temporarily_unavailable`; `too_many_notifications` when they open an ended payment too often.
 */
export async function deliverHint(
  api: Pick<Api, 'client' | 'descriptions' | 'taskQueue' | 'logger' | 'limits'>,
  id: PaymentId,
  hint: Hint,
): Promise<HintDelivery> {
  try {
    await ask(api.client, () => api.client.workflow.getHandle(id).signal(hintSignal, hint));
    return 'taken';
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return await tooLate(api, id, hint);
}

/** A hint for a payment that has ended. It is no fact either: it can only make the payment ask the provider again. */
async function tooLate(
  api: Pick<Api, 'client' | 'descriptions' | 'taskQueue' | 'logger' | 'limits'>,
  id: PaymentId,
  hint: Hint,
): Promise<HintDelivery> {
  const found = await findPayment(api, id);
  if (found === undefined) return 'unknown';
  // Somebody else has just opened it again.
  if (found.running) return await deliverHint(api, id, hint);

  const state = await endedState(api, found);
  if (state === undefined) {
    api.logger.warn({ paymentId: id, transId: hint.transId }, 'late hint for a payment that was stopped');
    return 'late';
  }
  if (agrees(state, hint)) return 'agrees';
  api.limits.reopenings.pass(id);
  await reopenWithHint(api, found, state, hint);
  return 'late';
}

function agrees({ transId, status }: PaymentState, hint: Hint): boolean {
  return hint.transId === transId && hint.status === status;
}
