import PQueue from 'p-queue';
import type { PaymentNotification } from '../../payments/notification.js';
import type { PaymentStatus } from '../../payments/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId } from '../../payments/payment-id.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import { notificationsQuery } from '../../workflows/messages.js';
import { askRunning, findPayment, type ReadContext } from './find-payment.js';
import { callTemporal } from './temporal-calls.js';
import { MAY_HAVE_DELIVERIES } from './visibility.js';

/** A notification that its merchant has yet to acknowledge, with its payment as the index has it. */
export interface DueDelivery {
  readonly id: PaymentId;
  readonly merchant: string;
  readonly kind: PaymentKind;
  readonly status: PaymentStatus;
  /** XAF */
  readonly amount: number;
  readonly notification: PaymentNotification;
}

export interface DueDeliveries {
  /** Oldest first. */
  readonly due: readonly DueDelivery[];
  /** Payments that were asked. */
  readonly checked: number;
  /** Those of them that could not answer in time. */
  readonly unread: number;
  /** There are more that may have one. */
  readonly hasMore: boolean;
}

/** Payments that are asked: each is a call to a worker. */
const MAX_ASKED = 100;

/** Payments that are asked at the same time. */
const CONCURRENCY = 10;

/** How long one payment may take to answer, in ms. */
const ANSWER_LIMIT_MS = 2_000;

/**
 * The notifications that merchants have yet to acknowledge. Temporal's index doesn't know them, since to write each delivery
 * there would cost every payment an event: so the payments that may have one are asked.
 *
 * @throws {ApiError} `temporarily_unavailable` when the index can't be read.
 */
export async function findDueDeliveries(context: ReadContext): Promise<DueDeliveries> {
  const { ids, hasMore } = await candidates(context);
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const answers = await queue.addAll(ids.map((id) => () => dueOf(context, id).catch(() => undefined)));
  const due = answers.flatMap((answer) => answer ?? []);
  return {
    due: due.sort((one, other) => one.notification.at - other.notification.at),
    checked: ids.length,
    unread: answers.filter((answer) => answer === undefined).length,
    hasMore,
  };
}

async function candidates({ client }: ReadContext): Promise<{ ids: PaymentId[]; hasMore: boolean }> {
  return await callTemporal(client, async () => {
    const ids = new Set<PaymentId>();
    const query = MAY_HAVE_DELIVERIES;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: MAX_ASKED + 1 })) {
      const id = parsePaymentId(workflowId);
      if (id === undefined) continue;
      if (ids.size === MAX_ASKED) return { ids: [...ids], hasMore: true };
      ids.add(id);
    }
    return { ids: [...ids], hasMore: false };
  });
}

async function dueOf(context: ReadContext, id: PaymentId): Promise<DueDelivery[]> {
  const found = await findPayment(context, id);
  // It has ended in the meantime, and nothing is due any more.
  if (found === undefined || !found.running) return [];
  const query = () => found.handle.query(notificationsQuery);
  const notifications = await askRunning(context, found, query, ANSWER_LIMIT_MS);
  const indexed = found.description.typedSearchAttributes;
  return notifications
    .filter(({ delivery }) => delivery.kind === 'due')
    .map((notification) => ({
      id,
      merchant: found.owner,
      kind: indexed.get(attributes.kind) as PaymentKind,
      status: indexed.get(attributes.status) as PaymentStatus,
      amount: indexed.get(attributes.amount) ?? 0,
      notification,
    }));
}
