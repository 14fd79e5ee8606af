import { z } from 'zod';
import { type FoundPayment, readRefunds } from '../../book/payments.js';
import { MoreThanRefundable, NotRefundable, TakesApproval } from '../../engine/errors.js';
import { objectionToAmount } from '../../engine/merchant-limits.js';
import { findOrdered, type Ordered, refuseUnlessOrdered } from '../../engine/order.js';
import { MAX_REFUNDS, type RefundSums, readRefundSums } from '../../engine/refunds.js';
import { type Caller, mayRead, READING_SCOPES } from '../../http/auth.js';
import { collectedBy } from '../../payments/machine/refunds.js';
import { xaf } from '../../payments/words/limits.js';
import type { PaymentOrder, PayoutOrder } from '../../payments/words/order.js';
import type { Payment } from '../../payments/words/payment.js';
import { PAYMENT_ID_PREFIX, type PaymentId } from '../../payments/words/payment-id.js';
import { phoneMediumSchema } from '../../provider/schemas.js';
import { refundsSchema } from '../../schemas/refund.js';
import { ApiError, otherKind, paymentNotFound } from '../api-error.js';
import type { ApiContext } from '../context.js';
import { type AuthenticatedRequest, authenticatedRoute } from '../route.js';
import { creationProblems, creationResponses, orderFor, refuseUnapprovable, toResponse } from './create-payment.js';
import { choosePaymentId, fingerprint, idempotencyKey } from './idempotency.js';
import { amount, phone, textOf } from './order-fields.js';
import { ownPayment, shown } from './payment-resource.js';

/** Longest reason, in characters. */
const MAX_REASON_LENGTH = 200;

const refundBody = z
  .strictObject({
    amount: amount.optional().describe('In XAF; by default all that can still be refunded'),
    phone: phone
      .optional()
      .describe(
        "The number to send it to: by default the payer's of a direct collection, and a link's `refundTo`. A refund to any other number waits for another person's approval",
      ),
    medium: phoneMediumSchema.optional().describe('By default, it follows from the number'),
    reason: textOf(MAX_REASON_LENGTH).describe('Why the money goes back, returned with the refund'),
    expectedRefundable: z
      .int()
      .min(0)
      .optional()
      .describe('The `refundable` that you have seen: the refund is refused when it is another now. In XAF'),
  })
  .meta({ id: 'RefundRequest' });
type RefundBody = z.output<typeof refundBody>;

export const createRefund = authenticatedRoute({
  method: 'post',
  path: '/v1/collections/:id/refunds',
  summary: 'Refund a collection, or a part of it',
  description:
    'A refund is a payout that names the collection: it has a status, notifications and a timeline of its own. All refunds of a collection together never exceed what was collected, however many are asked for at once.',
  operationId: 'createRefund',
  tag: 'Collections',
  scopes: ['refunds'],
  idempotencyKey: { schema: idempotencyKey, required: true },
  body: refundBody,
  examples: {
    whole: { summary: 'All that is left', value: { reason: 'The concert was cancelled' } },
    part: {
      summary: 'A part',
      value: { amount: 2000, reason: 'One of two tickets was returned', expectedRefundable: 5000 },
    },
  },
  responses: creationResponses,
  problems: [
    ...creationProblems,
    'idempotency_key_required',
    'daily_limit_reached',
    'not_refundable',
    'refundable_mismatch',
    'more_than_refundable',
    'phone_required',
  ],
  async handle(request, context) {
    const { caller, body, record, headers } = request;
    const collection = await ownCollection(request, context);
    // Only its merchant sends money of its own.
    if (collection.merchant !== caller.owner) throw paymentNotFound();
    const { id } = choosePaymentId('payout', caller.owner, headers);
    record.paymentId = id;
    const digest = fingerprint({ ...body, refundOf: collection.id });

    const repeated = await findOrdered(context, { order: { id }, fingerprint: digest });
    return toResponse(repeated ?? (await orderRefund(request, context, collection, id, digest)), caller, context);
  },
});

export const listRefunds = authenticatedRoute({
  method: 'get',
  path: '/v1/collections/:id/refunds',
  summary: 'The refunds of a collection, and what can still be refunded',
  operationId: 'listRefunds',
  tag: 'Collections',
  scopes: ['refunds', ...READING_SCOPES],
  responses: { 200: { description: 'The refunds, oldest first.', schema: refundsSchema } },
  problems: ['temporarily_unavailable', 'record_unreadable'],
  async handle(request, context) {
    const found = await ownCollection(request, context);
    const [refunds, { count: _, ...sums }] = await Promise.all([
      readRefunds(context.book, found.id),
      readRefundSums(context.book, found.kept.state),
    ]);
    const data = refunds.map((refund) => shown(context, request.caller, refund));
    return { status: 200, json: { object: 'refunds' as const, collection: found.id, ...sums, data } };
  },
});

/** @throws {ApiError} `not_found`. */
async function ownCollection(
  request: AuthenticatedRequest<unknown, unknown>,
  context: ApiContext,
): Promise<FoundPayment> {
  if (request.params.id?.startsWith(PAYMENT_ID_PREFIX.payout))
    throw otherKind('payout', 'only a collection is refunded');
  return await ownPayment(context, request);
}

/** The most tries to order what is left, while others order a part of it. */
const MAX_TRIES = 10;

/**
 * Orders a refund. Its room is taken with its claim: all refunds of a collection together never exceed it.
 *
 * @throws {ApiError} when it must not be made, or when the collection has less left.
 */
