import { refuseNoObject, refuseNoSignal, refuseWrongMs, said } from './arguments.js';
import { ApiError, ConnectionError, UnexpectedResponseError, WaitTimeoutError } from './errors.js';
import { type EventList, listEvents } from './event-list.js';
import { listPayments, type PaymentList, type PaymentListOptions } from './payment-list.js';
import { type ClientOptions, createTransport, pause, type RequestOptions, type Send } from './transport.js';
import type {
  Balance,
  CollectionParams,
  CreatedPayment,
  EventListParams,
  ListParams,
  Notification,
  Payment,
  PaymentKind,
  PayoutParams,
  RejectParams,
  ResolveParams,
  RetrieveParams,
  Statement,
  StatementBeingMade,
  StatementList,
  StatementListParams,
  TimelineEntry,
  UnacknowledgedPage,
  UnacknowledgedParams,
  UnmatchedNotification,
} from './types.js';
import type { ApiRequest } from './write-request.js';

export interface CreateOptions extends RequestOptions {
  /**
   * One for each payment that you want to make, such as the order's number: 1 to 255 printable ASCII characters. Store
   * it before the call: with the same key, a repeated call never pays twice. Without one, the client makes a random
   * key, which is in the payment that is returned and in the {@link OutcomeUnknownError}, and lost if your process
   * dies.
   */
  readonly idempotencyKey?: string;
}

export interface WaitOptions {
  /** How long to wait altogether, in ms: 5 minutes by default. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * A client of Sanaga's API. It needs fetch and WebCrypto, and nothing else: Node 20 and later, and edge runtimes.
 *
 * @example
 * const sanaga = new Sanaga({ apiKey: process.env.SANAGA_API_KEY, baseUrl: 'https://sanaga.example' });
 * const payment = await sanaga.collections.create(
 *   { method: 'link', amount: 5000, externalId: 'order-1001' },
 *   { idempotencyKey: 'order-1001' },
 * );
 * redirect(payment.link);
 */
export class Sanaga {
  readonly collections: Collections;
  readonly payouts: Payouts;
  readonly payments: Payments;
  readonly notifications: Notifications;
  readonly events: Events;
  readonly balance: Balances;
  readonly statements: Statements;

  /** @throws {TypeError} for options that can't be right */
  constructor(options: ClientOptions) {
    const send = createTransport(options);
    this.collections = new Collections(send);
    this.payouts = new Payouts(send);
    this.payments = new Payments(send);
    this.notifications = new Notifications(send);
    this.events = new Events(send);
    this.balance = new Balances(send);
    this.statements = new Statements(send);
  }
}

class Collections {
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
}

class Payouts {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Sends money.
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
}

/** Seconds for which the API waits at most. */
const MAX_WAIT_SECONDS = 60;

/** Seconds for which one request waits: less than the time limit of most proxies. */
const WAIT_SECONDS = 25;

/** The pause before the next request when one was answered before its time, in ms. */
const EARLY_PAUSE_MS = 1_000;

const OUTCOME_TIMEOUT_MS = 5 * 60_000;

class Payments {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** A payment as it is now or, with `wait`, once it is final or that many seconds have passed. */
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

