import PQueue from 'p-queue';
import { type PaymentNotification, withNextTries } from '../../payments/notification.js';
import type { PaymentStatus } from '../../payments/payment.js';
import type { PaymentId, PaymentKind } from '../../payments/payment-id.js';
import { type ListedRun, TOLD_PAYMENTS } from '../../records/list-runs.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import { notificationsQuery } from '../../workflows/messages.js';
import { askRunning, findPayment, type ReadContext } from './find-payment.js';
import { countPayments, listOldestFirst } from './oldest-first.js';
import type { Place } from './places.js';

/** A notification that its merchant has yet to acknowledge, with its payment as the index has it. */
export interface DueDelivery {
  readonly id: PaymentId;
  readonly merchant: string;
  readonly kind: PaymentKind;
  readonly status: PaymentStatus;
  /** XAF */
  readonly amount: number;
  readonly amountPaid?: number | undefined;
  readonly notification: PaymentNotification;
}

export interface DueDeliveries {
  /** Those of the payment that was created first at the beginning. */
  readonly due: readonly DueDelivery[];
  /** Payments that may have one, on all pages. */
  readonly total: number;
  /** Payments that were asked. */
  readonly checked: number;
  /** Those of them that could not answer in time. */
  readonly unread: number;
  /** The place after which there are more payments that may have one. */
  readonly last?: Place | undefined;
}

/** Payments that are asked at the same time. */
const CONCURRENCY = 10;

/** How long one payment may take to answer, in ms. */
const ANSWER_LIMIT_MS = 2_000;

/**
 * The notifications that merchants have yet to acknowledge, of the payments that were created first. Temporal's index doesn't know
 * them, since to write each delivery there would cost every payment an event: so the payments that may have one are asked.
 *
 * @param limit payments to ask; each is a call to a worker
 * @param after `last` of the page before
 * @throws {ApiError} `temporarily_unavailable` when the index can't be read.
 */
export async function findDueDeliveries(
  context: ReadContext,
  limit: number,
  after: Place | undefined,
): Promise<DueDeliveries> {
  const total = await countPayments(context.client, TOLD_PAYMENTS);
  const { runs, last } = await listOldestFirst(context.client, TOLD_PAYMENTS, limit, after);
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const ask = ({ id }: ListedRun) => dueOf(context, id).catch(() => undefined);
  const answers = await queue.addAll(runs.map((run) => () => ask(run)));
  return {
    due: answers.flatMap((answer) => answer ?? []),
    total,
    checked: runs.length,
    unread: answers.filter((answer) => answer === undefined).length,
    last,
  };
}

/**
 * What a payment's merchant has yet to acknowledge, oldest first.
 *
 * @param limitMs how long it may take to answer, in ms
 */
export async function dueOf(
  context: ReadContext,
  id: PaymentId,
  limitMs = ANSWER_LIMIT_MS,
): Promise<DueDelivery[]> {
  const found = await findPayment(context, id);
  // It has ended in the meantime, and nothing is due any more.
  if (found === undefined || !found.running) return [];
  const query = () => found.handle.query(notificationsQuery);
  const notifications = await askRunning(context, found, query, limitMs);
  const indexed = found.description.typedSearchAttributes;
  const status = indexed.get(attributes.status) as PaymentStatus;
  return withNextTries(notifications, Date.now())
    .filter(({ delivery }) => delivery.kind === 'due')
    .map((notification) => ({
      id,
      merchant: found.owner,
      kind: indexed.get(attributes.kind) as PaymentKind,
      status,
      amount: indexed.get(attributes.amount) ?? 0,
      amountPaid: status === 'SUCCESSFUL' ? indexed.get(attributes.amountPaid) : undefined,
      notification,
    }));
}
