import { z } from 'zod';
import { type FieldError, PROBLEMS, type ProblemCode } from '../http/problem.js';
import { SCOPES } from '../merchants.js';
import { OBJECTIONS } from '../payments/words/decision.js';
import { CURRENCY } from '../payments/words/limits.js';
import { SERVICES } from '../payments/words/order.js';
import {
  FAILURE_CODES,
  PAYMENT_EVENT_TYPES,
  PAYMENT_STATUSES,
  type Payment,
  type PaymentResolution,
  type PaymentReview,
  type PaymentSummary,
  type ProposedDecision,
  type RejectedDecision,
} from '../payments/words/payment.js';
import { PAYMENT_KINDS } from '../payments/words/payment-id.js';
import { TIME_ZONE } from '../payments/words/time.js';
import { MEDIUMS, PROVIDER_STATUSES, type Transaction } from '../payments/words/transaction.js';
import { DIFFERENCE_KINDS, type StatementLine } from '../reconciliation/reconciliation.js';
import {
  type BalanceChange,
  type Coverage,
  type Difference,
  HANDLINGS,
  type MidnightBalance,
  type ServiceStatement,
  type Statement,
  type Sum,
  type Totals,
} from '../reconciliation/statement.js';
import type { UnmatchedNotification } from '../workflows/messages.js';

/**
 * What the API responds with, as schemas. The OpenAPI document shows them, the compiler compares them with the types of
 * the payments and with what handlers return, and tests check every response against them. Production doesn't: nothing
 * is gained by withholding a response.
 */

/** A type as it is on the wire: an id is a string. */
type Wire<T> = T extends { readonly __brand: string }
  ? string
  : T extends object
    ? { [Key in keyof T]: Wire<T[Key]> }
    : T;

/** One schema for each field of a type, optional ones too. */
type FieldSchemas<T> = { readonly [Key in keyof T]-?: z.ZodType<Wire<T[Key]>> };

/** Those of the schemas that accept all that the field can be; `never` for others, and for what isn't a field. */
type Complete<T, Schemas> = {
  [Key in keyof Schemas]: Key extends keyof T
    ? Wire<T[Key]> extends z.output<Schemas[Key]>
      ? Schemas[Key]
      : never
    : never;
};

/**
 * The schema of a type. A field that the type has and the schema hasn't doesn't compile, nor does the reverse, nor a
 * schema that accepts less or more than the field can be.
 *
 * @example schemaOf<PaymentReview>()({ number: z.int(), since: time, decideFrom: time })
 */
function schemaOf<T extends object>() {
  return <Schemas extends FieldSchemas<T>>(fields: Schemas & Complete<T, Schemas>) => z.object(fields as Schemas);
}

const time = z.string().meta({ format: 'date-time' });
const described = <Schema extends z.ZodType>(schema: Schema, description: string) => schema.meta({ description });
const xaf = (description: string) => described(z.int(), `${description}, in XAF`);

const paymentId = described(
  z.string().meta({ examples: ['col_2775d55233b9d4be2a8db3491967ed92'] }),
  "The payment's id. It begins with `col_` for a collection and with `pay_` for a payout",
);

const OVERRULED = 'The objections that the operator overruled; without it, `forced` is for whatever came up';
const objectionsSchema = z.array(z.enum(OBJECTIONS)).readonly();

/** What a decision overrules. */
export const forceSchema = z
  .union([z.boolean(), objectionsSchema], {
    error: `must be a list of ${OBJECTIONS.join(', ')}; or true, which overrules whatever comes up`,
  })
  .meta({
    id: 'Force',
    description: 'The objections that a decision overrules; `true`: all, also those that you have not read',
  });

