import type { Resolved } from './decision.js';
import { CURRENCY } from './limits.js';
import type { Payment, PaymentResolution } from './payment.js';
import {
  decideFrom,
  isFinalPayment,
  type PaymentState,
  reviewOf,
  statusOf,
  transIdOf,
} from './payment-state.js';

/** The payment as the merchant sees it. */
export function toPayment(state: PaymentState): Payment {
  const { order, facts, phase } = state;
  const transId = transIdOf(state);
  const review = reviewOf(state);
  return {
    id: order.id,
    object: 'payment',
    kind: order.kind,
    method: order.method,
    status: statusOf(state),
    final: isFinalPayment(state),
    amount: order.amount,
    currency: CURRENCY,
    link: facts.link !== undefined && facts.link.transId === transId ? facts.link.url : undefined,
    transId,
    medium: facts.medium,
    revenue: facts.revenue,
    reason: review?.why ?? (phase.kind === 'ended' ? phase.reason : facts.reason),
    financialTransId: facts.financialTransId,
    review: review && {
      number: review.number,
      since: iso(review.since),
      decideFrom: iso(decideFrom(state)),
    },
    resolution: state.resolved && toResolution(state.resolved),
    externalId: order.externalId,
    userId: order.userId,
    metadata: order.metadata,
    createdAt: iso(state.createdAt),
    updatedAt: iso(state.updatedAt),
    expiresAt: facts.expiresAt === undefined ? undefined : iso(facts.expiresAt),
  };
}

function toResolution({ decision, review, by, why, force, at }: Resolved): PaymentResolution {
  const transId = decision.action === 'match' ? decision.transId : undefined;
  return {
    action: decision.action,
    transId,
    review,
    by,
    why,
    forced: force ? true : undefined,
    at: iso(at),
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
