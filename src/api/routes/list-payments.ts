import { z } from 'zod';
import { listPayments as list, type PaymentFilter, sumUp } from '../../book/lists.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import { toSummary } from '../../payments/views/to-payment.js';
import { HELD_FOR } from '../../payments/words/order.js';
import { PAYMENT_STATUSES } from '../../payments/words/payment.js';
import { PAYMENT_KINDS } from '../../payments/words/payment-id.js';
import { dayAfter, startOf } from '../../payments/words/time.js';
import { paymentPageSchema } from '../../schemas/payment.js';
import { cursor, toCursor } from '../cursor.js';
import { day, limit, merchantName, separator, time, transId } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { identifier } from './order-fields.js';
import { paymentCsv } from './payment-csv.js';
import { merchantToList, summary, viewerOf } from './payment-resource.js';

/** An identifier that the provider or a mobile operator has given, who limit it in no way. */
const REFERENCE = /^[!-~]{1,200}$/;

const xafAmount = z
  .string()
  .regex(/^[0-9]{1,12}$/, 'must be a whole number of XAF')
  .transform(Number)
  .meta({ parameter: { type: 'integer', minimum: 0 } });

const listQuery = z.strictObject({
  status: z.enum(PAYMENT_STATUSES).optional(),
  final: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ parameter: { type: 'boolean' } })
    .describe(
      "Selects by whether the outcome is certain: `false` for all that is still open, REVIEW and a link's FAILED included",
    ),
  held: z
    .enum(HELD_FOR)
    .optional()
    .describe(
      'Payouts that were not sent yet, and wait for an `approval` or for their `date`, those for both included',
    ),
  kind: z.enum(PAYMENT_KINDS).optional(),
  method: z.enum(['link', 'direct']).optional().describe('Collections by the way that they reach the payer'),
  externalId: identifier.optional(),
  userId: identifier.optional(),
  merchant: merchantName.optional().describe('For operators: the payments of one merchant'),
  transId: transId.optional(),
  financialTransId: z
    .string()
    .regex(REFERENCE, "must be a mobile operator's reference")
    .optional()
    .describe("The mobile operator's reference, which a payer's text message has"),
  reference: z
    .string()
    .regex(REFERENCE, 'must be an identifier')
    .optional()
    .describe(
      'Any identifier of a payment: its `id`, `userId`, `transId` or `financialTransId`, or the beginning of its `externalId`',
    ),
  'amount[gte]': xafAmount.optional().describe('Ordered for at least this amount, in XAF'),
  'amount[lte]': xafAmount.optional().describe('Ordered for at most this amount, in XAF'),
  'created[gte]': time
    .optional()
    .describe('Created at or after this time; a day alone begins at midnight in Douala. In curl, use `-g`'),
  day: day.optional().describe('Created on this day in Douala, such as `2026-11-20`'),
  'created[lt]': time.optional().describe('Created before this time; a day alone begins at midnight in Douala'),
  totals: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .default(false)
    .meta({ parameter: { type: 'boolean', default: false } })
    .describe('Also count and sum up all payments that are selected, on all pages'),
  limit,
  cursor,
  separator,
});

/**
 * Lists the caller's payments, or every merchant's for operators; as CSV if the caller prefers that. The next page is
 * in `nextCursor`, and in the header `Link`.
 */
export const listPayments = authenticatedRoute({
  method: 'get',
  path: '/v1/payments',
  summary: 'Payments, newest first',
  description: 'Your payments; those of every merchant for operators. The last page has no `nextCursor`.',
  operationId: 'listPayments',
  tag: 'Payments',
  responses: {
    200: {
      description: 'A page of payments; as CSV with `Accept: text/csv`.',
      headers: ['Link'],
      schema: paymentPageSchema,
      alternative: 'text/csv',
    },
  },
  problems: ['temporarily_unavailable'],
  scopes: READING_SCOPES,
  query: listQuery,
  async handle({ query, caller, preferred, address }, context) {
    const { separator, limit: pageSize, cursor: after, totals: areTotalsWanted } = query;
    const filter = toFilter(query, merchantToList(caller, query.merchant));
    const [{ payments, unreadable, last }, totals] = await Promise.all([
      list(context.book, filter, { pageSize, after, order: 'newest first' }),
      areTotalsWanted ? sumUp(context.book, filter) : undefined,
    ]);
    const nextCursor = last && toCursor(last);
    const headers = {
      Vary: 'Accept',
      ...(nextCursor && { Link: `<${nextPage(address, nextCursor)}>; rel="next"` }),
    };
    if (preferred(['application/json', 'text/csv']) === 'text/csv') {
      const rows = [
        ...payments.map(({ kept, merchant }) => ({ ...toSummary(kept.state), merchant })),
        ...unreadable.map(({ id, merchant }) => ({ id, merchant })),
      ];
      const text = paymentCsv(rows, isOperator(caller), separator);
      return { status: 200, headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' }, text };
    }
    return {
      status: 200,
      headers,
      json: {
        data: payments.map((payment) => summary(context, caller, payment)),
        unreadable: unreadable.map(({ id, merchant }) => viewerOf(context, caller, merchant)({ id })),
        ...(totals && { totals }),
        ...(nextCursor && { nextCursor }),
      },
    };
  },
});

/** A day is a part of the time that the bounds leave. */
function toFilter(query: z.output<typeof listQuery>, merchant: string | undefined): PaymentFilter {
  const { separator: _, limit: __, cursor: ___, totals: ____, day: of, ...wanted } = query;
  const {
    'created[gte]': from = Number.NEGATIVE_INFINITY,
    'created[lt]': before = Number.POSITIVE_INFINITY,
    'amount[gte]': amountFrom,
    'amount[lte]': amountTo,
    ...filter
  } = wanted;
  const createdFrom = Math.max(from, of === undefined ? from : startOf(of));
  const createdBefore = Math.min(before, of === undefined ? before : startOf(dayAfter(of)));
  return {
    ...filter,
    merchant,
    amountFrom,
    amountTo,
    ...(Number.isFinite(createdFrom) && { createdFrom }),
    ...(Number.isFinite(createdBefore) && { createdBefore }),
  };
}

/** The address of a request, with another cursor. */
function nextPage(address: string, nextCursor: string): string {
  const { pathname, searchParams } = new URL(address, 'http://api');
  searchParams.set('cursor', nextCursor);
  return `${pathname}?${searchParams}`;
}
