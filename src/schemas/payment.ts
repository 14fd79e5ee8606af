import { z } from 'zod';
import { CURRENCY } from '../payments/words/limits.js';
import { HELD_FOR } from '../payments/words/order.js';
import {
  FAILURE_CODES,
  PAYMENT_STATUSES,
  type Payment,
  type PaymentHold,
  type PaymentSummary,
} from '../payments/words/payment.js';
import { PAYMENT_KINDS } from '../payments/words/payment-id.js';
import { MEDIUMS } from '../payments/words/transaction.js';
import { described, schemaOf, time, type Wire, xaf } from './fields.js';
import { resolutionSchema, reviewSchema } from './review.js';

export const paymentId = described(
  z.string().meta({ examples: ['col_2775d55233b9d4be2a8db3491967ed92'] }),
  "The payment's id. It begins with `col_` for a collection and with `pay_` for a payout",
);

/** A payment as the API returns it. */
export interface PaymentResource extends Payment {
  /** The merchant that the payment belongs to. */
  readonly merchant?: string | undefined;
  /** The address of its workflow in Temporal's Web UI. */
  readonly temporalUrl?: string | undefined;
  /** Of a collection that was paid, the sums of its refunds, in XAF. */
  readonly refunded?: number | undefined;
  readonly refunding?: number | undefined;
  readonly refundable?: number | undefined;
}

export const examplePayment = {
  id: 'col_2775d55233b9d4be2a8db3491967ed92',
  object: 'payment',
  kind: 'collection',
  method: 'link',
  status: 'CREATED',
  final: false,
  amount: 5_000,
  currency: CURRENCY,
  link: 'https://pay.example/ntLE9hHMsiKRMFBw',
  transId: 'ntLE9hHMsiKRMFBw',
  externalId: 'order-1001',
  metadata: {},
  createdAt: '2026-11-21T08:20:32.843Z',
  updatedAt: '2026-11-21T08:20:32.870Z',
  expiresAt: '2026-11-22T08:20:32.870Z',
} as const satisfies Wire<PaymentResource>;

const heldSchema = schemaOf<PaymentHold>()({
  for: described(
    z.array(z.enum(HELD_FOR)).readonly(),
    'What it still waits for: `approval`, by another person than the one who ordered it, or its `date`',
  ),
  since: time,
  until: described(time, 'The end of the time for the approval, or else the date'),
  sendAt: described(time.optional(), 'Its date, if the order has one'),
  name: described(z.string().optional(), "The recipient's name, as you sent it"),
  email: described(z.string().optional(), "The recipient's e-mail address, with most of it hidden"),
  approvals: z.array(z.object({ by: described(z.string(), 'Who has approved it'), at: time })).readonly(),
  digest: described(z.string(), 'The digest of amount, recipient and name. An approval has to repeat it'),
}).meta({
  id: 'Hold',
  description: 'A payout that was not sent yet. It is sent when nothing is left that it waits for',
});

const SUMS =
  'in one payment read by its id, of a collection that is `SUCCESSFUL` (or in `REVIEW`, if it has refunds); missing while it is not known';
const refundSums = {
  refunded: xaf(`The sum of the refunds that have arrived; ${SUMS}`).optional(),
  refunding: xaf(`The sum of the refunds that were sent, may have been, or are to be; ${SUMS}`).optional(),
  refundable: xaf(`What can still be refunded: 0 when the rest is less than 100 XAF; ${SUMS}`).optional(),
};

