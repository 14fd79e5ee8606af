import type { DirectOrder, LinkOrder, PaymentOrder, PayoutOrder } from '../payments/words/order.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { DirectPayRequest, InitiatePayRequest, PayoutRequest } from './schemas.js';

/** An order for a link, as the provider's `POST /initiate-pay` takes it. */
export function toInitiatePay(order: LinkOrder): InitiatePayRequest {
  return { ...common(order), email: order.email, redirectUrl: order.redirectUrl };
}

/** An order straight to a phone, as the provider's `POST /direct-pay` takes it. */
export function toDirectPay(order: DirectOrder): DirectPayRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), userId: userIdOf(order.id, true), phone, medium, name, email };
}

/** An order to pay out, as the provider's `POST /payout` takes it. */
export function toPayout(order: PayoutOrder): PayoutRequest {
  const { phone, medium, name, email } = order;
  return { ...common(order), phone, medium, name, email };
}

const DIRECT = '_direct';

/**
 * The userId of a payment's requests. A direct payment has another than its id: the same Idempotency-Key may have
 * requested a link before without starting a payment, and that link must not be taken for the result of a request to a
 * phone.
 */
export function userIdOf(paymentId: string, isDirect: boolean): string {
  return isDirect ? `${paymentId}${DIRECT}` : paymentId;
}

/** The payment that a request with this userId was for. */
export function paymentIdOf(userId: string): string {
  const id = userId.endsWith(DIRECT) ? userId.slice(0, -DIRECT.length) : userId;
  return parsePaymentId(id) ?? userId;
}

/**
 * The payment's own id is sent as externalId and as userId, so that `GET /transaction/{userId}` lists only this
 * payment's transactions, and stays short. The merchant's own externalId and userId are never sent.
 */
function common(order: PaymentOrder) {
  return { amount: order.amount, userId: order.id, externalId: order.id, message: order.message };
}
