import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { Gauge, type Registry } from 'prom-client';
import { type PaymentId, parsePaymentId } from '../../payments/payment-id.js';
import { pagesOf } from '../../temporal/list-workflows.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import { shareAnswers } from '../shared-answers.js';
import { currentState, findPayment, type ReadContext } from './find-payment.js';
import { callTemporal } from './temporal-calls.js';
import { OPEN_REVIEWS } from './visibility.js';

/** For how long what was read is shown again, in ms, however often Prometheus asks. */
const REUSED_MS = 60_000;

/** How long one reading may take, in ms: Prometheus waits for ten seconds. */
const READING_LIMIT_MS = 5_000;

/** How long one payment may take to say since when it has been under review, in ms. */
const ANSWER_LIMIT_MS = 1_500;

/** Payments that one call to Temporal lists, and that are listed at most; the count has no limit. */
const LISTED_AT_ONCE = 250;
const MAX_LISTED = 10_000;

/** Payments that are asked since when they have been under review: of those that are listed, the ones that were created first. */
const MAX_DATED = 200;

/** How long an answer holds, in ms: a payment may leave its review between two readings, and come under another. */
const DATED_MS = 10 * 60_000;

/** What a person has to decide; `NaN` for what isn't known. */
interface OpenReviews {
  readonly count: number;
  /** Since when the oldest has been open, in ms since the epoch; `undefined` when there is none. */
  readonly oldest: number | undefined;
}

/** A payment under review, as the index has it. */
interface Listed {
  readonly id: PaymentId;
  /** ms since the epoch. */
  readonly createdAt: number;
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
    help: 'For how long the oldest of them has waited for a person, in seconds; 0 without one, NaN when no payment could be asked. Among more than 200, those created first are asked',
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

  constructor(private readonly context: ReadContext) {}

  readonly read = shareAnswers(
    () => this.#readNow().catch((): OpenReviews => ({ count: Number.NaN, oldest: Number.NaN })),
    REUSED_MS,
  );

  async #readNow(): Promise<OpenReviews> {
    const deadline = Date.now() + READING_LIMIT_MS;
    const { client } = this.context;
    const { count } = await callTemporal(client, () => client.workflow.count(OPEN_REVIEWS));
    const listed = count === 0 ? [] : await this.#list();
    const ids = new Set(listed.map(({ id }) => id));
    for (const id of this.#since.keys()) if (!ids.has(id)) this.#since.delete(id);
    return { count, oldest: listed.length === 0 ? undefined : await this.#oldest(listed, deadline) };
  }

  /**
   * Since when the oldest has been open; `NaN` when none could be asked. No payment is under review before it was created: they are
   * asked in that order, until those that are left were created after a review that is known.
   */
  async #oldest(listed: readonly Listed[], deadline: number): Promise<number> {
    let oldest = Number.NaN;
    for (const { id, createdAt } of listed.slice(0, MAX_DATED)) {
      if (createdAt > oldest) break;
      const known = this.#since.get(id);
      const isFresh = known !== undefined && Date.now() - known.readAt < DATED_MS;
      // One that can't answer doesn't keep the others from it. Without a worker, none does until the time is over.
      if (!isFresh && Date.now() < deadline) await this.#ask(id);
      const at = this.#since.get(id)?.at;
      if (at !== undefined && !(at >= oldest)) oldest = at;
    }
    return oldest;
  }

  /** The payments under review, those created first at the beginning. Temporal lists the newest first, and in no other order. */
  async #list(): Promise<Listed[]> {
    const { client } = this.context;
    const listed: Listed[] = [];
    const request = { query: OPEN_REVIEWS, pageSize: LISTED_AT_ONCE };
    for await (const { executions } of pagesOf(client, request, (list) => callTemporal(client, list))) {
      for (const { execution, searchAttributes } of executions) {
        const id = parsePaymentId(execution?.workflowId);
        const createdAt = decodeTypedSearchAttributes(searchAttributes?.indexedFields).get(
          attributes.createdAt,
        );
        if (id !== undefined) listed.push({ id, createdAt: createdAt ?? 0 });
      }
      if (listed.length >= MAX_LISTED) break;
    }
    return listed.sort((one, other) => one.createdAt - other.createdAt);
  }

  /** Asks a payment since when it has been under review. When it doesn't answer, it is asked again the next time. */
  async #ask(id: PaymentId): Promise<void> {
    try {
      const found = await findPayment(this.context, id);
      if (found === undefined) return;
      const { payment } = await currentState(this.context, found, ANSWER_LIMIT_MS);
      // The index may lag behind a decision.
      if (payment.review === undefined) this.#since.delete(id);
      else this.#since.set(id, { at: Date.parse(payment.review.since), readAt: Date.now() });
    } catch {
      // What was known of it before still holds.
    }
  }
}