export const paymentSchema = schemaOf<PaymentResource>()({
  id: paymentId,
  object: z.literal('payment'),
  kind: z.enum(PAYMENT_KINDS),
  method: described(z.enum(['link', 'direct']).optional(), 'The way that a collection reaches the payer'),
  status: described(
    z.enum(PAYMENT_STATUSES),
    [
      '- `CREATED`: the provider has not confirmed the payment yet, or nobody has tried to pay it',
      '- `PENDING`: the payment is in progress',
      '- `SUCCESSFUL`: the money has moved',
      '- `FAILED`: no money has moved. The payer of a link can try again: rely on `final`',
      '- `EXPIRED`: the link ended without being paid',
      '- `REVIEW`: the outcome is not known, or is in doubt: an operator has to look into it. The money may have moved',
    ].join('\n'),
  ),
  final: described(
    z.boolean(),
    '`true` when the outcome is certain. Do not pay by other means while it is `false`. It becomes `false` again if an outcome is called into question; the status is then `REVIEW`',
  ),
  amount: xaf('The amount that you ordered'),
  amountPaid: described(
    z.int().optional(),
    'The amount that moved, in XAF, once the payment is `SUCCESSFUL` and the provider has given it. It differs from `amount` when an operator has matched a transaction of another amount: compare the two before you deliver',
  ),
  currency: z.literal(CURRENCY),
  link: described(
    z.string().meta({ format: 'uri' }).optional(),
    'The page where the payer pays; collections by link only',
  ),
  transId: described(z.string().optional(), "The provider's transaction, once it is known"),
  medium: described(z.enum(MEDIUMS).optional(), 'The medium that moves the money, once the provider has given it'),
  phone: described(z.string().optional(), 'The last three digits of the phone number: `•••• 205`'),
  revenue: xaf("The amount after the provider's fees, once the provider has given it").optional(),
  fee: xaf("The provider's fees: the amount that moved, less `revenue`").optional(),
  reason: described(z.string().optional(), 'Why the payment failed or is in REVIEW, in words for people'),
  failureCode: described(
    z.enum(FAILURE_CODES).optional(),
    "Why the payment is FAILED (a link's failed attempt included) or EXPIRED. Stable: let programs act on it",
  ),
  financialTransId: described(z.string().optional(), "The mobile operator's reference"),
  held: heldSchema.optional(),
  review: reviewSchema.optional(),
  resolution: resolutionSchema.optional(),
  refundOf: described(z.string().optional(), 'The collection that the payout refunds'),
  refundReason: described(z.string().optional(), 'The reason for the refund, as you sent it'),
  refundTo: described(z.string().optional(), "The last three digits of the number that a link's refunds go to"),
  ...refundSums,
  externalId: described(z.string().optional(), 'Your own identifier, as you sent it'),
  userId: described(z.string().optional(), 'Your own identifier of the customer, as you sent it'),
  orderedBy: described(z.string().optional(), 'The person whose key ordered it; payouts only'),
  message: described(z.string().optional(), 'As you sent it'),
  redirectUrl: described(
    z.string().meta({ format: 'uri' }).optional(),
    'The address that the payer of a link returns to, as you sent it',
  ),
  metadata: described(z.record(z.string(), z.string()), 'Your own data, as you sent it'),
  createdAt: time,
  updatedAt: described(time, 'The time of the last change of the payment'),
  expiresAt: described(time.optional(), 'The time when the link ends; collections by link only'),
  merchant: described(z.string().optional(), 'For operators: whose payment it is'),
  temporalUrl: described(
    z.string().meta({ format: 'uri' }).optional(),
    "For operators: the payment's workflow in Temporal's Web UI",
  ),
}).meta({ id: 'Payment', description: 'A payment as it is now', examples: [examplePayment] });

/** A payment as lists return it. */
type SummaryResource = PaymentSummary & Pick<PaymentResource, 'merchant' | 'temporalUrl'>;

const summaryFields = paymentSchema.shape;
const summarySchema = schemaOf<SummaryResource>()({
  id: summaryFields.id,
  object: summaryFields.object,
  kind: summaryFields.kind,
  method: summaryFields.method,
  status: summaryFields.status,
  final: summaryFields.final,
  amount: summaryFields.amount,
  amountPaid: summaryFields.amountPaid,
  currency: summaryFields.currency,
  transId: summaryFields.transId,
  medium: summaryFields.medium,
  revenue: summaryFields.revenue,
  fee: summaryFields.fee,
  reason: summaryFields.reason,
  failureCode: summaryFields.failureCode,
  externalId: summaryFields.externalId,
  refundOf: summaryFields.refundOf,
  userId: summaryFields.userId,
  metadata: summaryFields.metadata,
  createdAt: summaryFields.createdAt,
  updatedAt: summaryFields.updatedAt,
  merchant: summaryFields.merchant,
  temporalUrl: summaryFields.temporalUrl,
}).meta({ id: 'PaymentSummary', description: 'A payment in a list' });

/** A payment of a list that can't be read at the moment. */
const unreadableSchema = z
  .object({
    id: paymentId,
    merchant: paymentSchema.shape.merchant,
    temporalUrl: z.string().meta({ format: 'uri' }).optional(),
  })
  .meta({ id: 'UnreadablePayment', description: "A payment that exists, but can't be read at the moment" });

export const paymentPageSchema = z
  .object({
    data: described(z.array(summarySchema), 'Newest first'),
    unreadable: described(
      z.array(unreadableSchema),
      "The payments of this page that can't be read at the moment. They may or may not have the `status` asked for",
    ),
    nextCursor: described(z.string().optional(), 'Pass it as `cursor` for the next page; the last page has none'),
    totals: described(
      z
        .object({
          count: z.int(),
          amount: xaf('What was ordered'),
          amountPaid: xaf('What has moved of the SUCCESSFUL ones'),
        })
        .optional(),
      'Of all payments that are selected, on all pages, if `totals` asks for them',
    ),
  })
  .meta({ id: 'PaymentPage' });

export const reviewPageSchema = paymentPageSchema
  .omit({ totals: true })
  .extend({
    data: described(z.array(summarySchema), 'Oldest first, over all pages'),
    unreadable: described(
      z.array(unreadableSchema),
      "The payments of this page that can't be read at the moment. They may or may not be in REVIEW",
    ),
    total: described(z.int(), 'The number of payments in REVIEW, on all pages'),
    totalAmount: xaf('The sum of their orders, on all pages'),
  })
  .meta({ id: 'ReviewPage' });
