import { refuseNoObject } from './arguments.js';
import { type EventList, listEvents } from './event-list.js';
import { Notifications } from './notifications.js';
import { Collections, Payouts } from './orders.js';
import { Payments } from './payments.js';
import { Statements } from './statements.js';
import { type ClientOptions, createTransport, type RequestOptions, type Send } from './transport.js';
import type { Balance, EventListParams, PaymentKind } from './types.js';

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

class Events {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Lists all notification events, oldest first. Await it for one page, or iterate over it for all events recorded so
   * far. To catch up after an outage, begin with the `nextCursor` that you stored, or with a time:
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

  /** Returns the balance of one of your services at the provider, in XAF, a few seconds old at most. */
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