const proposedSchema = schemaOf<ProposedDecision>()({
  action: z.enum(['resend', 'fail', 'match']),
  transId: described(z.string().optional(), 'The transaction that the payment is to be matched with'),
  transactionAmount: xaf('What that transaction is of, where it differs from the order').optional(),
  by: described(z.string(), "The operator's name: the second person has another"),
  why: z.string(),
  forced: described(
    z.literal(true).optional(),
    'The operator overrules an objection, or decided before `decideFrom`. The second person has to, too',
  ),
  overruled: described(objectionsSchema.optional(), OVERRULED),
  at: time,
}).meta({ id: 'ProposedDecision', description: 'What one person has decided. Nothing has been done' });

const rejectedSchema = schemaOf<RejectedDecision>()({
  action: z.enum(['resend', 'fail', 'match']),
  transId: described(z.string().optional(), 'The transaction that the payment was to be matched with'),
  proposedBy: described(z.string(), 'The operator who had decided so'),
  by: described(z.string(), 'Who rejected it; the same operator, if it was withdrawn'),
  why: z.string(),
  at: time,
}).meta({ id: 'RejectedDecision', description: 'A decision that was rejected or withdrawn' });

const reviewSchema = schemaOf<PaymentReview>()({
  number: described(
    z.int(),
    'Grows with every new finding, and with every decision that is proposed or rejected; a decision has to name it',
  ),
  since: described(time, 'Since when an operator has been needed'),
  decideFrom: described(
    time,
    "The earliest time at which an operator can decide without `force` that no money has moved: until then, the provider's records may be incomplete",
  ),
  secondPerson: described(
    z.literal(true).optional(),
    "A decision takes two people: the payout is above its merchant's limit",
  ),
  proposed: described(proposedSchema.optional(), 'For operators: the decision that waits for a second person'),
  rejected: described(
    rejectedSchema.optional(),
    'For operators: the latest decision that was rejected or withdrawn, unless there has been another since',
  ),
}).meta({ id: 'PaymentReview', description: 'The review that the payment is under' });

const resolutionSchema = schemaOf<PaymentResolution>()({
  action: z.enum(['resend', 'fail', 'match']),
  transId: described(z.string().optional(), 'The transaction that the payment was matched with'),
  review: described(z.int(), 'The number of the review that was decided on'),
  by: described(z.string(), "The operator's name"),
  why: z.string(),
  forced: described(z.literal(true).optional(), 'The operator overruled an objection, or decided before `decideFrom`'),
  overruled: described(objectionsSchema.optional(), OVERRULED),
  at: time,
  revocable: described(z.literal(true).optional(), 'A `resend` that waits to be sent: `reject` takes it back'),
  approval: described(
    z
      .object({
        by: described(z.string(), "The second operator's name"),
        why: z.string(),
      })
      .optional(),
    'The second person, where the decision took two',
  ),
}).meta({ id: 'PaymentResolution', description: "The operator's decision that ended the last review" });

