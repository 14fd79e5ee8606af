import { z } from 'zod';
import { PAYMENT_STATUSES } from '../../payments/payment.js';
import { identifier } from '../orders/order-fields.js';
import { readCursor, toCursor } from '../page-cursor.js';
import { viewPayment } from '../payment-view.js';
import { listPayments as list } from '../payments/list-payments.js';
import { keyedRoute } from '../route.js';

const LIMIT = { most: 100, usual: 20 } as const;

/** In ms since the epoch once read. */
const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be a time in ISO 8601, such as 2026-11-21T08:20:32Z or 2026-11-21',
  })
  .transform((text) => Date.parse(text));

const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${LIMIT.most}`)
  .transform(Number)
  .refine((count) => count <= LIMIT.most, `must be at most ${LIMIT.most}`)
  .default(LIMIT.usual);

const cursor = z.string().transform((given, context) => {
  const place = readCursor(given);
  if (place !== undefined) return place;
  context.addIssue({ code: 'custom', message: 'must be a nextCursor as it came' });
  return z.NEVER;
});

const query = z.strictObject({
  status: z.enum(PAYMENT_STATUSES).optional(),
  kind: z.enum(['collection', 'payout']).optional(),
  externalId: identifier.optional(),
  userId: identifier.optional(),
  'created[gte]': time.optional(),
  'created[lt]': time.optional(),
  limit,
  cursor: cursor.optional(),
});

/** The caller's own payments, or everybody's for operators, and the ids of those that can't be read at the moment. */
export const listPayments = keyedRoute({
  method: 'get',
  path: '/v1/payments',
  summary: 'Payments, newest first',
  scopes: ['read', 'review'],
  query,
  async answer({ query: { limit: most, cursor: after, ...wanted }, caller }, api) {
    const { status, kind, externalId, userId } = wanted;
    const filter = {
      owner: caller.scopes.has('review') ? undefined : caller.owner,
      status,
      kind,
      externalId,
      userId,
      createdFrom: wanted['created[gte]'],
      createdBefore: wanted['created[lt]'],
    };
    const { payments, unreadable, last } = await list(api, filter, most, after);
    return {
      status: 200,
      json: {
        data: payments.map((payment) => viewPayment(payment, api.ui)),
        unreadable: unreadable.map((id) => viewPayment({ id }, api.ui)),
        ...(last && { nextCursor: toCursor(last) }),
      },
    };
  },
});
