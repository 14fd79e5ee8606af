import * as z from 'zod/mini';
import type { LinkRequest } from '../payments/machine/beginning.js';
import type { CountedPayout, CountedPayouts } from '../payments/machine/counted-payouts.js';
import type { Actor, Approve, Checker } from '../payments/machine/events.js';
import type { DeliveryOutcome } from '../payments/machine/notification.js';
import type { CountedRefund, RefundReading, RefundReservation } from '../payments/machine/refunds.js';
import { stateSchemas } from '../payments/machine/state-schema.js';
import type { PaymentOrder } from '../payments/words/order.js';
import type { Payment } from '../payments/words/payment.js';
import type {
  EndedPayment,
  Hint,
  InitiationRequest,
  MadeStatement,
  MatchedNotification,
  NotificationToResend,
  PaymentInput,
  PayoutLimitInput,
  PayoutRejection,
  PayoutsToCount,
  RefundsInput,
  RequestSource,
  RestoreInput,
  StatementInput,
  UnmatchedInput,
  UnmatchedNotification,
} from './messages.js';

/*
 * Readers of the messages, inputs, results and carried states of workflows. Temporal's command line and Web UI let
 * anybody send a workflow anything, and a workflow that fails over it fails at each try, for ever.
 */

/**
 * Reads a value of unknown origin; `what` names it in the problem. Fields that it doesn't know stay: another version
 * may need them.
 */
export type Reader<T> = (value: unknown, what: string) => Read<T>;

/** `problem` says where a value isn't what it should be, and never what it is: that may be somebody's phone number. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** A workflow has left something that this version can't read: it is damaged, or from a newer version. */
export class UnreadableState extends Error {
  constructor(problem: string) {
    super(`what a workflow has left can't be read: ${problem}`);
  }
}

/** @throws {UnreadableState} */
export function mustRead<T>(reader: Reader<T>, value: unknown): T {
  const read = reader(value, 'it');
  if (read.kind === 'read') return read.value;
  throw new UnreadableState(read.problem);
}

/** Hides a schema, since a worker freezes what modules export, and a schema of zod's changes when it is first used. */
function reader<T>(schema: z.ZodMiniType<T>): Reader<T> {
  return (value, what) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return { kind: 'read', value: data };
    const problems = error.issues.map(({ path, message }) => `${[what, ...path].join('.')}: ${message}`);
    return { kind: 'unreadable', problem: problems.join('; ') };
  };
}

const { boolean: flag, looseObject: object, number, optional, string: text } = z;
const schemas = stateSchemas();
const { count, identifier, list, paymentId, transId, status } = schemas;

/** The version of a shape that is kept for longer than one version of the code runs. */
const v = z.literal(1);
/** A day. One of zod's patterns can't be used once it is frozen. */
const date = text().check(
  z.regex(/^\d{4}-\d\d-\d\d$/),
  z.refine((day) => !Number.isNaN(Date.parse(day)), 'no such day'),
);
const absent = optional(z.undefined());

/** Nothing is given with it. */
export const nothing: Reader<undefined> = reader(absent);

export const hint: Reader<Hint> = reader(object({ transId: optional(transId), status: optional(status) }));

const initiationSchema = object({ fingerprint: text() });
export const initiationRequest: Reader<InitiationRequest> = reader(initiationSchema);

const keyName = optional(identifier<string>(40));
const actor: z.ZodMiniType<Actor> = object({ role: z.enum(['merchant', 'operator']), name: keyName });
const checker: z.ZodMiniType<Checker> = object({ role: z.enum(['merchant', 'operator', 'statement']), name: keyName });

/** Reads who asks; with Temporal's own tools, nobody has to be named. */
function asked<By>(by: z.ZodMiniType<By>): Reader<RequestSource<By>> {
  const named = reader(object({ by }));
  return (value, what) => (value === undefined ? { kind: 'read', value: {} } : named(value, what));
}

export const request = asked(actor);
export const recheckRequest = asked(checker);
export const notificationToResend: Reader<NotificationToResend> = reader(
  object({ number: count, by: optional(actor) }),
);
export const resolution = reader(schemas.resolution);
export const rejection = reader(schemas.rejection);

const person = identifier<string>(100);
export const approve: Reader<Approve> = reader(
  object({ by: person, keys: optional(list(text())), digest: text(), at: optional(number()) }),
);
export const payoutRejection: Reader<PayoutRejection> = reader(object({ by: person, why: text() }));

const countedPayout: z.ZodMiniType<CountedPayout> = object({ id: paymentId, amount: count });
export const payoutsToCount: Reader<PayoutsToCount> = reader(object({ payouts: list(countedPayout), max: count }));

