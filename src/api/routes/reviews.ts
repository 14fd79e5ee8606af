import { z } from 'zod';
import { listPayments, sumUp } from '../../book/lists.js';
import { PAYMENT_KINDS } from '../../payments/words/payment-id.js';
import { reviewPageSchema } from '../../schemas/payment.js';
import { cursor, toCursor } from '../cursor.js';
import { limit, merchantName } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { summary, viewerOf } from './payment-resource.js';

/** Lets an operator decide first what has waited longest. */
export const listReviews = authenticatedRoute({
  method: 'get',
  path: '/v1/reviews',
  summary: 'Payments in REVIEW, oldest first',
  description:
    'For operators. A page can be shorter than `limit` although others follow: the last one has no `nextCursor`.',
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
    const [totals, page] = await Promise.all([
      sumUp(context.book, filter),
      listPayments(context.book, filter, { pageSize, after, order: 'oldest first' }),
    ]);
    return {
      status: 200,
      json: {
        data: page.payments.map((payment) => summary(context, caller, payment)),
        unreadable: page.unreadable.map(({ id, merchant: of }) => viewerOf(context, caller, of)({ id })),
        total: totals.count,
        totalAmount: totals.amount,
        ...(page.last && { nextCursor: toCursor(page.last) }),
      },
    };
  },
});
