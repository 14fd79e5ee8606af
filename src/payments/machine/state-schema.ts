import * as z from 'zod/mini';
import type { Timeline, TimelineEntry } from '../views/timeline-entry.js';
import { OBJECTIONS } from '../words/decision.js';
import { MAX_TRANS_ID_LENGTH } from '../words/limits.js';
import { HELD_FOR, type PaymentOrder, type PaymentTerms } from '../words/order.js';
import type { InitiationOutcome } from '../words/outcome.js';
import { FAILURE_CODES } from '../words/payment.js';
import type { PaymentId, TransId } from '../words/payment-id.js';
import type { PaymentState } from '../words/payment-state.js';
import type { TransactionMention } from '../words/phase.js';
import {
  MEDIUMS,
  PHONE_MEDIUMS,
  PROVIDER_STATUSES,
  type SearchedTransaction,
  type Transaction,
} from '../words/transaction.js';

/*
 * The schemas of a payment's state, and of its parts: the book keeps it for longer than any version of the code runs.
 * Objects are loose: a field that only another version knows is kept.
 */

// Without a language, zod says of every mistake that it is invalid input.
z.config(z.locales.en());

const { boolean: flag, discriminatedUnion: union, looseObject: object, optional, string: text } = z;

/** A type without the fields that a loose object may have beside its own. */
type Known<T> = T extends object ? { [Field in keyof T as string extends Field ? never : Field]: Known<T[Field]> } : T;

/** Declares the type that a schema reads; the compiler checks that it reads all of it, and nothing else. */
function typed<T>() {
  return <S extends z.ZodMiniType<T>>(schema: T extends Known<z.input<S>> ? S : never): z.ZodMiniType<T> => schema;
}

const list = <S extends z.ZodMiniType>(element: S) => z.readonly(z.array(element));
const nonEmpty = <S extends z.ZodMiniType>(element: S) => z.readonly(z.tuple([element], element));
const oneOf = <const T extends string>(...values: readonly T[]) => z.enum(values);

/** Text of at least one character. */
const identifier = <T extends string>(maxLength: number) =>
  z.custom<T>(
    (value) => typeof value === 'string' && value.length > 0 && value.length <= maxLength,
    `expected text of 1 to ${maxLength} characters`,
  );

/** A whole number of at least 0: an amount in XAF, a count, a duration in ms. */
const count = z.int().check(z.nonnegative());
const { number } = z;
const yes = optional(z.literal(true));

const paymentId = identifier<PaymentId>(100);
const transId = identifier<TransId>(MAX_TRANS_ID_LENGTH);
const transIds = list(transId);
const status = z.enum(PROVIDER_STATUSES);

const orderFields = {
  id: paymentId,
  amount: count,
  userId: optional(text()),
  externalId: optional(text()),
  message: optional(text()),
  metadata: z.readonly(z.record(text(), text())),
};
const linkOrder = object({
  ...orderFields,
  kind: z.literal('link'),
  email: optional(text()),
  redirectUrl: optional(text()),
  expiresInMs: optional(count),
  refundTo: optional(text()),
});
const directOrder = object({
  ...orderFields,
  kind: z.literal('direct'),
  phone: text(),
  medium: optional(z.enum(PHONE_MEDIUMS)),
  name: optional(text()),
  email: optional(text()),
});
const payoutOrder = object({
  ...orderFields,
  kind: z.literal('payout'),
  phone: optional(text()),
  medium: optional(z.enum(MEDIUMS)),
  name: optional(text()),
  email: optional(text()),
  approval: yes,
  sendAt: optional(number()),
  orderedBy: optional(text()),
  orderedByKeys: optional(list(text())),
  refundOf: optional(paymentId),
  refundReason: optional(text()),
});
const order = typed<PaymentOrder>()(union('kind', [linkOrder, directOrder, payoutOrder]));

const terms = typed<PaymentTerms>()(
  object({
    linkLifetimeMs: count,
    pollFirstMs: count,
    pollMaxMs: count,
    ambiguousGraceMs: count,
    ambiguousPolicy: oneOf('review', 'resend'),
    resolveAfterMs: count,
    listedAfterMs: optional(count),
    sendByMs: count,
    providerTimeoutMs: count,
    secondPersonAbove: optional(count),
    approveAbove: optional(count),
    approvalWithinMs: optional(count),
    deskUrl: optional(text()),
  }),
);

