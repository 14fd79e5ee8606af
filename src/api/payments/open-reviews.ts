import { Gauge, type Registry } from 'prom-client';
import { type PaymentId, parsePaymentId } from '../../payments/payment-id.js';
import { currentState, findPayment, type ReadContext } from './find-payment.js';
import { callTemporal } from './temporal-calls.js';
import { OPEN_REVIEWS } from './visibility.js';

/** For how long what was read is shown again, in ms, however often Prometheus asks. */
const REUSED_MS = 60_000;

/** How long one reading may take, in ms: Prometheus waits for ten seconds. */
const READING_LIMIT_MS = 5_000;

/** How long one payment may take to say since when it has been under review, in ms. */
const ANSWER_LIMIT_MS = 1_500;

/** Payments that are asked for it; the count has no limit. */
const MAX_DATED = 200;

/** How long an answer holds, in ms: a payment may leave its review between two readings, and come under another. */
const DATED_MS = 10 * 60_000;

/** What a person has to decide; `NaN` for what isn't known. */
interface OpenReviews {
  readonly count: number;
  /** Since when the oldest has been open, in ms since the epoch; `undefined` when there is none. */
  readonly oldest: number | undefined;
}

/**
 * Adds the gauges of the open reviews to a registry. Temporal's index counts them, and each payment says once since when it
 * has been under review. What can't be found out is `NaN`, which is no number of reviews, and not 0.
 */
export function measureOpenReviews(registry: Registry, context: ReadContext): void {
  const registers = [registry];
  const reader = new ReviewReader(context);
  new Gauge({
    name: 'sanaga_reviews_open',
    help: 'Payments in REVIEW that a person can decide, up to a minute ago; NaN when Temporal could not be asked. Every API process shows all of them: take the maximum',
    registers,
    async collect() {
      this.set((await reader.read()).count);
    },
  });
  new Gauge({
    name: 'sanaga_review_oldest_age_seconds',
    help: 'Since when the oldest of them has waited for a person; 0 without one, NaN when no payment could be asked',
    registers,
    async collect() {
      const { oldest } = await reader.read();
      this.set(oldest === undefined ? 0 : (Date.now() - oldest) / 1_000);
    },
  });
}

/** Reads the open reviews for all who ask, at most once in {@link REUSED_MS}. */
class ReviewReader {
  readonly #since = new Map<PaymentId, { readonly at: number; readonly readAt: number }>();
  #shared: Promise<OpenReviews> | undefined;
  #freshUntil = 0;

  constructor(private readonly context: ReadContext) {}

  read(): Promise<OpenReviews> {
    if (this.#shared === undefined || Date.now() >= this.#freshUntil) {
      this.#freshUntil = Date.now() + REUSED_MS;
      this.#shared = this.#readNow().catch(() => ({ count: Number.NaN, oldest: Number.NaN }));
    }
    return this.#shared;
  }

  async #readNow(): Promise<OpenReviews> {
    const deadline = Date.now() + READING_LIMIT_MS;
    const { client } = this.context;
    const { count } = await callTemporal(client, () => client.workflow.count(OPEN_REVIEWS));
    const ids = count === 0 ? [] : await callTemporal(client, () => this.#list());
    for (const id of this.#since.keys()) if (!ids.includes(id)) this.#since.delete(id);
    for (const id of ids) {
      const known = this.#since.get(id);
      if (known !== undefined && Date.now() - known.readAt < DATED_MS) continue;
      // Without a worker nobody answers: those that are left are asked the next time.
      if (Date.now() >= deadline || !(await this.#ask(id))) break;
    }
    if (ids.length === 0) return { count, oldest: undefined };
    const dates = [...this.#since.values()].map(({ at }) => at);
    return { count, oldest: dates.length === 0 ? Number.NaN : Math.min(...dates) };
  }

  async #list(): Promise<PaymentId[]> {
    const ids: PaymentId[] = [];
    const runs = this.context.client.workflow.list({ query: OPEN_REVIEWS, pageSize: MAX_DATED });
    for await (const { workflowId } of runs) {
      const id = parsePaymentId(workflowId);
      if (id !== undefined) ids.push(id);
      if (ids.length === MAX_DATED) break;
    }
    return ids;
  }

  /** Asks a payment since when it has been under review. @returns `false` when it doesn't answer. */
  async #ask(id: PaymentId): Promise<boolean> {
    try {
      const found = await findPayment(this.context, id);
      if (found === undefined) return true;
      const { payment } = await currentState(this.context, found, ANSWER_LIMIT_MS);
      // The index may lag behind a decision.
      if (payment.review === undefined) this.#since.delete(id);
      else this.#since.set(id, { at: Date.parse(payment.review.since), readAt: Date.now() });
      return true;
    } catch {
      return false;
    }
  }
}