/** A payment as the API returns it. */
export interface PaymentResource extends Payment {
  /** Whose it is. */
  readonly merchant?: string | undefined;
  /** The address of its workflow in Temporal's Web UI. */
  readonly temporalUrl?: string | undefined;
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

export const paymentSchema = schemaOf<PaymentResource>()({
  id: paymentId,
  object: z.literal('payment'),
  kind: z.enum(PAYMENT_KINDS),
  method: described(z.enum(['link', 'direct']).optional(), 'How a collection reaches the payer'),
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
    'Whether the outcome is certain. Do not pay by other means while it is `false`. It becomes `false` again if an outcome is called into question; the status is then `REVIEW`',
  ),
  amount: xaf('What you ordered'),
  amountPaid: xaf(
    'What has moved, once the payment is `SUCCESSFUL` and the provider has said how much. It differs from `amount` where an operator has matched a transaction of another amount: compare the two before you deliver',
  ).optional(),
  currency: z.literal(CURRENCY),
  link: described(
    z.string().meta({ format: 'uri' }).optional(),
    'The page where the payer pays; collections by link only',
  ),
  transId: described(z.string().optional(), "The provider's transaction, once it is known"),
  medium: described(z.enum(MEDIUMS).optional(), 'How the money moves, once the provider has said so'),
  phone: described(z.string().optional(), 'The last three digits of the phone number: `•••• 205`'),
  revenue: xaf("What is left after the provider's fees, once the provider has said so").optional(),
  fee: xaf("The provider's fees: what has moved less `revenue`").optional(),
  reason: described(z.string().optional(), 'Why the payment failed or is in REVIEW, in words for people'),
  failureCode: described(
    z.enum(FAILURE_CODES).optional(),
    "Why the payment is FAILED (a link's failed attempt included) or EXPIRED. Stable: let programs act on it",
  ),
  financialTransId: described(z.string().optional(), "The mobile operator's reference"),
  review: reviewSchema.optional(),
  resolution: resolutionSchema.optional(),
  externalId: described(z.string().optional(), 'Your own identifier, as you sent it'),
  userId: described(z.string().optional(), 'Your own identifier of the customer, as you sent it'),
  message: described(z.string().optional(), 'As you sent it'),
  redirectUrl: described(
    z.string().meta({ format: 'uri' }).optional(),
    'Where the payer of a link is sent afterwards, as you sent it',
  ),
  metadata: described(z.record(z.string(), z.string()), 'Your own data, as you sent it'),
  createdAt: time,
  updatedAt: described(time, 'When the payment last changed'),
  expiresAt: described(time.optional(), 'When the link ends; collections by link only'),
  merchant: described(z.string().optional(), 'For operators: whose payment it is'),
  temporalUrl: described(
    z.string().meta({ format: 'uri' }).optional(),
    "For operators: the payment's workflow in Temporal's Web UI",
  ),
}).meta({ id: 'Payment', description: 'A payment as it is now', examples: [examplePayment] });

/** A payment as lists return it. */
type SummaryResource = PaymentSummary & Pick<PaymentResource, 'merchant' | 'temporalUrl'>;

const RECORDED =
  'missing until the payment is recorded as it stands, about a minute after its end, and where there are no records';
const recorded = <Schema extends z.ZodType>(schema: Schema) =>
  schema.meta({ description: `${schema.description}; ${RECORDED}` });

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
  medium: recorded(summaryFields.medium),
  revenue: recorded(summaryFields.revenue),
  fee: recorded(summaryFields.fee),
  reason: recorded(summaryFields.reason),
  failureCode: recorded(summaryFields.failureCode),
  externalId: summaryFields.externalId,
  userId: summaryFields.userId,
  metadata: summaryFields.metadata,
  createdAt: summaryFields.createdAt,
  updatedAt: recorded(summaryFields.updatedAt.optional()),
  merchant: summaryFields.merchant,
  temporalUrl: summaryFields.temporalUrl,
}).meta({ id: 'PaymentSummary', description: 'What a list shows of a payment' });

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
    incomplete: described(
      z.literal(true).optional(),
      "The records can't be read at the moment: payments that ended long ago may be missing",
    ),
  })
  .meta({ id: 'PaymentPage' });

export const reviewPageSchema = paymentPageSchema
  .extend({
    data: described(z.array(summarySchema), 'Oldest first, over all pages'),
    unreadable: described(
      z.array(unreadableSchema),
      "The payments of this page that can't be read at the moment. They may or may not be in REVIEW",
    ),
    total: described(
      z.int(),
      'How many payments Temporal has in REVIEW, on all pages; one whose workflow was reset may count twice',
    ),
  })
  .meta({ id: 'ReviewPage' });

