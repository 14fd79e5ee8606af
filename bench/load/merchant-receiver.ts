import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { type Incoming, type Serving, serve } from './http.js';

const notificationSchema = z.object({ data: z.object({ id: z.string(), status: z.string() }) });

/** The first notification of a payment. */
export interface Arrival {
  /** In ms of `performance.now()`. */
  readonly at: number;
  readonly status: string;
  /** Its `webhook-id`. */
  readonly notification: string;
}

/**
 * The merchant's address for notifications: it verifies each as Standard Webhooks says, and acknowledges it. Each
 * payment may notify of one event. That one may come again, since no sender can know whether a lost response was sent.
 */
export class MerchantReceiver {
  readonly complaints: string[] = [];
  /** Notifications that came again. */
  repeated = 0;
  readonly #verifier: Webhook;
  readonly #arrivals = new Map<string, Arrival>();
  readonly #waiting = new Map<string, (arrival: Arrival) => void>();

  constructor(secret: string) {
    this.#verifier = new Webhook(secret);
  }

  listen(): Promise<Serving> {
    return serve((request) => this.#take(request));
  }

  /** Resolves with the payment's first notification, or with `undefined` when there was none within `limitMs`. */
  async arrivalOf(payment: string, limitMs: number): Promise<Arrival | undefined> {
    const already = this.#arrivals.get(payment);
    if (already !== undefined) return already;
    return await new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs, undefined);
      this.#waiting.set(payment, (arrival) => {
        clearTimeout(timer);
        resolve(arrival);
      });
    });
  }

  /** Forgets everything. */
  clear(): void {
    this.#arrivals.clear();
    this.#waiting.clear();
    this.complaints.length = 0;
    this.repeated = 0;
  }

  #take({ headers, body }: Incoming) {
    const at = performance.now();
    try {
      const of = (name: string) => String(headers[name] ?? '');
      const { data } = notificationSchema.parse(
        this.#verifier.verify(body, {
          'webhook-id': of('webhook-id'),
          'webhook-timestamp': of('webhook-timestamp'),
          'webhook-signature': of('webhook-signature'),
        }),
      );
      const arrival = { at, status: data.status, notification: of('webhook-id') };
      const before = this.#arrivals.get(data.id);
      if (before === undefined) this.#arrivals.set(data.id, arrival);
      else this.#compare(data.id, before, arrival);
      this.#waiting.get(data.id)?.(arrival);
      this.#waiting.delete(data.id);
      return { status: 200, json: { received: true } };
    } catch (error) {
      this.complaints.push(`the merchant refused a notification: ${error instanceof Error ? error.message : error}`);
      return { status: 400, json: { received: false } };
    }
  }

  #compare(payment: string, before: Arrival, now: Arrival): void {
    this.repeated++;
    if (before.notification === now.notification && before.status === now.status) return;
    this.complaints.push(
      `the merchant was told ${before.status} (${before.notification}), then ${now.status} (${now.notification}) of ${payment}`,
    );
  }
}
