import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { RequestError } from 'got';
import type { Clock } from './clock.js';
import type { Entry, Notification, StatusChange } from './entry.js';
import { type Faults, siteOf } from './faults/faults.js';
import { type Delivery, planDeliveries } from './faults/plan-deliveries.js';
import type { Ledger } from './ledger.js';
import type { Log } from './log.js';
import { wireTransaction } from './wire-transaction.js';

/** Waits before the second and the third try, in ms of the sandbox's clock. There is no fourth. */
const RETRY_AFTER_MS = [1000, 5000] as const;

/** Connections to merchants at once; what is beyond waits. */
const CONNECTIONS = 64;

export interface WebhookSenderOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly faults: Faults;
  /** From a status change to its notification, in ms of the clock. */
  readonly delayMs: number;
  /** Most tries of one notification, 1 to 3. */
  readonly tries: number;
  /** How long a merchant may take to answer, in ms of real time. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/**
 * Tells a service's webhook address when a transaction becomes SUCCESSFUL, FAILED or EXPIRED: the Transaction as it
 * stood at that moment, with no credential. A 200 acknowledges it; anything else is tried again (the provider doesn't
 * say whether it does), and then given up.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #timers = new Set<() => void>();
  readonly #held = new Map<Entry, Set<() => void>>();
  readonly #stopping = new AbortController();
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: CONNECTIONS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: CONNECTIONS }),
  };
  readonly #underWay = new Set<Promise<void>>();
  readonly totals = { sent: 0, acknowledged: 0 };

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    // Every request under way listens to it.
    setMaxListeners(0, this.#stopping.signal);
    options.ledger.onChange((entry, change) => this.#announce(entry, change));
  }

  /**
   * Goes on with what an earlier run still owed to an address: its truth as it is now, without what faults had made of
   * it, once more if the answer to the last try was lost with that run.
   */
  resume(entries: readonly Entry[]): void {
    for (const entry of entries) {
      for (const notification of entry.notifications) {
        const dueMs = owedAt(notification, this.#options.tries);
        if (dueMs === undefined) continue;
        const { status, faults } = notification;
        const body = JSON.stringify(wireTransaction(entry, { as: status }));
        const delivery = { status, body, delayMs: 0, genuine: true, faults };
        this.#later(dueMs, () => this.#try(entry, delivery, notification));
      }
    }
  }

  /** Resolves once nothing that was due is still on its way. */
  async quiet(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Gives up everything that is on its way or was to be sent. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#stopping.abort();
    await this.quiet();
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  #announce(entry: Entry, { status, at }: StatusChange): void {
    if (entry.webhook === undefined || status === 'CREATED' || status === 'PENDING') return;
    const { faults, delayMs } = this.#options;
    const site = siteOf('webhook', entry);
    const striking = faults.onWebhook(site);
    const skews = faults.onShowing(site, 'clockSkew');
    for (const { fault } of [...striking, ...skews]) faults.record(fault, entry);
    const skewMs = skews.reduce((sum, skew) => sum + (skew.fault === 'clockSkew' ? skew.skewMs : 0), 0);

    const earlier = this.#held.get(entry) ?? new Set();
    this.#held.delete(entry);
    const deliveries = planDeliveries(wireTransaction(entry, { skewMs }), striking);
    for (const delivery of deliveries)
      this.#schedule(entry, delivery, at + delayMs + delivery.delayMs, earlier);
    if (deliveries.some(({ genuine }) => genuine)) return;
    entry.notifications.push({ status, at, faults: ['webhookDrop'], tries: [], acknowledged: false });
  }

  /** Sends at `dueMs`, and then whatever `earlier` ones were held back for it. */
  #schedule(entry: Entry, delivery: Delivery, dueMs: number, earlier: ReadonlySet<() => void>): void {
    const { status, faults } = delivery;
    const notification: Notification = { status, at: dueMs, faults, tries: [], acknowledged: false };
    entry.notifications.push(notification);
    let gone = false;
    const go = async () => {
      if (gone) return;
      gone = true;
      await this.#try(entry, delivery, notification);
      for (const release of earlier) release();
    };
    const cancel = this.#later(dueMs + (delivery.heldMs ?? 0), go);
    if (delivery.heldMs === undefined) return;
    const release = () => {
      cancel();
      this.#run(go);
    };
    const held = this.#held.get(entry) ?? new Set();
    this.#held.set(entry, held.add(release));
  }

  async #try(entry: Entry, delivery: Delivery, notification: Notification): Promise<void> {
    const { clock, tries, log } = this.#options;
    const answer = await this.#post(entry.webhook ?? '', delivery.body);
    if (this.#stopping.signal.aborted) return;
    notification.tries.push({ at: clock.now(), answer });
    this.totals.sent++;
    log('notified', { transId: entry.transId, status: delivery.status, answer, faults: delivery.faults });
    if (answer === 200) {
      notification.acknowledged = true;
      this.totals.acknowledged++;
    }
    this.#options.ledger.keep(entry);
    if (notification.acknowledged) return;
    const wait = RETRY_AFTER_MS[notification.tries.length - 1];
    if (!delivery.genuine || wait === undefined || notification.tries.length >= tries) return;
    this.#later(clock.now() + wait, () => this.#try(entry, delivery, notification));
  }

  /** What the address answered: its status code, or what went wrong on the way. */
  async #post(url: string, body: string): Promise<number | string> {
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
    const running = run().finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }
}

/** When a notification's next try is due, in ms of the clock; `undefined` when there is none to come. */
function owedAt({ at, faults, tries, acknowledged }: Notification, most: number): number | undefined {
  if (acknowledged || faults.includes('webhookDrop') || faults.includes('webhookForge')) return undefined;
  const last = tries.at(-1);
  if (last === undefined) return at;
  const wait = RETRY_AFTER_MS[tries.length - 1];
  return wait === undefined || tries.length >= most ? undefined : last.at + wait;
}
