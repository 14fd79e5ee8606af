import { Gauge, type Registry } from 'prom-client';
import type { PaymentId } from '../payments/words/payment-id.js';
import { HOUR_MS } from '../payments/words/time.js';
import { NOTIFIABLE_PAYMENTS, OPEN_REVIEWS, unfinishedQuery } from '../records/index-queries.js';
import type { ListedRun } from '../records/list-runs.js';
import { findPayment, type ReadContext } from './find-payment.js';
import { countPayments, listOldestFirst } from './oldest-first.js';
import { readPayment } from './read-payment.js';
import { shareAnswers } from './shared-answers.js';
import { unacknowledgedOf } from './unacknowledged.js';

/** A reading is reused for this long, in ms, however often Prometheus asks. */
const REUSED_MS = 60_000;

/** Time limit of one reading, in ms: Prometheus waits for ten seconds. */
const READING_LIMIT_MS = 5_000;

/** Time limit for one payment to say since when it has waited, in ms. */
const ANSWER_LIMIT_MS = 1_500;

/** A payment that has no outcome after this time is overdue, in ms: a link may be paid for a day. */
const UNFINISHED_AFTER_MS = 25 * HOUR_MS;

/** Largest number of payments that are asked since when they have waited: the oldest ones. */
const MAX_DATED = 200;

/** An answer is reused for this long, in ms: a payment's wait may end between two readings, and another begin. */
const DATED_MS = 10 * 60_000;

/** Payments that wait for something; `NaN` for what isn't known. */
interface Waiting {
  readonly count: number;
  /** Time since when the oldest has waited, in ms since the epoch; `undefined` when none does. */
  readonly oldest: number | undefined;
}

/** A kind of waiting. */
interface Wait {
  /** Finds payments that may wait, in Temporal's index. */
  readonly query: string;
  /**
   * Returns since when a payment has waited, in ms since the epoch; `undefined` when it doesn't, as the index may lag.
   */
  since(id: PaymentId): Promise<number | undefined>;
}

/**
 * Adds gauges of what payments wait for to a registry: a decision, a merchant's acknowledgement, an outcome. Temporal's
 * index counts them, and payments say since when. An unknown value is `NaN`, and not 0.
 */
export function measureWaiting(registry: Registry, context: ReadContext): void {
  const registers = [registry];
  const reviews = new WaitingReader(context, { query: OPEN_REVIEWS, since: (id) => inReviewSince(context, id) });
  const due = new WaitingReader(context, { query: NOTIFIABLE_PAYMENTS, since: (id) => undeliveredSince(context, id) });
  const unfinished = shareAnswers(
    () => countPayments(context.client, unfinishedQuery(Date.now() - UNFINISHED_AFTER_MS)).catch(() => Number.NaN),
    REUSED_MS,
  );
  new Gauge({
    name: 'sanaga_reviews_open',
    help: 'Payments in REVIEW that a person can decide, up to a minute ago; NaN when Temporal could not be asked. Every API process shows all of them: take the maximum',
    registers,
    async collect() {
      this.set((await reviews.read()).count);
    },
  });
  new Gauge({
    name: 'sanaga_review_oldest_age_seconds',
    help: 'For how long the oldest of them has waited for a person, in seconds; 0 without one, NaN when no payment could be asked. Among more than 200, those created first are asked',
    registers,
    async collect() {
      this.set(ageOf(await reviews.read()));
    },
  });
  new Gauge({
    name: 'sanaga_delivery_oldest_age_seconds',
    help: 'For how long the oldest notification has waited for its merchant to take it, in seconds; 0 without one, NaN when no payment could be asked. Among more than 200 payments, those created first are asked',
    registers,
    async collect() {
      this.set(ageOf(await due.read()));
    },
  });
  new Gauge({
    name: 'sanaga_payments_unfinished',
    help: 'Payments, not in REVIEW, that were created more than 25 hours ago and have no final status, up to a minute ago; NaN when Temporal could not be asked. Every API process shows all of them: take the maximum',
    registers,
    async collect() {
      this.set(await unfinished());
    },
  });
}

/** In seconds; 0 when nothing waits. */
function ageOf({ oldest }: Waiting): number {
  return oldest === undefined ? 0 : (Date.now() - oldest) / 1_000;
}

/** Tells since when a payment has been under review. */
async function inReviewSince(context: ReadContext, id: PaymentId): Promise<number | undefined> {
  const found = await findPayment(context, id);
  if (found === undefined) return undefined;
  const { payment } = await readPayment(context, found, ANSWER_LIMIT_MS);
  return payment.review && Date.parse(payment.review.since);
}

/** Tells since when a payment's merchant has not acknowledged a notification. */
async function undeliveredSince(context: ReadContext, id: PaymentId): Promise<number | undefined> {
  const [first] = await unacknowledgedOf(context, id, 'due', ANSWER_LIMIT_MS);
  return first?.notification.at;
}

/** Reads the payments' waits for all callers, at most once in {@link REUSED_MS}. */
class WaitingReader {
  readonly #since = new Map<PaymentId, { readonly at: number | undefined; readonly readAt: number }>();

  constructor(
    private readonly context: ReadContext,
    private readonly wait: Wait,
  ) {}

  readonly read = shareAnswers(
    () => this.#readNow().catch((): Waiting => ({ count: Number.NaN, oldest: Number.NaN })),
    REUSED_MS,
  );

  async #readNow(): Promise<Waiting> {
    const deadline = Date.now() + READING_LIMIT_MS;
    const { client } = this.context;
    const count = await countPayments(client, this.wait.query);
    const { runs, last } = await listOldestFirst(client, this.wait.query, MAX_DATED);
    const ids = new Set(runs.map(({ id }) => id));
    for (const id of this.#since.keys()) if (!ids.has(id)) this.#since.delete(id);
    return { count, oldest: await this.#oldest(runs, last !== undefined, deadline) };
  }

  /**
   * Returns since when the oldest has waited; `NaN` when none could be asked, `undefined` when the asked ones don't
   * wait. No payment waits before it was created: they are asked in that order, until the remaining ones were created
   * after a known time.
   */
  async #oldest(runs: readonly ListedRun[], hasMore: boolean, deadline: number): Promise<number | undefined> {
    let oldest: number | undefined;
    let isUnread = hasMore;
    for (const { id, indexed } of runs) {
      if (oldest !== undefined && indexed.createdAt > oldest) break;
      const known = this.#since.get(id);
      const isFresh = known !== undefined && Date.now() - known.readAt < DATED_MS;
      // One payment without an answer doesn't delay the others. Without a worker, none answers until the time is over.
      if (!isFresh && Date.now() < deadline) await this.#ask(id);
      const read = this.#since.get(id);
      if (read === undefined) isUnread = true;
      else if (read.at !== undefined) oldest = Math.min(oldest ?? read.at, read.at);
    }
    return oldest ?? (isUnread ? Number.NaN : undefined);
  }

  /** Asks a payment since when it has waited. When it doesn't answer, it is asked again the next time. */
  async #ask(id: PaymentId): Promise<void> {
    try {
      this.#since.set(id, { at: await this.wait.since(id), readAt: Date.now() });
    } catch {
      // Its earlier answer still holds.
    }
  }
}
