import { z } from 'zod';
import { described, xaf } from './fields.js';
import { paymentId, paymentSchema } from './payment.js';

/** The sums of a collection's refunds, in a list of them and in problems. */
export const refundSums = {
  collected: xaf('What was collected; missing while the outcome is not known').optional(),
  refunded: xaf('The sum of the refunds that have arrived'),
  refunding: xaf('The sum of the refunds that were sent, may have been, or are to be'),
  refundable: xaf('What can still be refunded: 0 when the rest is less than 100 XAF'),
};

export const refundsSchema = z
  .object({
    object: z.literal('refunds'),
    collection: paymentId,
    ...refundSums,
    data: described(z.array(paymentSchema), 'The refunds, oldest first'),
  })
  .meta({ id: 'Refunds', description: 'The refunds of a collection' });
