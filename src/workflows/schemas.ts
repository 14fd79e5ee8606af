import type { LinkRequest } from '../payments/machine/beginning.js';
import type { CountedPayout, CountedPayouts } from '../payments/machine/counted-payouts.js';
import type { Delivery, DeliveryOutcome, PaymentNotification } from '../payments/machine/notification.js';
import type { Actor, Checker } from '../payments/machine/transitions.js';
import type { Timeline, TimelineEntry } from '../payments/views/timeline.js';
import {
  type Decision,
  type Force,
  OBJECTIONS,
  type Rejection,
  type Resolution,
  type Resolved,
} from '../payments/words/decision.js';
import type { DirectOrder, LinkOrder, PaymentOrder, PaymentTerms, PayoutOrder } from '../payments/words/order.js';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import { FAILURE_CODES, PAYMENT_EVENT_TYPES } from '../payments/words/payment.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type {
  Check,
  Ended,
  Facts,
  KnownDifference,
  PaymentState,
  Reports,
  Sends,
  ShownTransaction,
} from '../payments/words/payment-state.js';
import { MEDIUMS, PHONE_MEDIUMS, PROVIDER_STATUSES, type Transaction } from '../payments/words/transaction.js';
import type {
  Asked,
  Hint,
  InitiationRequest,
  MadeStatement,
  MatchedNotification,
  NotificationToResend,
  PaymentInput,
  PayoutLimitInput,
  PayoutsToCount,
  StatementInput,
  UnmatchedNotification,
} from './messages.js';
import {
  absent,
  anything,
  count,
  date,
  flag,
  identifier,
  list,
  number,
  object,
  oneOf,
  optional,
  record,
  type Schema,
  text,
  union,
} from './schema.js';

/* What each message, each input and each result of an activity has to be. */

const paymentId = identifier<PaymentId>(100);
const transId = identifier<TransId>(200);
const status = oneOf(PROVIDER_STATUSES);

export const hint: Schema<Hint> = object<Hint>({ transId: optional(transId), status: optional(status) });

export const matchedNotification = object<MatchedNotification>({
  at: text,
  transId: optional(transId),
  externalId: optional(text),
});

export const unmatchedNotification = object<UnmatchedNotification>({
  transId: optional(transId),
  status: optional(status),
  at: text,
  externalId: optional(text),
  unread: optional(text),
  statement: optional(text),
});

export const initiationRequest = object<InitiationRequest>({ fingerprint: text });

const keyName = optional(identifier<string>(40));

const actor = object<Actor>({ role: oneOf(['merchant', 'operator']), name: keyName });
const checker = object<Checker>({ role: oneOf(['merchant', 'operator', 'statement']), name: keyName });

/** Who asks; with Temporal's own tools, nobody has to be named. */
function asked<By>(by: Schema<By>): Schema<Asked<By>> {
  const named = object<{ readonly by: By }>({ by });
  return (value, at) => (value === undefined ? {} : named(value, at));
}

export const request = asked(actor);
export const recheckRequest = asked(checker);
export const notificationToResend = object<NotificationToResend>({ number: count, by: optional(actor) });

const decision = union<'action', Decision>('action', {
  resend: object<Extract<Decision, { action: 'resend' }>>({ action: oneOf(['resend']) }),
  fail: object<Extract<Decision, { action: 'fail' }>>({ action: oneOf(['fail']) }),
  match: object<Extract<Decision, { action: 'match' }>>({ action: oneOf(['match']), transId }),
});

const force: Schema<Force> = (value, at) => (typeof value === 'boolean' ? value : list(oneOf(OBJECTIONS))(value, at));

const resolutionFields = { decision, review: count, by: text, why: text, force };
export const resolution = object<Resolution>(resolutionFields);

export const rejection = object<Rejection>({ review: count, by: text, why: text });

const countedPayout = object<CountedPayout>({ id: paymentId, amount: count });

export const payoutsToCount = object<PayoutsToCount>({ payouts: list(countedPayout), max: count });

export const payoutLimitInput = object<PayoutLimitInput>({
  merchant: identifier(40),
  day: date,
  until: number,
  carried: optional(object<CountedPayouts>({ total: count, latest: list(countedPayout) })),
});

export const statementInput = object<StatementInput>({ day: optional(date) });

export const madeStatement = object<MadeStatement>({
  date,
  version: count,
  complete: flag,
  payments: count,
  differences: count,
});

const orderFields = {
  id: paymentId,
  amount: count,
  userId: optional(text),
  externalId: optional(text),
  message: optional(text),
  metadata: record(text),
};

