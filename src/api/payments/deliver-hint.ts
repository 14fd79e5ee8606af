import { WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import { type Hint, hintSignal } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { findPayment } from './find-payment.js';
import { ask } from './temporal-calls.js';

/** What became of a hint: taken by the payment, too late for it, or meant for none that we know. */
export type HintDelivery = 'taken' | 'late' | 'unknown';

/**
 * Gives a payment the provider's hint; resolves only once Temporal has it for good.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function deliverHint(
  api: Pick<Api, 'client'>,
  id: PaymentId,
  hint: Hint,
): Promise<HintDelivery> {
  try {
    await ask(api.client, () => api.client.workflow.getHandle(id).signal(hintSignal, hint));
    return 'taken';
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const found = await findPayment(api, id);
  return found === undefined ? 'unknown' : await tooLate(id, hint);
}

/** A hint for a payment that has ended. Whatever is to look at such ones again starts from here. */
async function tooLate(_id: PaymentId, _hint: Hint): Promise<HintDelivery> {
  return 'late';
}
