import { z } from 'zod';
import type { PayoutOrder } from '../../payments/order.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { mediumSchema } from '../../provider/schemas.js';
import { amount, email, identifier, message, metadata, name, phone, userId } from './order-fields.js';

/**
 * Body of `POST /v1/payouts`. As the provider has it, an account on its own platform is reached by an e-mail address
 * and every other by a phone number.
 */
export const payoutBody = z
  .strictObject({
    amount,
    phone: phone.optional(),
    medium: mediumSchema.optional(),
    name: name.optional(),
    email: email.optional(),
    userId: userId.optional(),
    externalId: identifier.optional(),
    message: message.optional(),
    metadata,
  })
  .superRefine((body, context) => {
    const isPlatform = body.medium === 'platform';
    if (isPlatform && body.email === undefined) {
      context.addIssue({ code: 'custom', path: ['email'], message: 'is required when medium is platform' });
    }
    if (isPlatform && body.phone !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['phone'],
        message: 'is not for the medium platform: its accounts are reached by email',
      });
    }
    if (!isPlatform && body.phone === undefined) {
      context.addIssue({ code: 'custom', path: ['phone'], message: 'is required unless medium is platform' });
    }
  });
export type PayoutBody = z.infer<typeof payoutBody>;

/** The order that a payout's body makes. */
export function toPayoutOrder(id: PaymentId, body: PayoutBody): PayoutOrder {
  return { id, kind: 'payout', ...body };
}
