import type { DirectOrder, LinkOrder, PaymentOrder, PayoutOrder } from '../payments/order.js';
import type { DirectPayRequest, InitiatePayRequest, PayoutRequest } from './schemas.js';

/** An order for a link, as the provider's `POST /initiate-pay` takes it. */
export function toInitiatePay(order: LinkOrder): InitiatePayRequest {
  return { ...common(order), email: order.email, redirectUrl: order.redirectUrl };
}

/** An order straight to a phone, as the provider's `POST /direct-pay` takes it. */
export function toDirectPay(order: DirectOrder): DirectPayRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), phone, medium, name, email };
}

/** An order to pay out, as the provider's `POST /payout` takes it. */
export function toPayout(order: PayoutOrder): PayoutRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), phone, medium, name, email };
}

/**
 * The payment's own id is sent as externalId and as userId, so that `GET /transaction/{userId}` lists only this payment's
 * transactions, and stays short. The merchant's own externalId and userId are never sent.
 */
function common(order: PaymentOrder) {
  return { amount: order.amount, userId: order.id, externalId: order.id, message: order.message };
}