const linkOrder = object<LinkOrder>({
  ...orderFields,
  kind: oneOf(['collection']),
  method: oneOf(['link']),
  email: optional(text),
  redirectUrl: optional(text),
  expiresInMs: optional(count),
});

const directOrder = object<DirectOrder>({
  ...orderFields,
  kind: oneOf(['collection']),
  method: oneOf(['direct']),
  phone: text,
  medium: optional(oneOf(PHONE_MEDIUMS)),
  name: optional(text),
  email: optional(text),
});

const payoutOrder = object<PayoutOrder>({
  ...orderFields,
  kind: oneOf(['payout']),
  method: absent,
  phone: optional(text),
  medium: optional(oneOf(MEDIUMS)),
  name: optional(text),
  email: optional(text),
});

const anyOrder: Schema<PaymentOrder> = (value, at) => {
  const { kind, method } = object<{ readonly kind: unknown; readonly method: unknown }>({
    kind: anything,
    method: anything,
  })(value, at);
  if (kind === 'payout') return payoutOrder(value, at);
  return method === 'link' ? linkOrder(value, at) : directOrder(value, at);
};

const terms = object<PaymentTerms>({
  linkLifetimeMs: count,
  pollFirstMs: count,
  pollMaxMs: count,
  ambiguousGraceMs: count,
  ambiguousPolicy: oneOf(['review', 'resend']),
  resolveAfterMs: count,
  sendByMs: count,
  providerTimeoutMs: count,
  secondPersonAbove: optional(count),
  deskUrl: optional(text),
});

const transaction = object<Transaction>({
  transId,
  status,
  transType: optional(oneOf(['Collection', 'Payout'])),
  amount: optional(number),
  medium: optional(oneOf(MEDIUMS)),
  revenue: optional(number),
  reason: optional(text),
  financialTransId: optional(text),
  externalId: optional(text),
  userId: optional(text),
});

type Initiation<Kind> = Extract<InitiationOutcome, { readonly kind: Kind }>;

export const initiationOutcome = union<'kind', InitiationOutcome>('kind', {
  accepted: object<Initiation<'accepted'>>({ kind: oneOf(['accepted']), transId, link: optional(text) }),
  rejected: object<Initiation<'rejected'>>({ kind: oneOf(['rejected']), message: text, statusCode: count }),
  unauthorized: object<Initiation<'unauthorized'>>({
    kind: oneOf(['unauthorized']),
    message: text,
    statusCode: count,
  }),
  throttled: object<Initiation<'throttled'>>({
    kind: oneOf(['throttled']),
    reason: text,
    retryAfterMs: optional(number),
  }),
  notSent: object<Initiation<'notSent'>>({ kind: oneOf(['notSent']), reason: text }),
  unchecked: object<Initiation<'unchecked'>>({
    kind: oneOf(['unchecked']),
    reason: text,
    retryAfterMs: optional(number),
  }),
  ambiguous: object<Initiation<'ambiguous'>>({
    kind: oneOf(['ambiguous']),
    reason: text,
    isReset: optional(oneOf([true])),
    shown: optional(list(transaction)),
  }),
});

type Delivered<Kind> = Extract<DeliveryOutcome, { readonly kind: Kind }>;

export const deliveryOutcome = union<'kind', DeliveryOutcome>('kind', {
  delivered: object<Delivered<'delivered'>>({ kind: oneOf(['delivered']) }),
  noAddress: object<Delivered<'noAddress'>>({ kind: oneOf(['noAddress']) }),
  failed: object<Delivered<'failed'>>({
    kind: oneOf(['failed']),
    reason: text,
    takenBy: optional(list(text)),
    retryAfterMs: optional(number),
  }),
  notSent: object<Delivered<'notSent'>>({ kind: oneOf(['notSent']) }),
});

/* An ended payment, as it is reopened. No other state is ever handed to a workflow but by the workflow itself. */

const check = object<Check>({
  at: number,
  tries: count,
  isRecheck: optional(oneOf([true])),
  asked: optional(list(transId)),
  heard: optional(list(transId)),
});

const ended = object<Ended>({
  kind: oneOf(['ended']),
  status: oneOf(['SUCCESSFUL', 'FAILED', 'EXPIRED']),
  reason: optional(text),
  failureCode: optional(oneOf(FAILURE_CODES)),
  transId: optional(transId),
  rejection: optional(text),
  checks: list(check),
  unproven: optional(list(transId)),
});

