import { parsePaymentId } from '../../payments/payment-id.js';
import type { Api } from '../api.js';
import { maySee } from '../authenticate.js';
import { paymentNotFound } from '../problem.js';
import type { KeyedCall } from '../route.js';
import { type Found, findPayment } from './find-payment.js';

/**
 * The payment that the address names, if it is one of the caller's. Another's is answered like one that doesn't exist.
 *
 * @throws {ApiError} `not_found`, `temporarily_unavailable`.
 */
export async function ownPayment(api: Api, call: KeyedCall<unknown, unknown>): Promise<Found> {
  const id = parsePaymentId(call.params.id);
  if (id === undefined) throw paymentNotFound();
  call.record.paymentId = id;

  const found = await findPayment(api, id);
  if (found === undefined || !maySee(call.caller, found.owner)) throw paymentNotFound();
  return found;
}
