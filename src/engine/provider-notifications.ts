import type { Logger } from 'pino';
import type { Message } from '../book/content.js';
import { post } from '../book/inbox.js';
import { findRow, isIdle, type PaymentRow } from '../book/payments.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type { ProviderStatus } from '../payments/words/transaction.js';
import type { NotificationLimits } from './notification-limits.js';
import { type RingContext, ringWorkflow, tryTemporal } from './ring.js';

/** Dependencies of passing on the provider's notifications. */
export interface HintContext extends RingContext {
  readonly logger: Logger;
  readonly limits: Pick<NotificationLimits, 'reopenings'>;
}

/**
 * The content of a provider's notification, which may lack either field: a reason to ask the provider, and no fact.
 */
export interface Hint {
  readonly transId?: TransId | undefined;
  readonly status?: ProviderStatus | undefined;
}

/**
 * The result of a hint. `taken`: an open payment has it. For an ended payment, `agrees`: it agrees with the known
 * outcome; `late`: the payment asks the provider again. `unknown`: there is no such payment, and an operator has to see
 * the hint.
 */
export type HintDelivery = 'taken' | 'agrees' | 'late' | 'unknown';

/**
 * Delivers the provider's hint to a payment. Resolves once it is in the book: the payment takes it in its next turn,
 * which is rung for.
 *
 * @throws {BookUnavailable}
 * @throws {TooManyNotifications} when an ended payment is to ask the provider again too often.
 */
export async function deliverHint(context: HintContext, id: PaymentId, hint: Hint): Promise<HintDelivery> {
  const payment = await findRow(context.book, id);
  if (payment === undefined) return 'unknown';
  if (payment.final && agrees(payment, hint)) return 'agrees';
  if (payment.final && (await isIdle(context.book, id))) await context.limits.reopenings.pass(id);
  const message: Message = { kind: 'hint', ...hint };
  await post(context.book, id, message, context.book.now());
  await tryTemporal(context, id, () => ringWorkflow(context, payment));
  return payment.final ? 'late' : 'taken';
}

function agrees(payment: PaymentRow, { transId = payment.transId, status }: Hint): boolean {
  return transId === payment.transId && status === payment.status;
}