const transactionFields = {
  transId,
  status,
  transType: optional(oneOf('Collection', 'Payout')),
  amount: optional(number()),
  medium: optional(z.enum(MEDIUMS)),
  revenue: optional(number()),
  reason: optional(text()),
  financialTransId: optional(text()),
  externalId: optional(text()),
  userId: optional(text()),
  takenBy: optional(paymentId),
};
const transaction = typed<Transaction>()(object(transactionFields));

const rejected = { message: text(), statusCode: count };
const outcome = typed<InitiationOutcome>()(
  union('kind', [
    object({ kind: z.literal('accepted'), transId, link: optional(text()) }),
    object({ kind: z.literal('rejected'), ...rejected }),
    object({ kind: z.literal('unauthorized'), ...rejected }),
    object({ kind: z.literal('throttled'), reason: text(), retryAfterMs: optional(number()) }),
    object({ kind: z.literal('notSent'), reason: text(), isUnread: yes, retryAfterMs: optional(number()) }),
    object({ kind: z.literal('withheld'), failureCode: oneOf('not_sent', 'not_refundable'), reason: text() }),
    object({
      kind: z.literal('ambiguous'),
      reason: text(),
      shown: optional(list(transaction)),
      leavesBy: optional(number()),
    }),
  ]),
);

const decision = union('action', [
  object({ action: z.literal('resend') }),
  object({ action: z.literal('fail') }),
  object({ action: z.literal('match'), transId }),
]);
const resolution = {
  decision,
  review: count,
  by: text(),
  keys: optional(list(text())),
  why: text(),
  force: z.union([flag(), list(z.enum(OBJECTIONS))]),
};
const rejection = { by: text(), why: text() };
const proposal = object({ ...resolution, at: number() });

const succeeded = { status: z.literal('SUCCESSFUL'), reason: optional(text()) };
const failed = {
  status: z.literal('FAILED'),
  failureCode: z.enum(FAILURE_CODES.filter((code) => code !== 'expired')),
  reason: optional(text()),
};
const expired = { status: z.literal('EXPIRED'), failureCode: z.literal('expired'), reason: optional(text()) };

const cause = oneOf('order', 'policy', 'operator');
const unsent = object({
  tries: count,
  reason: text(),
  hold: oneOf('credentials', 'throttled', 'connection', 'unread'),
  wasThrottled: yes,
  begunAt: number(),
  since: number(),
});
const ambiguity = object({
  reason: text(),
  since: number(),
  otherwise: optional(object(failed)),
  listedBy: optional(number()),
  unsent: optional(unsent),
});

