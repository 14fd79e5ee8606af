import { Gauge, type Registry } from 'prom-client';
import type { Book } from '../book/book.js';
import { countOpen, type OpenPayments } from '../book/counts.js';
import { countUnacknowledged } from '../book/notifications.js';
import { HOUR_MS } from '../payments/words/time.js';
import { shareAnswers } from './shared-answers.js';

/** A reading is reused for this long, in ms, however often Prometheus asks. */
const REUSED_MS = 10_000;

/** A payment that has no outcome after this time is overdue, in ms: a link may be paid for a day. */
const UNFINISHED_AFTER_MS = 25 * HOUR_MS;

/** A payout that is held for its date for this long after it is overdue, in ms: its workflow should have moved on. */
const STUCK_AFTER_MS = HOUR_MS;

const SHARED = 'Every API process shows all of them: take the maximum';

/**
 * Adds gauges of what payments wait for to a registry: a decision, an approval, a date, a merchant's acknowledgement,
 * an outcome. While the book is away, all are `NaN`, and not 0.
 */
export function measureWaiting(registry: Registry, { book }: { readonly book: Book }): void {
  const open = shareAnswers(() => readOpen(book).catch(() => undefined), REUSED_MS);
  const deliveries = shareAnswers(() => oldestDelivery(book).catch(() => Number.NaN), REUSED_MS);
  const gauge = (name: string, help: string, of: (open: OpenPayments) => number) =>
    new Gauge({
      name,
      help: `${help}; NaN while the book is away. ${SHARED}`,
      registers: [registry],
      async collect() {
        const read = await open();
        this.set(read === undefined ? Number.NaN : of(read));
      },
    });
  gauge('sanaga_reviews_open', 'Payments in REVIEW, which a person has to decide', ({ reviews }) => reviews);
  gauge(
    'sanaga_review_oldest_age_seconds',
    'For how long the oldest of them has waited for a person, in seconds; 0 without one',
    ({ reviewedSince }) => ageOf(book, reviewedSince),
  );
  gauge(
    'sanaga_payments_unfinished',
    'Payments, not in REVIEW and not held, or held for a date that was over an hour ago, that were created more than 25 hours ago and have no final status',
    ({ unfinished }) => unfinished,
  );
  gauge(
    'sanaga_approval_oldest_age_seconds',
    'For how long the oldest payout has waited for an approval, in seconds; 0 without one',
    ({ unapprovedSince }) => ageOf(book, unapprovedSince),
  );
  gauge(
    'sanaga_approval_nearest_end_seconds',
    'How soon the first payout ends because nobody has approved it, in seconds; +Inf without one',
    ({ unapprovedUntil = Number.POSITIVE_INFINITY }) => (unapprovedUntil - book.now()) / 1_000,
  );
  new Gauge({
    name: 'sanaga_held_payouts',
    help: `Payouts that wait for an approval, or for their date; one that waits for both is in both. NaN while the book is away. ${SHARED}`,
    labelNames: ['for'],
    registers: [registry],
    async collect() {
      const { approvals = Number.NaN, dated = Number.NaN } = (await open()) ?? {};
      this.set({ for: 'approval' }, approvals);
      this.set({ for: 'date' }, dated);
    },
  });
  new Gauge({
    name: 'sanaga_delivery_oldest_age_seconds',
    help: `For how long the oldest notification has waited for its merchant to take it, in seconds; 0 without one, NaN while the book is away. ${SHARED}`,
    registers: [registry],
    async collect() {
      this.set(await deliveries());
    },
  });
}

function readOpen(book: Book): Promise<OpenPayments> {
  const now = book.now();
  return countOpen(book, now - UNFINISHED_AFTER_MS, now - STUCK_AFTER_MS);
}

async function oldestDelivery(book: Book): Promise<number> {
  const counts = await countUnacknowledged(book);
  const times = counts.flatMap(({ oldestAt }) => oldestAt ?? []);
  return times.length === 0 ? 0 : ageOf(book, Math.min(...times));
}

/** In seconds; 0 when nothing waits. */
function ageOf({ now }: Book, since: number | undefined): number {
  return since === undefined ? 0 : (now() - since) / 1_000;
}
