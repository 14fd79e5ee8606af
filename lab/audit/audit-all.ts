import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosContext } from '../chaos/context.js';
import type { Counts } from '../counts.js';
import { eachOf } from '../each-of.js';
import type { ApiClient, SeenPayment, SeenRefunds } from '../people/api-client.js';
import type { ObservedPayment } from '../people/observed-payment.js';
import { booksAt, readBooks, type Transaction } from '../world/provider-books.js';
import { audit } from './audit.js';
import type { BookAtEnd, Booked } from './booked.js';
import { type AuditCase, MAX_CLOCK_SKEW_MS, type Violation } from './case.js';
import { auditRefunds } from './refunds.js';

/** Payments read from the API at a time. */
const MAX_IN_FLIGHT = 32;

/** What a book that went back has lost of a payment. */
export type Loss = Pick<AuditCase, 'isLost' | 'isForgotten'>;

/** The audit's subjects, and its way of reading the API. */
export interface Evidence {
  readonly api: ApiClient;
  /** Counts how payments have ended. */
  readonly actions: Counts;
  readonly caseOf: (record: ObservedPayment, shown: SeenPayment | undefined, booked: Booked) => AuditCase;
  /** Transactions that were made for no payment of the run, by their ids. */
  readonly strays: readonly string[];
  /** Deliveries to the merchant whose signature or form was wrong. */
  readonly unreadable: readonly string[];
  /** Number of times that a payment is read until the API answers, and the pause between, in ms. */
  readonly maxTries: number;
  readonly pauseMs: number;
  readonly book: BookAtEnd;
}

/** Compares the provider's ledger with the book, every payment, and its merchant's notifications. */
export async function auditAll(records: readonly ObservedPayment[], evidence: Evidence): Promise<Violation[]> {
  const { actions, caseOf, strays, unreadable, book } = evidence;
  const violations: Violation[] = [...book.wrongSums];
  const cases: AuditCase[] = [];
  await eachOf(records, MAX_IN_FLIGHT, async (record) => {
    const shown = await read(record, evidence);
    const subject = caseOf(record, typeof shown === 'string' ? undefined : shown, book.of(record.planned.id));
    cases.push(subject);
    if (typeof shown !== 'string') {
      actions.add(`ended: ${shown?.status ?? 'unknown'}`);
      violations.push(...audit(subject));
    } else violations.push({ invariant: 'stuck', about: record.planned.id, what: shown });
  });
  const refunded = new Set(records.flatMap(({ planned }) => planned.refundOf ?? []));
  const sums = new Map<string, SeenRefunds>();
  await eachOf(cases, MAX_IN_FLIGHT, async ({ record: { planned } }) => {
    const seen = refunded.has(planned.id) ? await readRefunds(planned, evidence) : undefined;
    if (seen !== undefined) sums.set(planned.id, seen);
    else if (refunded.has(planned.id)) actions.add('refunds: unread');
  });
  violations.push(...auditRefunds(cases, sums));
  const ordered = new Set<string>(records.map(({ planned }) => planned.id));
  for (const about of book.ids) {
    if (!ordered.has(about)) violations.push({ invariant: 'misbooked', about, what: 'nobody has ordered it' });
  }
  for (const about of strays) violations.push({ invariant: 'lost', about, what: 'nobody asked for it' });
  for (const what of unreadable) violations.push({ invariant: 'notifiedWrong', about: 'merchant', what });
  return violations;
}

/** The payment, `undefined` if the API knows none, or why it can't be read. */
async function read(
  { planned }: ObservedPayment,
  { api, maxTries, pauseMs }: Evidence,
): Promise<SeenPayment | undefined | string> {
  for (let tries = 1; ; tries++) {
    const { status, payment, code } = await api.get(planned.owner, `/v1/payments/${planned.id}`);
    if (payment !== undefined || status === 404) return payment;
    if (tries === maxTries) return `it can't be read: ${status} ${code ?? ''}`;
    await pause(pauseMs);
  }
}

/** The refunds of a collection; `undefined` if they can't be read. */
async function readRefunds(
  { owner, id }: ObservedPayment['planned'],
  { api, maxTries, pauseMs }: Evidence,
): Promise<SeenRefunds | undefined> {
  for (let tries = 1; ; tries++) {
    const { refunds } = await api.get(owner, `/v1/collections/${id}/refunds`);
    if (refunds !== undefined || tries === maxTries) return refunds;
    await pause(pauseMs);
  }
}

/**
 * Audits a chaos run by the sandbox's books, once everything is quiet. Operators work until the end: nothing may still
 * be under review.
 *
 * @param unreadable deliveries to the merchant whose signature or form was wrong
 * @param lossOf what a book that went back has lost of a payment
 */
export async function auditByBooks(
  { api, actions, records, stack }: ChaosContext,
  unreadable: readonly string[],
  book: BookAtEnd,
  lossOf: (record: ObservedPayment) => Loss = () => ({}),
): Promise<Violation[]> {
  const { transactions: all, posts } = await readBooks(stack.sandboxUrl);
  const ids = new Set<string | undefined>(records.map(({ planned }) => planned.id));
  return await auditAll(records, {
    api,
    actions,
    caseOf: (record, shown, booked) => {
      const { id } = record.planned;
      const loss = lossOf(record);
      const transactions = all.filter(({ externalId }) => externalId === id);
      return {
        record: withTruth(record, shown, transactions, loss),
        shown,
        transactions,
        posts: posts.get(id) ?? 0,
        booked,
        ...loss,
      };
    },
    strays: all.filter(({ externalId }) => !ids.has(externalId)).map(({ transId }) => transId),
    unreadable,
    maxTries: 10,
    pauseMs: 1_000,
    book,
  });
}

/**
 * Completes the record by the books at the time of each statement. An end that was shown and then changed was wrong,
 * too, unless the book has lost it.
 */
function withTruth(
  record: ObservedPayment,
  shown: SeenPayment | undefined,
  transactions: readonly Transaction[],
  { isLost, isForgotten }: Loss,
): ObservedPayment {
  const truthAt = (time: number) => booksAt(transactions, time + MAX_CLOCK_SKEW_MS);
  const ends = new Set(record.shownEnds.map(({ status }) => status));
  const changed = isLost ? [] : [...ends].filter((status) => status !== shown?.status);
  return {
    ...record,
    notifications: record.notifications.map((one) => ({ ...one, truth: truthAt(one.at) })),
    shownEnds: record.shownEnds.map((one) => ({ ...one, truth: truthAt(one.at) })),
    wrongAnswers: [
      // Nobody can answer for what the book has forgotten.
      ...(isForgotten ? [] : record.wrongAnswers),
      ...changed.map((status) => `shown as ${status} for good, and now as ${shown?.status}`),
    ],
  };
}
