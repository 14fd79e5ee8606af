import PQueue from 'p-queue';
import { type PaymentNotification, withNextTries } from '../payments/machine/notification.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { NOTIFIABLE_PAYMENTS, UNDELIVERED_PAYMENTS } from '../records/index-queries.js';
import { type ListedRun, toRun } from '../records/list-runs.js';
import type { Place } from '../records/places.js';
import { findInTemporal, type ReadContext } from './find-payment.js';
import { countPayments, listOldestFirst } from './oldest-first.js';
import { readPayment } from './read-payment.js';

/** A notification that its merchant has not acknowledged, with its payment as the index has it. */
export interface Unacknowledged
  extends Pick<ListedRun, 'id' | 'merchant'>,
    Pick<ListedRun['indexed'], 'kind' | 'status' | 'amount' | 'amountPaid'> {
  readonly notification: PaymentNotification;
}

/** Selects notifications that are still tried, or were given up. */
export type Unacknowledging = 'due' | 'abandoned';

/**
 * Queries for payments that may have one. Temporal's index doesn't know each delivery: that would cost every payment an
 * event.
 */
const QUERIES: Readonly<Record<Unacknowledging, string>> = {
  due: NOTIFIABLE_PAYMENTS,
  abandoned: UNDELIVERED_PAYMENTS,
};

export interface UnacknowledgedPage {
  /** Oldest payment first. */
  readonly data: readonly Unacknowledged[];
  /** Payments that may have one, on all pages. */
  readonly total: number;
  /** Payments that were asked. */
  readonly checked: number;
  /** Asked payments that could not answer in time. */
  readonly unread: number;
  /** The place after which the next page begins. */
  readonly last?: Place | undefined;
}

/** Payments that are asked at the same time. */
const CONCURRENCY = 10;

/** Time limit for one payment's answer, in ms. */
const ANSWER_LIMIT_MS = 2_000;

/**
 * Lists the notifications that merchants have not acknowledged, the oldest payments first. Payments that may have one
 * are asked.
 *
 * @param limit payments to ask; each is a call to a worker
 * @param after `last` of the page before
 * @throws {Unavailable} when the index can't be read.
 */
export async function listUnacknowledged(
  context: ReadContext,
  which: Unacknowledging,
  limit: number,
  after: Place | undefined,
): Promise<UnacknowledgedPage> {
  const total = await countPayments(context.client, QUERIES[which]);
  const { runs, last } = await listOldestFirst(context.client, QUERIES[which], limit, after);
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const ask = ({ id }: ListedRun) => unacknowledgedOf(context, id, which).catch(() => undefined);
  const answers = await queue.addAll(runs.map((run) => () => ask(run)));
  return {
    data: answers.flatMap((answer) => answer ?? []),
    total,
    checked: runs.length,
    unread: answers.filter((answer) => answer === undefined).length,
    last,
  };
}

/**
 * Lists the notifications that a payment's merchant has not acknowledged, oldest first.
 *
 * @param limitMs how long a running payment may take to answer, in ms
 */
export async function unacknowledgedOf(
  context: ReadContext,
  id: PaymentId,
  which: Unacknowledging,
  limitMs = ANSWER_LIMIT_MS,
): Promise<Unacknowledged[]> {
  const found = await findInTemporal(context, id);
  // A payment that has ended in the meantime sends nothing more.
  if (found === undefined || (which === 'due' && !found.running)) return [];
  const run = toRun(found.description.raw.workflowExecutionInfo ?? {});
  if (run === undefined) return [];
  const { kind, status, amount, amountPaid } = run.indexed;
  const { state } = await readPayment(context, found, limitMs);
  return withNextTries(state.notifications, Date.now())
    .filter(({ delivery }) => delivery.kind === which)
    .map((notification) => ({
      id,
      merchant: found.merchant,
      kind,
      status,
      amount,
      amountPaid,
      notification,
    }));
}