async function orderRefund(
  request: AuthenticatedRequest<RefundBody, unknown>,
  context: ApiContext,
  found: FoundPayment,
  id: PaymentId,
  digest: string,
): Promise<Ordered> {
  const { body, caller } = request;
  let collection = found;
  for (let tries = 1; ; tries++) {
    const order = await toRefundOrder(request, context, collection, id);
    const { approval: isForNumber } = recipientOf(collection.kept.state.order, body);
    await refuseUnapprovable(context, order, caller, isForNumber ? 'phone' : 'amount');
    await refuseUnlessOrdered(context, order, objectionToAmount(order, caller.limits, context.book.now()));
    try {
      return await orderFor(request, context, { order, fingerprint: digest, repeatable: true });
    } catch (error) {
      if (error instanceof TakesApproval && tries < MAX_TRIES) continue;
      if (!(error instanceof NotRefundable || error instanceof MoreThanRefundable)) throw error;
      collection = await ownCollection(request, context);
      if (error instanceof NotRefundable) throw notRefundable(collection, caller, context);
      // A refund without an amount is of what the others have left.
      if (body.amount !== undefined || tries === MAX_TRIES) {
        const { count: _, ...sums } = await readRefundSums(context.book, collection.kept.state, id);
        throw moreThanRefundable(order.amount, sums);
      }
    }
  }
}

/**
 * The order of a refund that the collection has room for, as it was read now.
 *
 * @throws {ApiError} `not_refundable`, `phone_required`, `refundable_mismatch`, `more_than_refundable`.
 */
async function toRefundOrder(
  { body, caller }: AuthenticatedRequest<RefundBody, unknown>,
  context: ApiContext,
  collection: FoundPayment,
  id: PaymentId,
): Promise<PayoutOrder> {
  const { state } = collection.kept;
  if (collectedBy(state) === undefined) throw notRefundable(collection, caller, context);
  const recipient = recipientOf(state.order, body);
  const { approveAbove = Number.POSITIVE_INFINITY } = caller.limits;
  const { count, ...sums } = await readRefundSums(context.book, state, id);
  const { expectedRefundable, amount: asked = sums.refundable, reason } = body;
  if (expectedRefundable !== undefined && expectedRefundable !== sums.refundable) throw refundableMismatch(sums);
  if (sums.refundable === 0 || asked > sums.refundable) throw moreThanRefundable(body.amount, sums);
  if (count >= MAX_REFUNDS) throw tooManyRefunds(collection, sums, caller, context);
  const { person: orderedBy, personKeys: orderedByKeys } = caller;
  const refund = { refundOf: collection.id, refundReason: reason, orderedBy, orderedByKeys, metadata: {} };
  const isTogetherAbove = sums.refunded + sums.refunding + asked > approveAbove;
  return { id, kind: 'payout', amount: asked, ...recipient, ...(isTogetherAbove && { approval: true }), ...refund };
}

/**
 * Chooses the recipient of a refund. A number that isn't the payer's own, or that a link has named, takes an approval.
 *
 * @throws {ApiError} `phone_required`.
 */
function recipientOf(
  order: PaymentOrder,
  { phone: given, medium: asked }: RefundBody,
): Pick<PayoutOrder, 'phone' | 'medium' | 'name' | 'approval'> {
  // Empty once it was erased.
  const own = (order.kind === 'link' ? order.refundTo : order.phone) || undefined;
  const recipient = given ?? own;
  if (recipient === undefined) throw phoneRequired();
  if (recipient !== own) return { phone: recipient, medium: asked, approval: true };
  const { medium, name } = order.kind === 'direct' ? order : {};
  return { phone: recipient, medium: asked ?? medium, name };
}

/** Shows the collection only to keys that may read it. */
function shownTo(caller: Caller, context: ApiContext, collection: FoundPayment): { readonly payment?: Payment } {
  return mayRead(caller) ? { payment: shown(context, caller, collection) } : {};
}

const notRefundable = (collection: FoundPayment, caller: Caller, context: ApiContext): ApiError => {
  const { status, final } = collection;
  const why = final
    ? `The payment is ${status}, so there is nothing to refund.`
    : `The payment is ${status}: only a collection that is SUCCESSFUL can be refunded.`;
  return new ApiError('not_refundable', why, shownTo(caller, context, collection));
};

const tooManyRefunds = (
  collection: FoundPayment,
  { refundable }: RefundSums,
  caller: Caller,
  context: ApiContext,
): ApiError =>
  new ApiError(
    'not_refundable',
    `The collection has ${MAX_REFUNDS} refunds, failed ones included, and can have no more. Look at them first: the rest, at most ${xaf(refundable)}, can be paid out once, by POST /v1/payouts, which no sum of refunds counts.`,
    shownTo(caller, context, collection),
  );

const phoneRequired = (): ApiError =>
  new ApiError(
    'phone_required',
    "It isn't known which number the money came from: send `phone`. The refund then waits for another person's approval.",
  );

const sumsText = ({ collected = 0, refunded, refunding, refundable }: RefundSums): string =>
  `Of ${xaf(collected)}, ${xaf(refunded)} were refunded and ${xaf(refunding)} are being refunded: ${xaf(refundable)} can be refunded.`;

const refundableMismatch = (sums: RefundSums): ApiError =>
  new ApiError('refundable_mismatch', `Another amount can be refunded than you expected. ${sumsText(sums)}`, { sums });

/** @param asked XAF; `undefined`: all that is left */
function moreThanRefundable(asked: number | undefined, sums: RefundSums): ApiError {
  const what = asked === undefined ? 'Nothing is left to refund.' : `${xaf(asked)} can't be refunded.`;
  return new ApiError('more_than_refundable', `${what} ${sumsText(sums)}`, { sums });
}
