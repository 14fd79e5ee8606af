import { refuseNoObject, refuseNoSignal, refuseWrongMs, said } from './arguments.js';
import { askList, askPayment, pathOf } from './ask.js';
import { ApiError, ConnectionError, UnexpectedResponseError, WaitTimeoutError } from './errors.js';
import { listPayments, type PaymentList, type PaymentListOptions } from './payment-list.js';
import { pause, type RequestOptions, type Send } from './transport.js';
import type { ListParams, Payment, RejectParams, ResolveParams, RetrieveParams, TimelineEntry } from './types.js';

export interface WaitOptions {
  /** Time limit for the whole wait, in ms: 5 minutes by default. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Longest wait of the API, in seconds. */
const MAX_WAIT_SECONDS = 60;

/** Wait of one request, in seconds: less than the time limit of most proxies. */
const WAIT_SECONDS = 25;

/** The pause before the next request when one was answered before its time, in ms. */
const EARLY_PAUSE_MS = 1_000;

const OUTCOME_TIMEOUT_MS = 5 * 60_000;

export class Payments {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Returns a payment as it is now or, with `wait`, once it is final or that many seconds have passed. */
  retrieve(id: string, params: RetrieveParams = {}, options?: RequestOptions): Promise<Payment> {
    refuseNoObject('params', params);
    const { wait } = params;
    if (wait !== undefined && !(Number.isSafeInteger(wait) && wait >= 0 && wait <= MAX_WAIT_SECONDS)) {
      throw new TypeError(
        `wait must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}, and not ${said(wait)}`,
      );
    }
    const waiting = wait === undefined ? {} : { query: { wait: String(wait) }, waitMs: wait * 1_000 };
    const path = pathOf('payments', id);
    return askPayment(this.#send, { method: 'GET', path, changes: 'nothing', ...waiting }, options);
  }

  /**
   * Payments, newest first. Await it for one page, or iterate over it for all of them:
   *
   * @example
   * for await (const payment of sanaga.payments.list({ status: 'REVIEW' })) console.log(payment.id);
   */
  list(params: ListParams = {}, options: PaymentListOptions = {}): PaymentList {
    return listPayments(this.#send, params, options);
  }

  /** Asks the provider for the status now, within its rate limit, and returns the payment. */
  refresh(id: string, options?: RequestOptions): Promise<Payment> {
    const path = `${pathOf('payments', id)}/refresh`;
    return askPayment(this.#send, { method: 'POST', path, changes: 'nothing' }, options);
  }

  /**
   * Waits until a payment is final, whatever its outcome: look at its `status`. Once the payment was read, it keeps
   * waiting while Sanaga can't be reached.
   *
   * @throws {WaitTimeoutError} when it isn't final in time, with the payment as it was read last. Its outcome is still
   *   to come
   */
  async waitForOutcome(id: string, options: WaitOptions = {}): Promise<Payment> {
    refuseNoObject('options', options);
    const { timeoutMs = OUTCOME_TIMEOUT_MS, signal } = options;
    refuseNoSignal(signal);
    refuseWrongMs('timeoutMs', timeoutMs);
    const deadline = Date.now() + timeoutMs;
    const request = signal === undefined ? {} : { signal };
    let last = await this.retrieve(id, {}, request);
    while (!last.final) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new WaitTimeoutError(timeoutMs, last);
      const wait = Math.min(WAIT_SECONDS, Math.ceil(leftMs / 1_000));
      const begun = Date.now();
      try {
        last = await this.retrieve(id, { wait }, { ...request, maxRetries: 0 });
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
      const isEarly = !last.final && Date.now() - begun < EARLY_PAUSE_MS;
      if (isEarly) await pause(Math.min(EARLY_PAUSE_MS, Math.max(0, deadline - Date.now())), signal);
    }
    return last;
  }

  /** Lists the events of a payment, oldest first. */
  events(id: string, options?: RequestOptions): Promise<readonly TimelineEntry[]> {
    return askList(this.#send, `${pathOf('payments', id)}/events`, options);
  }

  /**
   * An operator's decision on a payment in REVIEW. It is sent once: after an {@link OutcomeUnknownError}, read the
   * payment. Where it takes two people, it is carried out when somebody else has made the same: until then, it is in
   * `review.proposed`.
   *
   * @throws {ConflictError} when it was refused: the message says why, and `payment` has the review as it is now
   */
  resolve(id: string, decision: ResolveParams, options?: RequestOptions): Promise<Payment> {
    refuseNoObject('decision', decision);
    const path = `${pathOf('payments', id)}/resolve`;
    const request = { method: 'POST', path, body: decision, changes: 'each time', paymentId: id } as const;
    return askPayment(this.#send, request, options);
  }

  /**
   * Voids the decision that waits for a second person: your own, to withdraw it, or somebody else's.
   *
   * @throws {ConflictError} when none waits, or the review has changed
   */
  rejectDecision(id: string, rejection: RejectParams, options?: RequestOptions): Promise<Payment> {
    refuseNoObject('rejection', rejection);
    const { review, why } = rejection;
    const path = `${pathOf('payments', id)}/resolve`;
    const body = { action: 'reject', review, why };
    const request = { method: 'POST', path, body, changes: 'each time', paymentId: id } as const;
    return askPayment(this.#send, request, options);
  }
}

/** Reports whether the error is an outage that may end soon, so that waiting pays. */
function isOutage(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const isAnswer = error instanceof ApiError || error instanceof UnexpectedResponseError;
  return isAnswer && (error.status >= 500 || error.status === 429 || error.status === 408);
}