const facts = object<Facts>({
  link: optional(object<NonNullable<Facts['link']>>({ url: text, transId })),
  expiresAt: optional(number),
  medium: optional(oneOf(MEDIUMS)),
  amountPaid: optional(number),
  revenue: optional(number),
  reason: optional(text),
  financialTransId: optional(text),
});

const sends = object<Sends>({
  count,
  lastAt: optional(number),
  byPolicy: flag,
  isDoubtful: flag,
  isReset: optional(oneOf([true])),
});

const reports = object<Reports>({
  open: list(object<Reports['open'][number]>({ transId, nextAt: number, unanswered: count, unknown: count })),
  notBefore: number,
  unconfirmed: list(transId),
  isNamed: optional(oneOf([true])),
  paid: optional(list(object<NonNullable<Reports['paid']>[number]>({ transId, at: number, times: count }))),
});

type DeliveryOf<Kind> = Extract<Delivery, { readonly kind: Kind }>;

const delivery = union<'kind', Delivery>('kind', {
  due: object<DeliveryOf<'due'>>({
    kind: oneOf(['due']),
    at: number,
    tries: count,
    since: optional(number),
    lastTriedAt: optional(number),
    lastError: optional(text),
    takenBy: optional(list(text)),
  }),
  delivered: object<DeliveryOf<'delivered'>>({ kind: oneOf(['delivered']), at: number }),
  noAddress: object<DeliveryOf<'noAddress'>>({ kind: oneOf(['noAddress']), at: number }),
  abandoned: object<DeliveryOf<'abandoned'>>({
    kind: oneOf(['abandoned']),
    at: number,
    lastTriedAt: optional(number),
    lastError: optional(text),
  }),
});

const notification = object<PaymentNotification>({
  number: count,
  type: oneOf(PAYMENT_EVENT_TYPES),
  at: number,
  delivery,
});

type EndedPaymentState = PaymentState & { readonly phase: Ended };

const endedState = object<EndedPaymentState>({
  order: anyOrder,
  terms,
  createdAt: number,
  updatedAt: number,
  phase: ended,
  facts,
  sends,
  reviews: count,
  resolved: optional(
    object<Resolved>({
      ...resolutionFields,
      at: number,
      approval: optional(object<NonNullable<Resolved['approval']>>({ by: text, why: text })),
    }),
  ),
  tolerated: optional(text),
  differences: optional(
    list(
      object<KnownDifference>({
        transId,
        field: oneOf(['externalId', 'names', 'amount', 'transType', 'status']),
        words: text,
        amount: optional(number),
      }),
    ),
  ),
  shown: optional(object<ShownTransaction>({ transId, status, wasPaid: optional(oneOf([true])) })),
  reports,
  others: list(object<PaymentState['others'][number]>({ transId, status, judged: optional(status) })),
  recentQuestions: list(object<PaymentState['recentQuestions'][number]>({ transId, at: number })),
  quietUntil: optional(number),
  notifications: list(notification),
  delivering: optional(object<NonNullable<PaymentState['delivering']>>({ number: count, at: number })),
  waiters: list(object<PaymentState['waiters'][number]>({ request: count, for: oneOf(['poll', 'closing', 'check']) })),
});

/** Nothing is decided by a timeline: what an entry says is believed. */
const timelineEntry: Schema<TimelineEntry> = (value, at) =>
  object<{ readonly type: string; readonly at: number }>({ type: text, at: number })(value, at) as TimelineEntry;

const linkRequest = object<LinkRequest>({ outcome: initiationOutcome, sentAt: number, answeredAt: number });

const inputFields = { terms, fingerprint: text, requestId: text };
const begun = { ...inputFields, carried: absent, timeline: absent };

/** What each kind of payment begins with. */
export const linkInput = object<PaymentInput & { readonly order: LinkOrder }>({
  ...begun,
  order: linkOrder,
  requested: optional(linkRequest),
});
export const directInput = object<PaymentInput & { readonly order: DirectOrder }>({
  ...begun,
  order: directOrder,
  requested: absent,
});
export const payoutInput = object<PaymentInput & { readonly order: PayoutOrder }>({
  ...begun,
  order: payoutOrder,
  requested: absent,
});

/** What an ended payment is reopened with. */
export const reopeningInput = object<PaymentInput>({
  ...inputFields,
  order: anyOrder,
  requested: absent,
  carried: endedState,
  timeline: optional(object<Timeline>({ entries: list(timelineEntry), omitted: optional(count) })),
});