  /** What happened to a payment, oldest first. */
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

class Notifications {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** A payment's notifications to your webhook address, oldest first, and how far each has come. */
  list(paymentId: string, options?: RequestOptions): Promise<readonly Notification[]> {
    return askList(this.#send, `${pathOf('payments', paymentId)}/notifications`, options);
  }

  /** Sends a notification again, whatever became of it. */
  resend(paymentId: string, number: number, options?: RequestOptions): Promise<Payment> {
    if (!(Number.isSafeInteger(number) && number >= 1))
      throw new TypeError(`not the number of a notification: ${said(number)}`);
    const path = `${pathOf('payments', paymentId)}/notifications/${number}/resend`;
    return askPayment(this.#send, { method: 'POST', path, changes: 'once', paymentId }, options);
  }

  /**
   * For operators: notifications that merchants have not acknowledged yet, of a hundred payments at a time, the oldest
   * first.
   */
  listDue(params: UnacknowledgedParams = {}, options?: RequestOptions): Promise<UnacknowledgedPage> {
    return this.#listUnacknowledged('due', params, options);
  }

  /**
   * For operators: notifications that were given up, and not sent again, of a hundred payments at a time, the oldest
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
      expects: ['data', 'total', 'unread'],
    } as const;
    return (await this.#send<UnacknowledgedPage>(request, options)).body;
  }

  /** For operators: the provider's notifications that match no payment, newest first. */
  listUnmatched(options?: RequestOptions): Promise<readonly UnmatchedNotification[]> {
    return askList(this.#send, '/v1/notifications/unmatched', options);
  }
}

class Events {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Everything that you were to be notified of, oldest first. Await it for one page, or iterate over it for all that is
   * recorded by now. To catch up after an outage, begin with the `nextCursor` that you stored, or with a time:
   *
   * @example
   * for await (const event of sanaga.events.list({ since: '2026-11-14' })) await handle(event);
   */
  list(params: EventListParams = {}, options: RequestOptions = {}): EventList {
    return listEvents(this.#send, params, options);
  }
}

class Balances {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The balance of one of your services at the provider, in XAF, a few seconds old at most. */
  async retrieve(params: { readonly service: PaymentKind }, options?: RequestOptions): Promise<Balance> {
    refuseNoObject('params', params);
    const { service } = params;
    const request = {
      method: 'GET',
      path: '/v1/balance',
      query: { service },
      changes: 'nothing',
      expects: ['balance', 'currency'],
    } as const;
    return (await this.#send<Balance>(request, options)).body;
  }
}

class Statements {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The statements of days, newest first. For the next page, give the date of the last one as `before`. */
  async list(params: StatementListParams = {}, options?: RequestOptions): Promise<StatementList> {
    refuseNoObject('params', params);
    const { before, limit } = params;
    const query = { before, limit };
    const request = { method: 'GET', path: '/v1/statements', query, changes: 'nothing' } as const;
    return (await this.#send<StatementList>({ ...request, expects: ['data', 'hasMore'] }, options)).body;
  }

  /** The statement of a day, such as `2026-11-21`: the latest, or an earlier version. */
  async retrieve(
    date: string,
    params: { readonly version?: number } = {},
    options?: RequestOptions,
  ): Promise<Statement> {
    const expects = ['date', 'version', 'payments'];
    return (await this.#send<Statement>({ ...statementOf(date, params), expects }, options)).body;
  }

  /** The same as CSV, for a spreadsheet. */
  async retrieveCsv(
    date: string,
    params: { readonly version?: number } = {},
    options?: RequestOptions,
  ): Promise<string> {
    return (await this.#send<string>({ ...statementOf(date, params), expects: 'text/csv' }, options)).body;
  }

  /**
   * For operators: has the statement of a day made, or made again. It is there some seconds to an hour later.
   *
   * @returns the version that it will have
   */
  async make(date: string, options?: RequestOptions): Promise<StatementBeingMade> {
    const request = {
      method: 'POST',
      path: '/v1/statements',
      body: { date },
      changes: 'once',
      expects: ['date', 'version'],
    } as const;
    return (await this.#send<StatementBeingMade>(request, options)).body;
  }
}

/** @throws {TypeError} for what can't be a day, and could lead to another address. */
function statementOf(date: string, params: { readonly version?: number }) {
  refuseNoObject('params', params);
  if (typeof date !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(date)) throw new TypeError(`not a day: ${said(date)}`);
  const query = { version: params.version };
  return { method: 'GET', path: `/v1/statements/${date}`, query, changes: 'nothing' } as const;
}

/** What every payment has. */
const PAYMENT_FIELDS = ['id', 'status', 'final', 'amount'] as const;

async function askPayment(
  send: Send,
  request: Omit<ApiRequest, 'expects'>,
  options: RequestOptions | undefined,
): Promise<Payment> {
  return (await send<Payment>({ ...request, expects: PAYMENT_FIELDS }, options)).body;
}

async function askList<Item>(send: Send, path: string, options: RequestOptions | undefined): Promise<readonly Item[]> {
  const request = { method: 'GET', path, changes: 'nothing', expects: ['data'] } as const;
  return (await send<{ readonly data: readonly Item[] }>(request, options)).body.data;
}

/** As long as the API takes them; none can be empty, since that would count as none. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;

async function create(
  send: Send,
  path: string,
  params: CollectionParams | PayoutParams,
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

/** @throws {TypeError} for what can't be a payment's id, and could lead to another address. */
function pathOf(resource: 'collections' | 'payouts' | 'payments', id: string): string {
  if (typeof id !== 'string' || !/^(col|pay)_[\w-]+$/.test(id)) throw new TypeError(`not a payment's id: ${said(id)}`);
  return `/v1/${resource}/${id}`;
}

/** Whether it may be over soon, so that it is worth waiting. */
function isOutage(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const isAnswer = error instanceof ApiError || error instanceof UnexpectedResponseError;
  return isAnswer && (error.status >= 500 || error.status === 429 || error.status === 408);
}
