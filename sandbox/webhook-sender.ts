import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { RequestError } from 'got';
import type { Clock } from './clock.js';
import { type Entry, type Notification, type StatusChange, wireTransaction } from './entry.js';
import { type FaultInjector, injectionPoint } from './faults/fault-injector.js';
import { planDeliveries, type WebhookDelivery } from './faults/webhook-faults.js';
import type { Ledger } from './ledger.js';
import type { Log } from './log.js';

/** Delays before the second and third try, in ms of the sandbox's clock. There is no fourth. */
const RETRY_DELAYS_MS = [1000, 5000] as const;

/** Maximum number of concurrent connections to merchants. */
const MAX_CONNECTIONS = 64;

export interface WebhookSenderOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly faults: FaultInjector;
  /** From a status change to its notification, in ms of the clock. */
  readonly delayMs: number;
  /** Maximum number of tries of one notification, 1 to 3. */
  readonly maxTries: number;
  /** A merchant's time limit to respond, in real ms. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/**
 * Notifies a service's webhook address when a transaction becomes SUCCESSFUL, FAILED or EXPIRED. The body is the
 * Transaction at that moment; there are no credentials. A 200 acknowledges it; after anything else the sandbox tries
 * again up to the limit (the provider doesn't document whether it does).
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #timers = new Set<() => void>();
  readonly #held = new Map<Entry, Set<() => void>>();
  readonly #stopping = new AbortController();
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MAX_CONNECTIONS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MAX_CONNECTIONS }),
  };
  readonly #sending = new Set<Promise<void>>();
  readonly totals = { sent: 0, acknowledged: 0 };

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    // Every request in progress listens to it.
    setMaxListeners(0, this.#stopping.signal);
    options.ledger.onChange((entry, change) => this.#notify(entry, change));
  }

  /**
   * Sends the notifications that an earlier run still had to send, without the effects of faults. One whose response
   * was lost with that run is sent again.
   */
  resume(entries: readonly Entry[]): void {
    for (const entry of entries) {
      for (const notification of entry.notifications) {
        const dueMs = nextTryAt(notification, this.#options.maxTries);
        if (dueMs === undefined) continue;
        const { status, faults } = notification;
        const body = JSON.stringify(wireTransaction(entry, { as: status }));
        const delivery = { status, body, delayMs: 0, isGenuine: true, faults };
        this.#later(dueMs, () => this.#try(entry, delivery, notification));
      }
    }
  }

  /** Resolves when no notification is being sent. */
  async quiet(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  /** Aborts the notifications being sent and cancels those to come. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#stopping.abort();
    await this.quiet();
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  #notify(entry: Entry, { status, at }: StatusChange): void {
    if (entry.webhook === undefined || status === 'CREATED' || status === 'PENDING') return;
    const { faults, delayMs } = this.#options;
    const point = injectionPoint('webhook', entry);
    const webhookFaults = faults.webhookFaults(point);
    const skews = faults.contentFaults(point, 'clockSkew');
    for (const { fault } of [...webhookFaults, ...skews]) faults.record(fault, entry);
    const skewMs = skews.reduce((sum, skew) => sum + skew.skewMs, 0);

    const earlier = this.#held.get(entry) ?? new Set();
    this.#held.delete(entry);
    const deliveries = planDeliveries(wireTransaction(entry, { skewMs }), webhookFaults);
    for (const delivery of deliveries) this.#schedule(entry, delivery, at + delayMs + delivery.delayMs, earlier);
    if (deliveries.some(({ isGenuine }) => isGenuine)) return;
    entry.notifications.push({ status, at, faults: ['webhookDrop'], tries: [], acknowledged: false });
  }

  /** Sends a delivery at `dueMs`, then the `earlier` ones that were held back until then. */
  #schedule(entry: Entry, delivery: WebhookDelivery, dueMs: number, earlier: ReadonlySet<() => void>): void {
    const { status, faults } = delivery;
    const notification: Notification = { status, at: dueMs, faults, tries: [], acknowledged: false };
    entry.notifications.push(notification);
    let sent = false;
    const send = async () => {
      if (sent) return;
      sent = true;
      await this.#try(entry, delivery, notification);
      for (const release of earlier) release();
    };
    const cancel = this.#later(dueMs + (delivery.heldMs ?? 0), send);
    if (delivery.heldMs === undefined) return;
    const release = () => {
      cancel();
      this.#run(send);
    };
    const held = this.#held.get(entry) ?? new Set();
    this.#held.set(entry, held.add(release));
  }

  async #try(entry: Entry, delivery: WebhookDelivery, notification: Notification): Promise<void> {
    const { clock, maxTries, ledger, log } = this.#options;
    const answer = await this.#post(entry.webhook ?? '', delivery.body);
    if (this.#stopping.signal.aborted) return;
    notification.tries.push({ at: clock.now(), answer });
    this.totals.sent++;
    log('notified', { transId: entry.transId, status: delivery.status, answer, faults: delivery.faults });
    if (answer === 200) {
      notification.acknowledged = true;
      this.totals.acknowledged++;
    }
    ledger.save(entry);
    if (notification.acknowledged) return;
    const delayMs = RETRY_DELAYS_MS[notification.tries.length - 1];
    if (!delivery.isGenuine || delayMs === undefined || notification.tries.length >= maxTries) return;
    this.#later(clock.now() + delayMs, () => this.#try(entry, delivery, notification));
  }

  /** Sends a notification. Returns the status code of the response, or the code of the error. */
  async #post(url: string, body: string | Buffer): Promise<number | string> {
    try {
      const response = await got.post(url, {
        body,
        headers: { 'content-type': 'application/json' },
        agent: this.#agents,
        followRedirect: false,
        retry: { limit: 0 },
        throwHttpErrors: false,
        timeout: { request: this.#options.timeoutMs },
        signal: this.#stopping.signal,
      });
      return response.statusCode;
    } catch (error) {
      return error instanceof RequestError ? error.code : 'unknown error';
    }
  }

  #later(timeMs: number, run: () => Promise<void>): () => void {
    const cancel = this.#options.clock.at(timeMs, () => {
      this.#timers.delete(cancel);
      this.#run(run);
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  #run(run: () => Promise<void>): void {
    const running = run().finally(() => this.#sending.delete(running));
    this.#sending.add(running);
  }
}

/** Returns the time of a notification's next try, in ms of the clock; `undefined` when there is none. */
function nextTryAt({ at, faults, tries, acknowledged }: Notification, maxTries: number): number | undefined {
  if (acknowledged || faults.includes('webhookDrop') || faults.includes('webhookForge')) return undefined;
  const last = tries.at(-1);
  if (last === undefined) return at;
  const delayMs = RETRY_DELAYS_MS[tries.length - 1];
  return delayMs === undefined || tries.length >= maxTries ? undefined : last.at + delayMs;
}