/** One shape for all of them: a generated client can't read a variant that it doesn't know. */
const deliverySchema = z
  .object({
    status: described(
      z.enum(['due', 'delivered', 'no_address', 'abandoned']),
      [
        '- `due`: the next attempt is not before `at`',
        '- `delivered`: you acknowledged it at `at`',
        '- `no_address`: no webhook address was set when it was to be sent, at `at`',
        "- `abandoned`: Sanaga gave up at `at`, after 72 hours, or because the payment's workflow was stopped",
      ].join('\n'),
    ),
    at: time,
    tries: described(z.int().optional(), 'Attempts that have failed, while it is due'),
    lastTriedAt: described(time.optional(), 'When the last attempt was made, unless it was delivered'),
    lastError: described(z.string().optional(), 'Why the last attempt failed, unless it was delivered'),
  })
  .meta({ id: 'Delivery', description: 'How far the delivery has come' });
export type DeliveryResource = z.output<typeof deliverySchema>;

const notificationSchema = z
  .object({
    number: described(z.int(), "1 for the payment's first notification"),
    id: described(z.string(), 'The `webhook-id`: the same for every attempt'),
    type: z.enum(PAYMENT_EVENT_TYPES),
    at: described(time, 'When the event occurred'),
    delivery: deliverySchema,
  })
  .meta({ id: 'Notification' });

export const notificationListSchema = z.object({ data: z.array(notificationSchema) }).meta({
  id: 'NotificationList',
  description: "A payment's notifications, oldest first. At least the latest 50 are kept",
  examples: [
    {
      data: [
        {
          number: 1,
          id: 'evt_col_2775d55233b9d4be2a8db3491967ed92_succeeded_1',
          type: 'payment.succeeded',
          at: '2026-11-21T08:20:34.191Z',
          delivery: { status: 'delivered', at: '2026-11-21T08:20:34.402Z' },
        },
      ],
    },
  ],
});

const eventSchema = z
  .object({
    at: described(time, 'When it happened, for the first time if several times'),
    lastAt: described(time.optional(), 'When it happened for the last time'),
    count: described(z.int().optional(), 'How often it happened, unless once'),
    type: z.enum([
      'created',
      'sending',
      'accepted',
      'rejected',
      'send_failed',
      'unanswered',
      'looked_up',
      'asked',
      'provider_notification',
      'expiring',
      'expiry_answered',
      'refresh_requested',
      'recheck_requested',
      'review_opened',
      'decision_proposed',
      'decision_rejected',
      'decided',
      'status_changed',
      'merchant_notification',
      'notification_requested',
      'omitted',
      'stopped',
    ]),
    source: described(
      z.enum(['merchant', 'provider', 'timer', 'operator', 'system', 'notification', 'temporal']),
      "Whose word or doing it was. `notification`: it came in the provider's name, and proves nothing. `temporal`: somebody asked for it with Temporal's own tools",
    ),
    summary: described(z.string(), 'What happened, for people'),
    status: described(z.enum(PAYMENT_STATUSES).optional(), "The payment's status from then on"),
    final: z.literal(true).optional(),
    amountPaid: xaf("What has moved, where that isn't what was ordered").optional(),
    reason: z.string().optional(),
    failureCode: z.enum(FAILURE_CODES).optional(),
    transId: z.string().optional(),
    by: described(
      z.string().optional(),
      "Who decided or asked for it, by the name of the key; on a merchant's timeline, an operator is named for a decision alone. Of `sending`: `policy` or `operator`, if it is sent once more. Of a check, `statement`",
    ),
    approvedBy: described(z.string().optional(), 'The second operator, where the decision took two'),
    proposedBy: described(z.string().optional(), 'The operator whose decision was rejected'),
    cause: z.enum(['credentials', 'throttled', 'connection', 'unchecked']).optional(),
    answer: described(z.string().optional(), "The provider's answer"),
    transactions: z
      .array(z.object({ transId: z.string(), status: z.enum(PROVIDER_STATUSES) }))
      .readonly()
      .optional(),
    other: described(z.literal(true).optional(), "It is about a transaction that isn't the payment's, so far"),
    providerStatus: z.enum(PROVIDER_STATUSES).optional(),
    review: z.int().optional(),
    action: z.enum(['resend', 'fail', 'match']).optional(),
    forced: z.literal(true).optional(),
    number: described(z.int().optional(), "The notification's number"),
    event: z.enum(PAYMENT_EVENT_TYPES).optional(),
    delivery: z.enum(['delivered', 'failed', 'abandoned', 'no_address']).optional(),
    entries: described(z.int().optional(), 'How many entries are left out here'),
  })
  .meta({ id: 'TimelineEntry' });
