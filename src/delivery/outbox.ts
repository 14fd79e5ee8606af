import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { placeNotifications } from '../book/feed.js';
import { type Due, recordTry, takeDue } from '../book/outbox.js';
import { findPayment } from '../book/payments.js';
import { UnreadableRecordError } from '../book/versioned-json.js';
import { forMerchant, toPayment } from '../payments/views/to-payment.js';
import type { DeliveryOutcome } from '../payments/words/delivery.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isoTime, MINUTE_MS } from '../payments/words/time.js';
import type { MerchantNotifier } from './merchant.js';

export interface OutboxOptions {
  readonly book: Book;
  readonly merchant: MerchantNotifier;
  /** Tries at a time. */
  readonly slots: number;
  readonly logger: Logger;
  /** Puts a try into the trace of its payment. */
  readonly trace?: ((id: PaymentId, deliver: () => Promise<DeliveryOutcome>) => Promise<DeliveryOutcome>) | undefined;
  /** Called for each notification that nobody has taken for three days. */
  readonly onGivenUp?: (() => void) | undefined;
}

/** Pause between two looks while nothing is due, or all slots are taken, in ms: a merchant hears that much later. */
const LOOK_EVERY_MS = 200;

/** Between two warnings that something fails, in ms. */
const WARN_EVERY_MS = MINUTE_MS;

/**
 * Gives notifications their places in the feed, and delivers those that are due, until `stop` is aborted: tries that
 * are under way then are waited for. Any number of workers may do so at once. What dies with one is told by another.
 * Never rejects.
 */
export async function runOutbox(options: OutboxOptions, stop: AbortSignal): Promise<void> {
  await new Outbox(options).run(stop);
}

class Outbox {
  readonly #tries = new Set<Promise<void>>();
  readonly #byMerchant = new Map<string, number>();
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: OutboxOptions) {}

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const isMore = await this.#look().catch((error: unknown) => this.#warn(error, 'no merchant is notified'));
      if (!isMore) await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
    await Promise.all(this.#tries);
  }

  /** @returns whether there may be more that can be tried at once */
  async #look(): Promise<boolean> {
    await placeNotifications(this.options.book).catch((error: unknown) => this.#warn(error, 'feeds stand still'));
    const free = this.options.slots - this.#tries.size;
    if (free <= 0) return false;
    const taken = await takeDue(this.options.book, { free, byMerchant: this.#byMerchant }, this.options.book.now());
    for (const due of taken) this.#begin(due);
    return taken.length > 0;
  }

  #begin(due: Due): void {
    this.#count(due.merchant, 1);
    const trying = this.#try(due).finally(() => {
      this.#count(due.merchant, -1);
      this.#tries.delete(trying);
    });
    this.#tries.add(trying);
  }

  #count(merchant: string, change: 1 | -1): void {
    const tries = (this.#byMerchant.get(merchant) ?? 0) + change;
    if (tries === 0) this.#byMerchant.delete(merchant);
    else this.#byMerchant.set(merchant, tries);
  }

  /** What can't be written is tried again: the merchant drops what it knows. */
  async #try(due: Due): Promise<void> {
    const { book, trace = (_, deliver) => deliver(), onGivenUp } = this.options;
    try {
      const outcome = await trace(due.paymentId, () => this.#deliver(due));
      if (await recordTry(book, due, outcome, book.now())) onGivenUp?.();
    } catch (error) {
      this.#warn(error, 'a try to notify a merchant is not kept, and will be repeated');
    }
  }

  /** Tells the payment as it is now, which can be ahead of the event. */
  async #deliver(due: Due): Promise<DeliveryOutcome> {
    const { book, merchant, logger } = this.options;
    const { paymentId, id, type, at, takenBy } = due;
    try {
      const found = await findPayment(book, paymentId);
      if (found === undefined) throw new Error(`there is no payment ${paymentId}`);
      const payment = forMerchant(toPayment(found.kept.state));
      const notification = { id, type, timestamp: isoTime(at), merchant: due.merchant, payment, takenBy };
      return await merchant.notifyMerchant(notification);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      logger.error({ err: error, paymentId }, 'a payment can not be read, and its merchant is not notified');
      return { kind: 'failed', reason: UNREADABLE };
    }
  }

  #warn(error: unknown, what: string): false {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return false;
    this.#warnedAt = now;
    this.options.logger.warn({ err: error }, what);
    return false;
  }
}

/** Merchants read this text: the error itself is for the operator's log. */
const UNREADABLE = 'not sent: the worker could not read the payment, and its log says why';