const counted: z.ZodMiniType<CountedPayouts> = object({ total: count, latest: list(countedPayout) });
export const payoutLimitInput: Reader<PayoutLimitInput> = reader(
  object({ v, merchant: identifier(40), day: date, until: number(), carried: optional(counted) }),
);

const knownRefund = object({ kind: z.literal('known'), id: paymentId, amount: count, asOf: number() });
const countedRefund: z.ZodMiniType<CountedRefund> = z.discriminatedUnion('kind', [
  object({ kind: z.literal('reserved'), id: paymentId, amount: count, at: number() }),
  knownRefund,
]);
const refundReading: z.ZodMiniType<RefundReading> = z.discriminatedUnion('kind', [
  knownRefund,
  object({ kind: z.literal('none'), id: paymentId }),
]);
export const refundReservation: Reader<RefundReservation> = reader(
  object({ id: paymentId, amount: count, collected: count, readings: list(refundReading), readAt: number() }),
);
export const refundsInput: Reader<RefundsInput> = reader(
  object({ v, collection: paymentId, carried: optional(list(countedRefund)) }),
);

const matched = { at: text(), transId: optional(transId), externalId: optional(text()) };
export const matchedNotification: Reader<MatchedNotification> = reader(object(matched));

const unmatched: z.ZodMiniType<UnmatchedNotification> = object({
  ...matched,
  status: optional(status),
  unread: optional(text()),
  statement: optional(text()),
});
export const unmatchedNotification = reader(unmatched);
export const unmatchedInput: Reader<UnmatchedInput> = reader(object({ v, kept: list(unmatched) }));

export const restoreInput: Reader<RestoreInput> = reader(object({ v, restoredAt: number() }));

export const statementInput: Reader<StatementInput> = reader(
  object({ v, day: optional(date), soFar: optional(flag()) }),
);
export const madeStatement: Reader<MadeStatement> = reader(
  object({ date, version: count, complete: flag(), payments: count, differences: count }),
);

export const initiationOutcome = reader(schemas.outcome);

const retryAfterMs = optional(number());
export const deliveryOutcome: Reader<DeliveryOutcome> = reader(
  z.discriminatedUnion('kind', [
    object({ kind: z.literal('delivered') }),
    object({ kind: z.literal('noAddress') }),
    object({ kind: z.literal('failed'), reason: text(), takenBy: optional(list(text())), retryAfterMs }),
    object({ kind: z.literal('notSent') }),
  ]),
);

const linkRequest: z.ZodMiniType<LinkRequest> = object({
  outcome: schemas.outcome,
  sentAt: number(),
  answeredAt: number(),
});
const inputFields = { v, terms: schemas.terms, fingerprint: text(), requestId: text() };
const timeline = optional(schemas.timeline);

/** Readers of a payment's input: in the first run of its workflow, and in one that goes on with another's work. */
export interface InputReaders<Order extends PaymentOrder> {
  readonly first: Reader<PaymentInput & { readonly order: Order }>;
  readonly next: Reader<PaymentInput & { readonly order: Order }>;
}

function inputReaders<Order extends PaymentOrder>(
  order: z.ZodMiniType<Order>,
  requested: z.ZodMiniType<LinkRequest | undefined>,
): InputReaders<Order> {
  const fields = { ...inputFields, order, requested };
  return {
    first: reader(object({ ...fields, carried: absent, timeline: absent })),
    next: reader(object({ ...fields, carried: schemas.state, timeline })),
  };
}

export const linkInput = inputReaders(schemas.linkOrder, optional(linkRequest));
export const directInput = inputReaders(schemas.directOrder, absent);
export const payoutInput = inputReaders(schemas.payoutOrder, absent);

/** An ended payment is reopened with the state that it has left. */
export const reopeningInput: InputReaders<PaymentOrder> = {
  ...inputReaders(schemas.order, absent),
  first: reader(
    object({ ...inputFields, order: schemas.order, requested: absent, carried: schemas.endedState, timeline }),
  ),
};

/** Reads the input of any run of a payment. */
export const paymentInput: Reader<PaymentInput> = reader(
  object({
    ...inputFields,
    order: schemas.order,
    requested: optional(linkRequest),
    carried: optional(schemas.state),
    timeline,
  }),
);

/** Reads the result of a payment's workflow. */
export const endedPayment: Reader<EndedPayment> = reader(
  object({
    v,
    payment: z.custom<Payment>((value) => typeof value === 'object' && value !== null),
    rejection: optional(text()),
    state: schemas.state,
    timeline,
  }),
);
