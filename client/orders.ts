import { refuseNoObject } from './arguments.js';
import { askPayment, PAYMENT_FIELDS, pathOf } from './ask.js';
import type { RequestOptions, Send } from './transport.js';
import type {
  ApprovalParams,
  CollectionParams,
  CreatedPayment,
  Payment,
  PayoutParams,
  RefundParams,
  Refunds,
  RejectionParams,
} from './types.js';

export interface CreateOptions extends RequestOptions {
  /**
   * One for each payment that you want to make, such as the order's number: 1 to 255 printable ASCII characters. Store
   * it before the call: with the same key, a repeated call never pays twice. Without one, the client makes a random
   * key, which is in the payment that is returned and in the {@link OutcomeUnknownError}, and lost if your process
   * dies.
   */
  readonly idempotencyKey?: string;
}

export class Collections {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Collects money, by a link or on the payer's phone. A payment that comes back without `link` or `transId` hasn't
   * been answered by the provider yet: read it again later.
   *
   * @throws {PaymentRejectedError} when the provider rejected it
   * @throws {OutcomeUnknownError} when it isn't known whether the payment was created: repeat with its `idempotencyKey`
   */
  create(params: CollectionParams, options?: CreateOptions): Promise<CreatedPayment> {
    return create(this.#send, '/v1/collections', params, options);
  }

  /**
   * Ends a link now, or withdraws a collection that hasn't been sent. The payment isn't final yet when the provider
   * hasn't answered in time.
   *
   * @throws {ConflictError} when it was paid, or has ended otherwise: see `payment`
   */
  expire(id: string, options?: RequestOptions): Promise<Payment> {
    const path = `${pathOf('collections', id)}/expire`;
    return askPayment(this.#send, { method: 'POST', path, changes: 'once', paymentId: id }, options);
  }

  /**
   * Pays a collection back, whole or in part. The refund is a payout whose `refundOf` is the collection. It may wait
   * for an approval: see `held`.
   *
   * @throws {ConflictError} when the collection can't be refunded, or `refundable` isn't what you expected
   * @throws {LimitError} when it is more than what is left to refund: see `refundable`. Nothing was sent
   * @throws {PaymentRejectedError} when the provider rejected it
   * @throws {OutcomeUnknownError} when it isn't known whether the refund was created: repeat with its `idempotencyKey`,
   *   and with no other key
   */
  refund(id: string, params: RefundParams, options?: CreateOptions): Promise<CreatedPayment> {
    return create(this.#send, `${pathOf('collections', id)}/refunds`, params, options);
  }

  /** Returns the refunds of a collection, oldest first, and how much of it is refunded and can still be, in XAF. */
  async refunds(id: string, options?: RequestOptions): Promise<Refunds> {
    const path = `${pathOf('collections', id)}/refunds`;
    const request = { method: 'GET', path, changes: 'nothing', expects: ['data', 'refundable'] } as const;
    return (await this.#send<Refunds>(request, options)).body;
  }
}

export class Payouts {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Sends money: at once or, with `sendAt` or where another person has to approve it, once nothing is left that it
   * waits for. Until then, the payment is `held`.
   *
   * @throws {PaymentRejectedError} when the provider rejected it
   * @throws {OutcomeUnknownError} when it isn't known whether the payment was created: repeat with its
   *   `idempotencyKey`, and with no other key
   */
  create(params: PayoutParams, options?: CreateOptions): Promise<CreatedPayment> {
    return create(this.#send, '/v1/payouts', params, options);
  }

  /**
   * Withdraws a payout that hasn't been sent.
   *
   * @returns the payment. Only if it is FAILED and final was it withdrawn: otherwise, it is being sent at this moment
   * @throws {ConflictError} when it was sent, may have been, or has ended: see `payment`
   */
  cancel(id: string, options?: RequestOptions): Promise<Payment> {
    const path = `${pathOf('payouts', id)}/cancel`;
    return askPayment(this.#send, { method: 'POST', path, changes: 'once', paymentId: id }, options);
  }

  /**
   * Approves a payout that another person has ordered, by the `held.digest` of the payment that was read. It is sent
   * once: after an {@link OutcomeUnknownError}, read the payment.
   *
   * @throws {PermissionError} when it is your own
   * @throws {ConflictError} when the digest is another one, or the payout is held no longer: see `payment`
   */
  approve(id: string, approval: ApprovalParams, options?: RequestOptions): Promise<Payment> {
    refuseNoObject('approval', approval);
    const path = `${pathOf('payouts', id)}/approve`;
    const request = { method: 'POST', path, body: approval, changes: 'each time', paymentId: id } as const;
    return askPayment(this.#send, request, options);
  }

  /**
   * Rejects a payout that is held: it is FAILED, and was not sent. It is sent once: after an
   * {@link OutcomeUnknownError}, read the payment.
   *
   * @throws {ConflictError} when the payout is held no longer: see `payment`
   */
  reject(id: string, rejection: RejectionParams, options?: RequestOptions): Promise<Payment> {
    refuseNoObject('rejection', rejection);
    const path = `${pathOf('payouts', id)}/reject`;
    const request = { method: 'POST', path, body: rejection, changes: 'each time', paymentId: id } as const;
    return askPayment(this.#send, request, options);
  }
}

/** Matches keys up to the length that the API accepts; an empty one would count as none. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;

async function create(
  send: Send,
  path: string,
  params: CollectionParams | PayoutParams | RefundParams,
  given: CreateOptions = {},
): Promise<CreatedPayment> {
  refuseNoObject('params', params);
  refuseNoObject('options', given);
  const { idempotencyKey = crypto.randomUUID(), ...options } = given;
  // What isn't text, such as null, would be one key for every payment.
  if (typeof idempotencyKey !== 'string' || !IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw new TypeError('idempotencyKey must have 1 to 255 printable ASCII characters');
  }
  const { body, headers } = await send<Payment>(
    { method: 'POST', path, body: params, changes: 'once', idempotencyKey, expects: PAYMENT_FIELDS },
    options,
  );
  return { ...body, idempotencyKey, replayed: headers.get('idempotent-replayed') === 'true' };
}
