import type { PaymentOrder } from '../../payments/order.js';
import type { PaymentId, PaymentKind } from '../../payments/payment-id.js';
import type { Api } from '../api.js';
import { fingerprint } from '../fingerprint.js';
import { type ChosenId, choosePaymentId } from '../idempotency-key.js';
import { viewPayment } from '../payment-view.js';
import { beginPayment } from '../payments/begin-payment.js';
import { ApiError } from '../problem.js';
import type { Answer, KeyedCall } from '../route.js';

/**
 * Begins the payment that a request asks for, and answers: 201 for a new one, 200 for one that an earlier request had
 * begun, 202 when the provider takes its time.
 *
 * @throws {ApiError} `rejected_by_provider` with the provider's words, `idempotency_key_reused`,
 * `invalid_idempotency_key`, `temporarily_unavailable`.
 */
export async function answerBegun<Body>(
  kind: PaymentKind,
  toOrder: (id: PaymentId, body: Body) => PaymentOrder,
  call: KeyedCall<Body, unknown>,
  api: Api,
): Promise<Answer> {
  const { caller, body, record } = call;
  const { id, repeatable }: ChosenId = choosePaymentId(kind, caller.owner, call.headers('idempotency-key'));
  record.paymentId = id;
  const begun = await beginPayment(api, {
    order: toOrder(id, body),
    owner: caller.owner,
    fingerprint: fingerprint(body),
    requestId: record.id,
    repeatable,
  });

  const json = viewPayment(begun.payment, api.ui);
  const headers = { Location: `/v1/payments/${id}` };
  switch (begun.kind) {
    case 'new':
      return { status: 201, headers, json };
    case 'repeated':
      return { status: 200, headers: { ...headers, 'Idempotent-Replayed': 'true' }, json };
    case 'undecided':
      return { status: 202, headers, json };
    case 'rejected':
      throw new ApiError('rejected_by_provider', begun.rejection, { headers, payment: json });
  }
}