export type TimelineResource = z.output<typeof eventSchema>;

export const timelineSchema = z
  .object({ data: z.array(eventSchema) })
  .meta({ id: 'Timeline', description: 'What has happened to a payment, oldest first' });

/** The body of a notification to the merchant. */
export const paymentEventSchema = (type: (typeof PAYMENT_EVENT_TYPES)[number]) =>
  z.object({
    type: z.literal(type),
    timestamp: described(time, 'When the event occurred'),
    merchant: described(z.string().optional(), 'Your own name'),
    data: described(paymentSchema, 'The payment at the time of sending, which can be ahead of `type`: act on it'),
  });

const feedEventSchema = z
  .object({
    id: described(z.string(), 'The `webhook-id` of the notification: the same here and there'),
    type: z.enum(PAYMENT_EVENT_TYPES),
    timestamp: described(time, 'When the event occurred'),
    merchant: described(z.string().optional(), 'For operators: whose it is'),
    paymentId,
    data: described(
      paymentSchema.optional(),
      "The payment as it was recorded last, which can be ahead of `type`: act on it. Missing when its record can't be read",
    ),
  })
  .meta({ id: 'Event', description: 'Something that you were to be notified of' });

export const eventPageSchema = z
  .object({
    data: described(z.array(feedEventSchema), 'In the order in which they were recorded'),
    hasMore: described(z.boolean(), 'Whether further events are recorded already'),
    nextCursor: described(
      z.string(),
      'Pass it as `cursor` for what comes after this page, now or whenever you ask again',
    ),
    completeUntil: described(
      time.optional(),
      'All events of payments that ended before this are in the feed. Missing as long as nothing was recorded',
    ),
  })
  .meta({
    id: 'EventPage',
    examples: [
      {
        data: [
          {
            id: 'evt_col_2775d55233b9d4be2a8db3491967ed92_succeeded_1',
            type: 'payment.succeeded',
            timestamp: '2026-11-21T08:20:34.191Z',
            paymentId: 'col_2775d55233b9d4be2a8db3491967ed92',
            data: { ...examplePayment, status: 'SUCCESSFUL', final: true },
          },
        ],
        hasMore: false,
        nextCursor: 'MTcx',
        completeUntil: '2026-11-21T08:20:30.000Z',
      },
    ],
  });

const unmatchedSchema = schemaOf<UnmatchedNotification>()({
  transId: z.string().optional(),
  status: z.enum(PROVIDER_STATUSES).optional(),
  externalId: z.string().optional(),
  at: described(time, 'When it was received, or found'),
  unread: described(z.string().optional(), "The beginning of one that can't be read, as it came"),
  statement: described(
    z.string().optional(),
    "The day whose statement has found it: it wasn't notified of, but shown by the provider",
  ),
}).meta({ id: 'UnmatchedNotification' });

export const unmatchedListSchema = z
  .object({ data: described(z.array(unmatchedSchema), 'Newest first') })
  .meta({ id: 'UnmatchedNotificationList' });

