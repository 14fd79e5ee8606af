import { z } from 'zod';
import { listPayments as list } from '../../engine/list-payments.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import { HELD_FOR } from '../../payments/words/order.js';
import { PAYMENT_STATUSES } from '../../payments/words/payment.js';
import { PAYMENT_KINDS } from '../../payments/words/payment-id.js';
import { REFERENCE } from '../../records/payment-record.js';
import { paymentPageSchema } from '../../schemas/payment.js';
import { recordsUnavailable } from '../api-error.js';
import { cursor, toCursor } from '../cursor.js';
import { limit, merchantName, separator, time, transId } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { identifier } from './order-fields.js';
import { paymentCsv } from './payment-csv.js';
import { merchantToList, viewerOf } from './payment-resource.js';

/**
 * Lists the caller's payments, or every merchant's for operators, from Temporal's index; as CSV if the caller prefers
 * that. The next page is in `nextCursor`, and in the header `Link`.
 */
export const listPayments = authenticatedRoute({
  method: 'get',
  path: '/v1/payments',
  summary: 'Payments, newest first',
  description:
    'Your payments, as the index has them; those of every merchant for operators. The index can lag behind by a moment: read a payment itself before you act on it. `medium`, `revenue`, `fee`, `reason`, `failureCode` and `updatedAt` come from the records: a payment lacks them until it is recorded as it stands, about a minute after its end, and where there are no records. A page can be shorter than `limit` although others follow: the last one has no `nextCursor`.',
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
  problems: ['temporarily_unavailable', 'records_unavailable', 'no_records'],
  scopes: READING_SCOPES,
  query: z.strictObject({
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
    externalId: identifier.optional(),
    userId: identifier.optional(),
    merchant: merchantName.optional().describe('For operators: the payments of one merchant'),
    transId: transId.optional(),
    financialTransId: z
      .string()
      .regex(REFERENCE, "must be a mobile operator's reference")
      .optional()
      .describe(
        "The mobile operator's reference, which a payer's text message has. Only the records know it: a payment is found about a minute after its end",
      ),
    'created[gte]': time
      .optional()
      .describe('Created at or after this time; a day alone begins at midnight in Douala. In curl, use `-g`'),
    'created[lt]': time.optional().describe('Created before this time; a day alone begins at midnight in Douala'),
    limit,
    cursor,
    separator,
  }),
  async handle({ query, caller, preferred, address }, context) {
    const {
      separator,
      limit: pageSize,
      cursor: after,
      'created[gte]': createdFrom,
      'created[lt]': createdBefore,
      merchant,
      ...wanted
    } = query;
    const filter = { ...wanted, merchant: merchantToList(caller, merchant), createdFrom, createdBefore };
    const { payments, unreadable, last, isIncomplete } = await list(context, filter, {
      pageSize,
      after,
      order: 'newest first',
    });
    const nextCursor = last && toCursor(last);
    const headers = {
      Vary: 'Accept',
      ...(nextCursor && { Link: `<${nextPage(address, nextCursor)}>; rel="next"` }),
    };
    if (preferred(['application/json', 'text/csv']) === 'text/csv') {
      // CSV has no room to say so.
      if (isIncomplete) throw recordsUnavailable(INCOMPLETE);
      const rows = [
        ...payments.map(({ payment, merchant }) => ({ ...payment, merchant })),
        ...unreadable.map(({ id, merchant }) => ({ id, merchant })),
      ];
      const text = paymentCsv(rows, isOperator(caller), separator);
      return { status: 200, headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' }, text };
    }
    return {
      status: 200,
      headers,
      json: {
        data: payments.map(({ payment, merchant }) => viewerOf(context, caller, merchant)(payment)),
        unreadable: unreadable.map(({ id, merchant }) => viewerOf(context, caller, merchant)({ id })),
        ...(nextCursor && { nextCursor }),
        ...(isIncomplete && { incomplete: true as const }),
      },
    };
  },
});

const INCOMPLETE =
  "Payments of long ago would be missing, because the records can't be read at the moment. Try again shortly, or ask for JSON, which says so.";

/** The address of a request, with another cursor. */
function nextPage(address: string, nextCursor: string): string {
  const { pathname, searchParams } = new URL(address, 'http://api');
  searchParams.set('cursor', nextCursor);
  return `${pathname}?${searchParams}`;
}
