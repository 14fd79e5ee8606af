import { z } from 'zod';
import { listPayments } from '../../engine/list-payments.js';
import { countPayments } from '../../engine/oldest-first.js';
import { PAYMENT_KINDS } from '../../payments/words/payment-id.js';
import { visibilityQuery } from '../../records/index-queries.js';
import { reviewPageSchema } from '../../schemas/payment.js';
import { cursor, toCursor } from '../cursor.js';
import { limit, merchantName } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { viewerOf } from './payment-resource.js';

/** Lets an operator decide first what has waited longest. */
export const listReviews = authenticatedRoute({
  method: 'get',
  path: '/v1/reviews',
  summary: 'Payments in REVIEW, oldest first',
  description:
    'For operators. They are as the index has them, which can lag behind by a moment: read a payment itself before you decide on it. A page can be shorter than `limit` although others follow: the last one has no `nextCursor`.',
  operationId: 'listReviews',
  tag: 'Operations',
  responses: { 200: { description: 'A page of payments.', schema: reviewPageSchema } },
  problems: ['temporarily_unavailable'],
  scopes: ['review'],
  query: z.strictObject({
    merchant: merchantName.optional().describe('The payments of one merchant'),
    kind: z.enum(PAYMENT_KINDS).optional(),
    limit,
    cursor,
  }),
  async handle({ query, caller }, context) {
    const { merchant, kind, limit: pageSize, cursor: after } = query;
    const filter = { status: 'REVIEW', merchant, kind } as const;
    const [total, page] = await Promise.all([
      countPayments(context.client, visibilityQuery(filter)),
      listPayments(context, filter, { pageSize, after, order: 'oldest first' }),
    ]);
    const view = (of: string) => viewerOf(context, caller, of);
    return {
      status: 200,
      json: {
        data: page.payments.map(({ payment, merchant: of }) => view(of)(payment)),
        unreadable: page.unreadable.map(({ id, merchant: of }) => view(of)({ id })),
        total,
        ...(page.last && { nextCursor: toCursor(page.last) }),
        ...(page.isIncomplete && { incomplete: true as const }),
      },
    };
  },
});
