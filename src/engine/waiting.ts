import { Gauge, type Registry } from 'prom-client';
import type { PaymentId } from '../payments/words/payment-id.js';
import { HOUR_MS } from '../payments/words/time.js';
import { heldQuery, NOTIFIABLE_PAYMENTS, OPEN_REVIEWS, unfinishedQuery } from '../records/index-queries.js';
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

/** A payout that is held for its date for this long after it is overdue, in ms: its workflow should have moved on. */
const STUCK_AFTER_MS = HOUR_MS;

/** Largest number of payments that are asked since when they have waited: the oldest ones. */
const MAX_DATED = 200;

/** An answer is reused for this long, in ms: a payment's wait may end between two readings, and another begin. */
const DATED_MS = 10 * 60_000;

/** Payments that wait for something; `NaN` for what isn't known. */
interface Waiting {
  readonly count: number;
  /** The earliest time of them, in ms since the epoch; `undefined` when none waits. */
  readonly earliest: number | undefined;
}

/** A kind of waiting. */
interface Wait {
  /** Finds payments that may wait, in Temporal's index. */
  readonly query: string;
  /**
   * Returns since when a payment has waited, or until when it waits, in ms since the epoch; `undefined` when it
   * doesn't, as the index may lag.
   */
  timeOf(id: PaymentId): Promise<number | undefined>;
}

/**
 * Adds gauges of what payments wait for to a registry: a decision, an approval, a date, a merchant's acknowledgement,
 * an outcome. Temporal's index counts them, and payments say since when. An unknown value is `NaN`, and not 0.
 */
export function measureWaiting(registry: Registry, context: ReadContext): void {
  const registers = [registry];
  const reviews = new WaitingReader(context, { query: OPEN_REVIEWS, timeOf: (id) => inReviewSince(context, id) });
  const due = new WaitingReader(context, { query: NOTIFIABLE_PAYMENTS, timeOf: (id) => undeliveredSince(context, id) });
  measureHeld(registers, context);
  const unfinished = shareAnswers(
    () => countPayments(context.client, unfinishedBy(Date.now())).catch(() => Number.NaN),
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
    help: 'Payments, not in REVIEW and not held, or held for a date that was over an hour ago, that were created more than 25 hours ago and have no final status, up to a minute ago; NaN when Temporal could not be asked. Every API process shows all of them: take the maximum',
    registers,
    async collect() {
      this.set(await unfinished());
    },
  });
}

function unfinishedBy(now: number): string {
  return unfinishedQuery(now - UNFINISHED_AFTER_MS, now - STUCK_AFTER_MS);
}

/** Adds gauges of held payouts, and of the approvals that they wait for. */
function measureHeld(registers: Registry[], context: ReadContext): void {
  const query = heldQuery('approval');
  const approvals = new WaitingReader(context, { query, timeOf: async (id) => (await approvalOf(context, id))?.since });
  const ends = new WaitingReader(context, { query, timeOf: async (id) => (await approvalOf(context, id))?.until });
  const dated = shareAnswers(() => countPayments(context.client, heldQuery('date')).catch(() => Number.NaN), REUSED_MS);
  new Gauge({
    name: 'sanaga_held_payouts',
    help: 'Payouts that wait for an approval, or for their date, up to a minute ago; one that waits for both is in both. NaN when Temporal could not be asked. Every API process shows all of them: take the maximum',
    labelNames: ['for'],
    registers,
    async collect() {
      this.set({ for: 'approval' }, (await approvals.read()).count);
      this.set({ for: 'date' }, await dated());
    },
  });
  new Gauge({
    name: 'sanaga_approval_oldest_age_seconds',
    help: 'For how long the oldest payout has waited for an approval, in seconds; 0 without one, NaN when no payout could be asked. Among more than 200, those created first are asked',
    registers,
    async collect() {
      this.set(ageOf(await approvals.read()));
    },
  });
  new Gauge({
    name: 'sanaga_approval_nearest_end_seconds',
    help: 'How soon the first payout ends because nobody has approved it, in seconds; +Inf without one, NaN when no payout could be asked. Among more than 200, those created first are asked',
    registers,
    async collect() {
      const { earliest = Number.POSITIVE_INFINITY } = await ends.read();
      this.set((earliest - Date.now()) / 1_000);
    },
  });
}

/** In seconds; 0 when nothing waits. */
function ageOf({ earliest }: Waiting): number {
  return earliest === undefined ? 0 : (Date.now() - earliest) / 1_000;
}

/** Tells since when and until when a payout waits for an approval. */
async function approvalOf(
  context: ReadContext,
  id: PaymentId,
): Promise<{ readonly since: number; readonly until: number } | undefined> {
  const found = await findPayment(context, id);
  if (found === undefined) return undefined;
  const { held } = (await readPayment(context, found, ANSWER_LIMIT_MS)).payment;
  if (!held?.for.includes('approval')) return undefined;
  return { since: Date.parse(held.since), until: Date.parse(held.until) };
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
  readonly #times = new Map<PaymentId, { readonly at: number | undefined; readonly readAt: number }>();

  constructor(
    private readonly context: ReadContext,
    private readonly wait: Wait,
  ) {}

  readonly read = shareAnswers(
    () => this.#readNow().catch((): Waiting => ({ count: Number.NaN, earliest: Number.NaN })),
    REUSED_MS,
  );

  async #readNow(): Promise<Waiting> {
    const deadline = Date.now() + READING_LIMIT_MS;
    const { client } = this.context;
    const count = await countPayments(client, this.wait.query);
    const { runs, last } = await listOldestFirst(client, this.wait.query, MAX_DATED);
    const ids = new Set(runs.map(({ id }) => id));
    for (const id of this.#times.keys()) if (!ids.has(id)) this.#times.delete(id);
    return { count, earliest: await this.#earliest(runs, last !== undefined, deadline) };
  }

  /**
   * Returns the earliest time; `NaN` when none could be asked, `undefined` when the asked ones don't wait. No payment
   * waits before it was created: they are asked in that order, until the remaining ones were created after a known
   * time.
   */
  async #earliest(runs: readonly ListedRun[], hasMore: boolean, deadline: number): Promise<number | undefined> {
    let earliest: number | undefined;
    let isUnread = hasMore;
    for (const { id, indexed } of runs) {
      if (earliest !== undefined && indexed.createdAt > earliest) break;
      const known = this.#times.get(id);
      const isFresh = known !== undefined && Date.now() - known.readAt < DATED_MS;
      // One payment without an answer doesn't delay the others. Without a worker, none answers until the time is over.
      if (!isFresh && Date.now() < deadline) await this.#ask(id);
      const read = this.#times.get(id);
      if (read === undefined) isUnread = true;
      else if (read.at !== undefined) earliest = Math.min(earliest ?? read.at, read.at);
    }
    return earliest ?? (isUnread ? Number.NaN : undefined);
  }

  /** Asks a payment for its time. When it doesn't answer, it is asked again the next time. */
  async #ask(id: PaymentId): Promise<void> {
    try {
      this.#times.set(id, { at: await this.wait.timeOf(id), readAt: Date.now() });
    } catch {
      // Its earlier answer still holds.
    }
  }
}
