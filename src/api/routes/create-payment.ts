import { maxPerDayOf, objectionToAmount } from '../../engine/merchant-limits.js';
import {
  type OrderContext,
  type Ordered,
  type OrderRequest,
  orderPayment,
  refuseUnlessOrdered,
} from '../../engine/order.js';
import type { Caller } from '../../http/auth.js';
import { invalidRequest } from '../../http/problem.js';
import { MAX_SEND_AHEAD_MS, needsApproval, type PaymentOrder, sendAtOf } from '../../payments/words/order.js';
import type { PaymentId, PaymentKind } from '../../payments/words/payment-id.js';
import { isOneName } from '../../payments/words/person.js';
import { DAY_MS, isoTime } from '../../payments/words/time.js';
import { paymentSchema } from '../../schemas/payment.js';
import { ApiError } from '../api-error.js';
import type { ApiContext } from '../context.js';
import type { AuthenticatedRequest, ResponseOf } from '../route.js';
import { choosePaymentId, fingerprint } from './idempotency.js';
import { auditedCaller, viewerOf } from './payment-resource.js';
import { refusePersonalIds } from './personal-ids.js';

const location = ['Location'] as const;

/** The responses to a request for a payment. */
export const creationResponses = {
  201: {
    description: 'The provider has accepted the payment, or the payout is `held`.',
    headers: location,
    schema: paymentSchema,
  },
  200: {
    description: 'An earlier request with this Idempotency-Key created the payment, which is returned as it is now.',
    headers: ['Location', 'Idempotent-Replayed'],
    schema: paymentSchema,
  },
  202: {
    description:
      "The provider hasn't answered within 10 seconds, or the payment can't be sent yet. Sanaga continues: read the payment later, or wait for the notification.",
    headers: location,
    optionalHeaders: ['Idempotent-Replayed'],
    schema: paymentSchema,
  },
} as const;

/** Codes of the problems that requests for a payment have in common. */
export const creationProblems = [
  'idempotency_key_reused',
  'rejected_by_provider',
  'temporarily_unavailable',
  'record_unreadable',
] as const;

/**
 * Creates a payment. Responds with 201 for a new payment, with 200 for one that an earlier request created, and with
 * 202 if the provider has not answered in time.
 *
 * @throws {ApiError} `rejected_by_provider` with the provider's message, `idempotency_key_reused`,
 * `idempotency_key_required`, `invalid_idempotency_key`, `invalid_request` for identifiers that name a person, for a
 * date in the past or too far ahead, for an approval that nobody could give, and beyond the merchant's limits,
 * `daily_limit_reached`, `temporarily_unavailable`, `record_unreadable`.
 */
export async function createPayment<Body>(
  kind: PaymentKind,
  toOrder: (id: PaymentId, body: Body, caller: Caller) => PaymentOrder,
  request: AuthenticatedRequest<Body, unknown>,
  context: ApiContext,
): Promise<ResponseOf<typeof creationResponses>> {
  const { caller, body, record, headers } = request;
  const { id, repeatable } = choosePaymentId(kind, caller.owner, headers);
  record.paymentId = id;
  const order = toOrder(id, body, caller);
  refusePersonalIds(order);
  await refuseDate(context, order);
  await refuseUnapprovable(context, order, caller, 'approval' in order ? 'approval' : 'amount');
  await refuseUnlessOrdered(context, order, objectionToAmount(order, caller.limits, context.book.now()));
  const ordered = await orderFor(request, context, { order, fingerprint: fingerprint(body), repeatable });
  return toResponse(ordered, caller, context);
}

/** Orders a payment under the terms of its merchant. */
export function orderFor(
  request: AuthenticatedRequest<unknown, unknown>,
  context: ApiContext,
  wanted: Pick<OrderRequest, 'order' | 'fingerprint' | 'repeatable'>,
): Promise<Ordered> {
  const { caller, record } = request;
  return orderPayment(withTermsFor(wanted.order, context, caller), {
    ...wanted,
    merchant: caller.owner,
    httpRequestId: record.id,
    maxPerDay: maxPerDayOf(wanted.order, caller.limits),
    people: caller.people,
    caller: auditedCaller(request),
  });
}

/** Responds with a payment that was ordered now, or before. @throws {ApiError} `rejected_by_provider`. */
export function toResponse(
  ordered: Ordered,
  caller: Caller,
  context: ApiContext,
): ResponseOf<typeof creationResponses> {
  const { id } = ordered.payment;
  const json = viewerOf(context, caller, caller.owner)(ordered.payment);
  const headers = {
    Location: `/v1/payments/${id}`,
    ...(ordered.isRepeated && { 'Idempotent-Replayed': 'true' }),
  };
  switch (ordered.kind) {
    case 'started':
      return { status: ordered.isRepeated ? 200 : 201, headers, json };
    case 'undecided':
      return { status: 202, headers, json };
    case 'rejected':
      throw new ApiError('rejected_by_provider', ordered.rejection ?? '', { headers, payment: json });
  }
}

/** The payment keeps its merchant's limits as they are now: later ones are for new payments. */
function withTermsFor(order: PaymentOrder, context: OrderContext, { limits }: Caller): OrderContext {
  if (order.kind !== 'payout') return context;
  const { secondPersonAbove, approveAbove, approvalWithin } = limits;
  return {
    ...context,
    terms: {
      ...context.terms,
      ...(secondPersonAbove !== undefined && { secondPersonAbove }),
      ...(approveAbove !== undefined && { approveAbove }),
      ...(approvalWithin !== undefined && { approvalWithinMs: approvalWithin }),
    },
  };
}

/**
 * Refuses a payout that takes an approval which nobody could give. A request that is repeated gets its payment.
 *
 * @param field the one that makes it take an approval
 */
export async function refuseUnapprovable(
  context: OrderContext,
  order: PaymentOrder,
  caller: Caller,
  field: 'approval' | 'amount' | 'phone',
): Promise<void> {
  const { owner, person, approvers } = caller;
  if (approvers.some((one) => !isOneName(one, person))) return;
  if (!needsApproval(order, withTermsFor(order, context, caller).terms)) return;
  const message = `takes an approval by another person than ${person}, and ${owner} has none whose key has the scope approve`;
  await refuseUnlessOrdered(context, order, invalidRequest([{ field, message }]));
}

/**
 * Refuses a date that is past, or too far ahead. A request that is repeated gets its payment, whose date may have
 * passed since.
 */
async function refuseDate(context: OrderContext, order: PaymentOrder): Promise<void> {
  const now = context.book.now();
  const sendAt = sendAtOf(order) ?? now;
  if (sendAt >= now && sendAt <= now + MAX_SEND_AHEAD_MS) return;
  const message =
    sendAt < now
      ? `must not be in the past: it is ${isoTime(now)}. Leave it out to send the payout at once`
      : `must be at most ${MAX_SEND_AHEAD_MS / DAY_MS} days ahead`;
  await refuseUnlessOrdered(context, order, invalidRequest([{ field: 'sendAt', message }]));
}
