import { z } from 'zod';
import type { DirectOrder, LinkOrder } from '../../payments/order.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { phoneMediumSchema } from '../../provider/schemas.js';
import {
  amount,
  email,
  expiresIn,
  identifier,
  message,
  metadata,
  name,
  onlyFor,
  phone,
  redirectUrl,
  userId,
} from './order-fields.js';

const both = {
  amount,
  email: email.optional(),
  userId: userId.optional(),
  externalId: identifier.optional(),
  message: message.optional(),
  metadata,
};

/** Body of `POST /v1/collections`: by a link, or directly on the payer's phone. */
export const collectionBody = z.discriminatedUnion(
  'method',
  [
    z.strictObject({
      method: z.literal('link'),
      ...both,
      redirectUrl: redirectUrl.optional(),
      expiresIn: expiresIn.optional(),
      phone: onlyFor('direct'),
      medium: onlyFor('direct'),
      name: onlyFor('direct'),
    }),
    z.strictObject({
      method: z.literal('direct'),
      ...both,
      phone,
      medium: phoneMediumSchema.optional(),
      name: name.optional(),
      redirectUrl: onlyFor('link'),
      expiresIn: onlyFor('link'),
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? 'must be "link" or "direct"' : undefined) },
);
export type CollectionBody = z.infer<typeof collectionBody>;

/** The order that a collection's body makes. */
export function toCollectionOrder(id: PaymentId, body: CollectionBody): LinkOrder | DirectOrder {
  if (body.method === 'link') {
    const { expiresIn: expiresInMs, phone: _, medium: __, name: ___, ...order } = body;
    return { id, kind: 'collection', ...order, expiresInMs };
  }
  const { redirectUrl: _, expiresIn: __, ...order } = body;
  return { id, kind: 'collection', ...order };
}
