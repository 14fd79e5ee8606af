import type { Resolved } from './decision.js';
import { CURRENCY } from './limits.js';
import type { Payment, PaymentResolution } from './payment.js';
import {
  decideFrom,
  failureCodeOf,
  isFinalPayment,
  type PaymentState,
  reasonOf,
  reviewOf,
  statusOf,
  transIdOf,
} from './payment-state.js';

/** The payment as the merchant sees it. */
export function toPayment(state: PaymentState): Payment {
  const { order, facts } = state;
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
    fee: feeOf(state),
    reason: reasonOf(state),
    failureCode: failureCodeOf(state),
    financialTransId: facts.financialTransId,
    review: review && {
      number: review.number,
      since: iso(review.since),
      decideFrom: iso(decideFrom(state)),
    },
    resolution: state.resolved && toResolution(state.resolved),
    // It is empty once it was erased.
    phone: order.method === 'link' || !order.phone ? undefined : masked(order.phone),
    message: order.message,
    redirectUrl: order.method === 'link' ? order.redirectUrl : undefined,
    externalId: order.externalId,
    userId: order.userId,
    metadata: order.metadata,
    createdAt: iso(state.createdAt),
    updatedAt: iso(state.updatedAt),
    expiresAt: facts.expiresAt === undefined ? undefined : iso(facts.expiresAt),
  };
}

/** Not known when the transaction is of another amount than the order: `revenue` is what is left of the transaction's. */
function feeOf(state: PaymentState): number | undefined {
  const { order, facts, tolerated } = state;
  const { revenue } = facts;
  const isKnown = statusOf(state) === 'SUCCESSFUL' && tolerated === undefined;
  return !isKnown || revenue === undefined || revenue > order.amount ? undefined : order.amount - revenue;
}

function masked(phone: string): string {
  return `•••• ${phone.slice(-3)}`;
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
