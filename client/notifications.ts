import { refuseNoObject, said } from './arguments.js';
import { askList, askPayment, pathOf } from './ask.js';
import type { RequestOptions, Send } from './transport.js';
import type {
  Notification,
  Payment,
  UnacknowledgedPage,
  UnacknowledgedParams,
  UnmatchedNotification,
} from './types.js';

export class Notifications {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists a payment's notifications to your webhook address, oldest first, with the progress of each. */
  list(paymentId: string, options?: RequestOptions): Promise<readonly Notification[]> {
    return askList(this.#send, `${pathOf('payments', paymentId)}/notifications`, options);
  }

  /** Sends a notification again, whatever its status. */
  resend(paymentId: string, number: number, options?: RequestOptions): Promise<Payment> {
    if (!(Number.isSafeInteger(number) && number >= 1))
      throw new TypeError(`not the number of a notification: ${said(number)}`);
    const path = `${pathOf('payments', paymentId)}/notifications/${number}/resend`;
    return askPayment(this.#send, { method: 'POST', path, changes: 'once', paymentId }, options);
  }

  /**
   * For operators: lists notifications that merchants have not acknowledged yet, a hundred payments at a time, the
   * oldest first.
   */
  listDue(params: UnacknowledgedParams = {}, options?: RequestOptions): Promise<UnacknowledgedPage> {
    return this.#listUnacknowledged('due', params, options);
  }

  /**
   * For operators: lists notifications that were given up, and not sent again, a hundred payments at a time, the oldest
   * first.
   */
  listAbandoned(params: UnacknowledgedParams = {}, options?: RequestOptions): Promise<UnacknowledgedPage> {
    return this.#listUnacknowledged('abandoned', params, options);
  }

  async #listUnacknowledged(
    which: 'due' | 'abandoned',
    params: UnacknowledgedParams,
    options: RequestOptions | undefined,
  ): Promise<UnacknowledgedPage> {
    refuseNoObject('params', params);
    const { limit, cursor } = params;
    const request = {
      method: 'GET',
      path: `/v1/notifications/${which}`,
      query: { limit, cursor },
      changes: 'nothing',
      expects: ['data', 'total'],
    } as const;
    return (await this.#send<UnacknowledgedPage>(request, options)).body;
  }

  /** For operators: lists the provider's notifications that match no payment, newest first. */
  listUnmatched(options?: RequestOptions): Promise<readonly UnmatchedNotification[]> {
    return askList(this.#send, '/v1/notifications/unmatched', options);
  }
}