export const keySchema = z
  .object({
    object: z.literal('key'),
    name: described(z.string(), "The key's owner: a merchant or an operator"),
    scopes: described(z.array(z.enum(SCOPES)), 'What it allows'),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret' });

const unacknowledgedSchema = z
  .object({
    payment: z.object({
      id: paymentId,
      merchant: z.string(),
      kind: paymentSchema.shape.kind,
      status: z.enum(PAYMENT_STATUSES),
      amount: paymentSchema.shape.amount,
      amountPaid: paymentSchema.shape.amountPaid,
      currency: paymentSchema.shape.currency,
    }),
    notification: notificationSchema,
  })
  .meta({
    id: 'UnacknowledgedNotification',
    description: 'A notification that a merchant has not acknowledged',
  });

export const unacknowledgedListSchema = z
  .object({
    data: described(
      z.array(unacknowledgedSchema),
      'Those of the payment that was created first at the beginning, over all pages',
    ),
    total: described(z.int(), 'How many payments may have one, on all pages'),
    checked: described(z.int(), 'How many of them were asked for this page'),
    unread: described(z.int(), 'How many of those could not answer in time'),
    nextCursor: described(
      z.string().optional(),
      'Pass it as `cursor` to ask more payments that may have one; the last page has none',
    ),
  })
  .meta({ id: 'UnacknowledgedNotificationList' });

const noAnswerFields = {
  asOf: described(time, 'When the provider was asked'),
  message: described(z.string().optional(), "Why there is no answer, or the provider's own words"),
};

const recordSchema = schemaOf<Transaction>()({
  transId: z.string(),
  status: z.enum(PROVIDER_STATUSES),
  transType: z.enum(['Collection', 'Payout']).optional(),
  amount: xaf('What the provider says that the amount is').optional(),
  medium: z.enum(MEDIUMS).optional(),
  revenue: xaf("The amount less the provider's fees").optional(),
  reason: z.string().optional(),
  financialTransId: z.string().optional(),
  externalId: described(z.string().optional(), 'The payment that it was made for'),
  userId: z.string().optional(),
}).meta({ id: 'ProviderTransaction', description: "A transaction in the provider's records" });

/** What the provider answers, in a word; all but `listed` and `found` mean that nothing is known. */
const NO_RECORD = ['refused', 'credentials_refused', 'throttled', 'unavailable'] as const;

export const providerRecordsSchema = z
  .object({
    object: z.literal('provider_records'),
    list: z
      .object({
        answer: described(
          z.enum(['listed', ...NO_RECORD]),
          'Whether the provider gave its list. With any other answer than `listed`, nothing is known',
        ),
        transactions: described(
          z.array(recordSchema),
          "What the provider lists under the payment's id. It may list a transaction late",
        ),
        ...noAnswerFields,
      })
      .meta({ id: 'ProviderList' }),
    status: z
      .object({
        answer: described(
          z.enum(['found', 'unknown', ...NO_RECORD]),
          '`unknown`: the provider says that it has no such transaction. With any other answer than `found` or `unknown`, nothing is known',
        ),
        transId: z.string(),
        transaction: recordSchema.optional(),
        ...noAnswerFields,
      })
      .meta({ id: 'ProviderStatus', description: "The payment's own transaction, as old as `asOf` says" })
      .optional(),
  })
  .meta({ id: 'ProviderRecords', description: 'What the provider shows of a payment' });
export type ProviderRecordsResource = z.output<typeof providerRecordsSchema>;

export const balanceSchema = z
  .object({
    object: z.literal('balance'),
    service: z.enum(SERVICES),
    serviceName: described(z.string(), "The service's name at the provider"),
    balance: described(z.int(), 'In `currency`'),
    currency: z.string(),
    asOf: described(time, 'When the provider was asked'),
  })
  .meta({
    id: 'Balance',
    examples: [
      {
        object: 'balance',
        service: 'payout',
        serviceName: 'Shop payouts',
        balance: 8_850_786,
        currency: 'XAF',
        asOf: '2026-11-21T08:20:32.843Z',
      },
    ],
  });

const statementSummaryFields = {
  date: described(z.string().meta({ format: 'date' }), 'The day in Douala'),
  version: described(z.int(), 'Grows each time that the statement of the day is made'),
  madeAt: time,
  complete: described(
    z.boolean(),
    'Whether the provider has answered everything that had to be asked, and could show all of it',
  ),
};

export const statementListSchema = z
  .object({
    data: described(
      z.array(
        z
          .object({
            ...statementSummaryFields,
            payments: described(z.int().optional(), 'For operators: how many payments it has'),
            differences: described(z.int().optional(), 'For operators: how many differences it has'),
          })
          .meta({ id: 'StatementSummary' }),
      ),
      'The newest day first',
    ),
    hasMore: described(z.boolean(), 'Whether there are earlier ones'),
  })
  .meta({
    id: 'StatementList',
    examples: [
      {
        data: [
          {
            date: '2026-11-21',
            version: 1,
            madeAt: '2026-11-22T02:00:07.312Z',
            complete: true,
            payments: 214,
            differences: 1,
          },
        ],
        hasMore: false,
      },
    ],
  });

const sumSchema = schemaOf<Sum>()({
  count: z.int(),
  amount: xaf('The sum of their amounts: of SUCCESSFUL payments, of what has moved'),
}).meta({
  id: 'Sum',
});

const totalsSchema = schemaOf<Totals>()({
  payments: described(z.int(), 'How many there are'),
  byStatus: z.object({
    CREATED: sumSchema,
    PENDING: sumSchema,
    SUCCESSFUL: sumSchema,
    FAILED: sumSchema,
    EXPIRED: sumSchema,
    REVIEW: sumSchema,
  }),
  revenue: xaf('What the provider left of SUCCESSFUL payments whose fee is known'),
  fees: xaf('The fees of these'),
  withoutFee: described(z.int(), "SUCCESSFUL payments whose fee the provider didn't tell"),
}).meta({ id: 'StatementTotals' });

const midnightBalanceSchema = schemaOf<MidnightBalance>()({
  balance: xaf('What the provider said'),
  asOf: described(time, 'When it was asked, within minutes of midnight in Douala'),
}).meta({ id: 'MidnightBalance' });

const serviceStatementSchema = schemaOf<ServiceStatement>()({
  totals: totalsSchema,
  opening: midnightBalanceSchema
    .optional()
    .describe('For operators: the balance at the beginning of the day. Missing when nobody could ask for it then'),
  closing: midnightBalanceSchema.optional().describe('For operators: the same at its end'),
  change: schemaOf<BalanceChange>()({
    balance: xaf('The closing balance less the opening one'),
    payments: xaf("What the day's SUCCESSFUL payments come to: positive for collections, negative for payouts"),
    rest: xaf(
      "What is left of the first without the second: other days' payments, withdrawals, fees that aren't known, and what only the provider knows",
    ),
  })
    .meta({ id: 'BalanceChange' })
    .optional(),
  coverage: schemaOf<Coverage>()({
    complete: z.boolean(),
    gaps: described(
      z.array(z.string()).readonly(),
      "For operators: what the provider's search could not show, in words",
    ),
    notCompared: described(
      z.int(),
      'Payments of which nothing was seen: the provider gave no answer about them, or there were too many to ask for one by one',
    ),
    cutOff: described(z.boolean(), 'Whether there are more payments than a statement takes'),
  }).meta({ id: 'StatementCoverage' }),
}).meta({ id: 'ServiceStatement' });

const statementLineSchema = schemaOf<StatementLine>()({
  id: paymentId,
  merchant: z.string(),
  kind: paymentSchema.shape.kind,
  status: described(z.enum(PAYMENT_STATUSES), 'When the statement was made'),
  final: z.boolean(),
  amount: paymentSchema.shape.amount,
  amountPaid: paymentSchema.shape.amountPaid,
  revenue: xaf('What the provider left of it').optional(),
  fee: xaf('What has moved less `revenue`; missing when the provider did not tell it').optional(),
  transId: z.string().optional(),
  financialTransId: z.string().optional(),
  medium: z.enum(MEDIUMS).optional(),
  externalId: z.string().optional(),
  createdAt: time,
  providerStatus: z.enum(PROVIDER_STATUSES).optional(),
  providerAmount: xaf('As the provider shows it').optional(),
  compared: described(z.boolean(), 'Whether the provider has said what it has of it'),
}).meta({ id: 'StatementLine', description: 'A payment. Its payer is not named' });

const differenceSchema = schemaOf<Difference>()({
  kind: z.enum(DIFFERENCE_KINDS),
  service: paymentSchema.shape.kind,
  paymentId: z.string().optional(),
  merchant: z.string().optional(),
  transId: z.string().optional(),
  status: described(z.enum(PAYMENT_STATUSES).optional(), 'As the payment had it'),
  amount: xaf('As the payment has it: what was ordered, or has moved').optional(),
  providerStatus: described(z.enum(PROVIDER_STATUSES).optional(), 'As the provider shows it'),
  providerAmount: xaf('As the provider shows it').optional(),
  externalId: described(z.string().optional(), 'What a transaction that no payment knows was made for'),
  text: described(z.string(), 'The same in words'),
  handling: described(
    z.enum(HANDLINGS),
    "What was done: the payment was compared with the provider's records again (`checked`, with `statusAfter`) or couldn't be (`not_checked`, with `problem`), a person has to decide it (`under_review`), or a transaction is among the unmatched notifications (`unmatched`) or stands here alone (`noted`)",
  ),
  statusAfter: z.enum(PAYMENT_STATUSES).optional(),
  problem: z.string().optional(),
}).meta({ id: 'StatementDifference' });

export const statementSchema = schemaOf<Statement & { readonly object: 'statement' }>()({
  object: z.literal('statement'),
  ...statementSummaryFields,
  timeZone: z.literal(TIME_ZONE),
  from: described(time, 'When the day began'),
  to: described(time, 'When it ended'),
  services: z.object({ collection: serviceStatementSchema, payout: serviceStatementSchema }),
  payments: described(z.array(statementLineSchema).readonly(), 'In the order of their creation'),
  differences: z.array(differenceSchema).readonly(),
}).meta({ id: 'Statement', description: 'The statement of a day' });

export const statementRequestSchema = z
  .object({
    object: z.literal('statement_request'),
    date: z.string().meta({ format: 'date' }),
    version: described(z.int(), 'The version that it will have'),
  })
  .meta({
    id: 'StatementBeingMade',
    examples: [{ object: 'statement_request', date: '2026-11-21', version: 2 }],
  });

/** The codes of all problems. A tuple with a first element is what an enum is made of. */
const problemCodes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

const fieldErrorSchema = schemaOf<FieldError>()({
  field: described(z.string(), 'A field by its path, such as `metadata.colour`, or a parameter by its name'),
  message: z.string(),
}).meta({ id: 'FieldError', description: 'What is wrong with one field. `field message` is a sentence' });

/** A problem document (RFC 9457). */
export const problemSchema = z
  .object({
    type: described(
      z.string().meta({ format: 'uri-reference' }),
      'Where the kind of problem is described; relative to the address of the request',
    ),
    title: z.string(),
    status: described(z.int(), 'The HTTP status'),
    detail: described(z.string(), 'What was wrong and what to do, for people'),
    code: described(z.enum(problemCodes), 'Stable: let programs act on it'),
    requestId: described(z.string(), "The request's X-Request-Id: give it to your operator"),
    errors: described(z.array(fieldErrorSchema).optional(), 'Each field or parameter that is wrong'),
    payment: described(paymentSchema.optional(), 'The payment as it is now'),
    paymentId: described(z.string().optional(), 'The payment that the request was about'),
    force: described(
      z.union([z.boolean(), objectionsSchema]).optional(),
      'The `force` with which the decision is taken in spite of what stands against it in `detail`',
    ),
    transactionAmount: xaf('What the transaction of the match is of, where it differs from the order').optional(),
    beingMade: described(z.literal(true).optional(), "The statement isn't there yet, because it is being made"),
  })
  .meta({ id: 'Problem', description: 'A problem document (RFC 9457)' });
export type Problem = z.output<typeof problemSchema>;
