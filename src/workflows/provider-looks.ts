import { lookAllowedAt, recordLook } from '../payments/machine/plan.js';
import type { ListAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { TransId } from '../payments/words/payment-id.js';
import { type PaymentState, transIdOf } from '../payments/words/payment-state.js';
import type { ActivityCalls } from './activity-calls.js';
import type { ProviderView } from './messages.js';

/**
 * Operators who look at what the provider shows of a payment. They are answered when the payment has nothing else to
 * do.
 */
export class ProviderLooks {
  readonly #provider: ActivityCalls;
  readonly #waiting: ((view: ProviderView) => void)[] = [];
  /** The latest status that the payment has seen, whoever asked for it. */
  #seen: ProviderView['status'];

  constructor(provider: ActivityCalls) {
    this.#provider = provider;
  }

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  look(): Promise<ProviderView> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  see(transId: TransId, answer: StatusAnswer): void {
    if (answer.kind === 'found' || answer.kind === 'unknown') this.#seen = { transId, answer, at: Date.now() };
  }

  /** Asks the provider for those who wait. @returns the payment, in whose budget the questions count */
  async answer(payment: PaymentState): Promise<PaymentState> {
    const waiting = this.#waiting.splice(0);
    const list = { answer: await this.#list(payment), at: Date.now() };
    let after = recordLook(payment, list.answer, list.at);
    const transId = transIdOf(after);
    let status = transId && this.#statusWithoutAsking(after, transId);
    if (transId !== undefined && status === undefined) {
      const answer = await this.#provider.askStatus(after.order, transId);
      status = { transId, answer, at: Date.now() };
      after = recordLook(after, answer, status.at, transId);
      this.see(transId, answer);
    }
    for (const reply of waiting) reply({ list, status });
    return after;
  }

  async #list({ order, quietUntil = 0 }: PaymentState): Promise<ListAnswer> {
    const retryAfterMs = quietUntil - Date.now();
    return retryAfterMs > 0 ? { kind: 'throttled', retryAfterMs, isOurs: true } : await this.#provider.lookUp(order);
  }

  /** `undefined` when the provider may be asked now. */
  #statusWithoutAsking(payment: PaymentState, transId: TransId): ProviderView['status'] {
    const now = Date.now();
    const retryAfterMs = lookAllowedAt(payment, transId, now) - now;
    if (retryAfterMs <= 0) return undefined;
    if (this.#seen?.transId === transId) return this.#seen;
    return { transId, answer: { kind: 'throttled', retryAfterMs, isOurs: true }, at: now };
  }
}