const held = object({ kind: z.literal('held'), for: nonEmpty(z.enum(HELD_FOR)), since: number() });
const sending = object({ kind: z.literal('sending'), cause, ambiguity: optional(ambiguity), unsent: optional(unsent) });
const waiting = object({
  kind: z.literal('waiting'),
  cause,
  ambiguity: optional(ambiguity),
  unsent,
  until: number(),
});
const lookUps = { lookUps: count, lastAt: optional(number()), nextAt: number() };
const searching = object({
  kind: z.literal('searching'),
  ambiguity,
  ...lookUps,
  clearing: optional(object({ unissued: nonEmpty(transId), next: oneOf('send', 'fail') })),
});
const followed = oneOf('CREATED', 'PENDING', 'FAILED');
const following = object({
  kind: z.literal('following'),
  transId,
  since: number(),
  status: followed,
  polling: object({ asked: count, unanswered: count, nextAt: number(), hinted: flag() }),
  end: optional(object({ at: number(), tries: count })),
});
const closing = object({ kind: z.literal('closing'), of: following, next: oneOf('look', 'expire', 'confirm') });
const verifying = object({
  kind: z.literal('verifying'),
  of: following,
  interimStatus: followed,
  outcome: union('status', [object(failed), object(expired)]),
  since: number(),
  ...lookUps,
});
const review = object({
  kind: z.literal('review'),
  number: count,
  why: text(),
  since: number(),
  held: flag(),
  inquiry: optional(union('kind', [searching, following, closing, verifying])),
  proposed: optional(proposal),
  rejected: optional(object({ ...rejection, proposed: proposal, at: number() })),
});
const deciding = object({
  kind: z.literal('deciding'),
  review,
  resolution: object(resolution),
  request: count,
  step: union('kind', [
    object({ kind: z.literal('status'), transId }),
    object({ kind: z.literal('list'), alive: optional(transId), isUnanswered: yes }),
    object({ kind: z.literal('expire'), alive: nonEmpty(transId) }),
    object({ kind: z.literal('others'), transaction, open: nonEmpty(transId), heard: list(transaction) }),
  ]),
  moving: transIds,
  rounds: count,
  inView: list(identifier<TransactionMention>(MAX_TRANS_ID_LENGTH)),
  before: optional(text()),
});
const check = object({
  at: number(),
  tries: count,
  isRecheck: yes,
  asked: optional(transIds),
  heard: optional(transIds),
});
const endedFields = {
  kind: z.literal('ended'),
  transId: optional(transId),
  checks: list(check),
  outstanding: optional(transIds),
  isUnlisted: yes,
};
const ended = union('status', [
  object({ ...endedFields, ...succeeded }),
  object({ ...endedFields, ...failed }),
  object({ ...endedFields, ...expired }),
]);

const facts = object({
  link: optional(object({ url: text(), transId })),
  expiresAt: optional(number()),
  medium: optional(z.enum(MEDIUMS)),
  amountPaid: optional(number()),
  revenue: optional(number()),
  reason: optional(text()),
  financialTransId: optional(text()),
});
const sends = object({
  count,
  lastAt: optional(number()),
  policySpent: flag(),
  mayBeDouble: flag(),
  isThrottled: yes,
  gap: optional(object({ at: number(), isRead: yes })),
});
const claims = object({
  open: list(object({ transId, nextAt: number(), unanswered: count, unknown: count, isShown: yes })),
  notBefore: number(),
  unconfirmed: transIds,
  isNamed: yes,
  paid: optional(list(object({ transId, at: number(), times: count }))),
});
const difference = object({
  transId,
  field: oneOf('externalId', 'names', 'taken', 'amount', 'transType', 'status'),
  words: text(),
  amount: optional(number()),
});

const phase = union('kind', [
  held,
  sending,
  waiting,
  searching,
  following,
  closing,
  verifying,
  review,
  deciding,
  ended,
]);
const state = typed<PaymentState>()(
  object({
    order,
    terms,
    createdAt: number(),
    updatedAt: number(),
    phase,
    release: optional(object({ approvals: list(object({ by: text(), at: number() })), at: optional(number()) })),
    facts,
    sends,
    reviews: count,
    resolved: optional(object({ ...resolution, at: number(), approval: optional(object(rejection)) })),
    acceptedDifference: optional(text()),
    differences: optional(list(difference)),
    lastShown: optional(object({ transId, status, wasPaid: yes })),
    claims,
    others: list(object({ transId, status, amount: optional(number()), decidedAs: optional(status) })),
    recentQuestions: list(object({ transId, at: number() })),
    quietUntil: optional(number()),
    notified: count,
    pendingRequests: list(object({ request: count, for: oneOf('poll', 'closing', 'ending', 'check') })),
  }),
);

/** Nothing is decided by a timeline: what an entry says is believed. */
const entry = z.custom<TimelineEntry>(
  (value) => z.safeParse(object({ type: text(), at: number() }), value).success,
  'expected an entry of a timeline',
);

/**
 * Returns the schemas that others are made of. A function, since a worker freezes what modules export, and a schema of
 * zod's changes when it is first used.
 */
export const stateSchemas = () => ({
  searchedTransaction: typed<SearchedTransaction>()(object({ ...transactionFields, dateInitiated: optional(text()) })),
  outcome,
  state,
  timeline: typed<Timeline>()(object({ entries: list(entry), omitted: optional(count) })),
});
