import type { Resolved } from './decision.js';
import { CURRENCY } from './limits.js';
import type { Payment, PaymentResolution } from './payment.js';
import type { PaymentState } from './payment-state.js';

/** The payment as the merchant sees it. */
export function toPayment(state: PaymentState): Payment {
  const { order } = state;
  return {
    id: order.id,
    object: 'payment',
    kind: order.kind,
    method: order.method,
    status: state.status,
    final: state.final,
    amount: order.amount,
    currency: CURRENCY,
    link: state.link,
    transId: state.transId,
    medium: state.medium,
    revenue: state.revenue,
    reason: state.reason,
    financialTransId: state.financialTransId,
    resolution: state.resolved && toResolution(state.resolved),
    externalId: order.externalId,
    userId: order.userId,
    metadata: order.metadata,
    createdAt: iso(state.createdAt),
    updatedAt: iso(state.updatedAt),
    expiresAt: state.expiresAt === undefined ? undefined : iso(state.expiresAt),
  };
}

function toResolution({ decision, by, why, at }: Resolved): PaymentResolution {
  const transId = decision.action === 'match' ? decision.transId : undefined;
  return { action: decision.action, transId, by, why, at: iso(at) };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
