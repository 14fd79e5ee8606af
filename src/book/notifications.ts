import { z } from 'zod';
import { type Delivery, webhookId } from '../payments/words/delivery.js';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES, type PaymentEventType } from '../payments/words/payment.js';
import { PAYMENT_KINDS, type PaymentId } from '../payments/words/payment-id.js';
import type { Book } from './book.js';
import { paymentId, time } from './columns.js';
import type { Query, Row } from './database.js';
import { ERA } from './gaps.js';

/** What merchants are notified of: an event of a payment, and how its delivery stands. */
export interface Notification {
  readonly paymentId: PaymentId;
  /** 1 for the payment's first. */
  readonly number: number;
  /** The `webhook-id`: the same for every try. */
  readonly id: string;
  readonly merchant: string;
  readonly type: PaymentEventType;
  /** Time of the event, in ms since the epoch. */
  readonly at: number;
  readonly delivery: Delivery;
}

/** An event of a payment that its merchant is to be told. */
export interface Notified {
  readonly type: PaymentEventType;
  /** ms since the epoch */
  readonly at: number;
}

/**
 * Writes what a merchant is to be told, with the state that it tells. The payment's state has to be locked before. A
 * payment's notifications go out in order: none is due before those before it.
 */
export async function addNotifications(query: Query, id: PaymentId, events: readonly Notified[]): Promise<void> {
  for (const { type, at } of events) {
    await query(
      `INSERT INTO notifications (payment_id, number, merchant, type, at, era, due_at)
       SELECT id, coalesce(max(number), 0) + 1, payments.merchant, $2, $3::timestamptz, ${ERA},
              greatest($3::timestamptz, max(due_at) FILTER (WHERE attempt IS NULL))
         FROM payments LEFT JOIN notifications ON payment_id = id WHERE id = $1 GROUP BY id`,
      [id, type, new Date(at)],
    );
  }
}

export const notificationId = z.object({
  paymentId,
  number: z.int(),
  merchant: z.string(),
  type: z.enum(PAYMENT_EVENT_TYPES),
  at: time,
  era: z.coerce.number(),
});

const notificationRow = notificationId.extend({
  delivery: z.enum(['due', 'delivered', 'noAddress', 'abandoned']),
  dueAt: time.optional(),
  tries: z.int(),
  lastTriedAt: time.optional(),
  lastError: z.string().optional(),
  endedAt: time.optional(),
});

/** The columns of a {@link notificationRow}, of the table or its alias `one`. */
const COLUMNS = [
  ...['payment_id', 'number', 'merchant', 'type', 'at', 'era'],
  ...['delivery', 'due_at', 'tries', 'last_tried_at', 'last_error', 'ended_at'],
]
  .map((column) => `one.${column}`)
  .join(', ');

/** @param now no try is shown as due before it, in ms since the epoch */
function toNotification(row: Row, now: number): Notification {
  const { paymentId, number, merchant, type, at, era, ...rest } = notificationRow.parse(row);
  const id = webhookId(paymentId, type, number, era);
  return { paymentId, number, id, merchant, type, at, delivery: toDelivery(rest, now) };
}

type DeliveryColumns = Omit<z.output<typeof notificationRow>, keyof z.output<typeof notificationId>>;

function toDelivery(columns: DeliveryColumns, now: number): Delivery {
  const { delivery: kind, dueAt, endedAt, tries, lastTriedAt, lastError } = columns;
  switch (kind) {
    case 'due':
      return { kind, at: Math.max(dueAt ?? now, now), tries, lastTriedAt, lastError };
    case 'abandoned':
      return { kind, at: endedAt ?? now, lastTriedAt, lastError };
    default:
      return { kind, at: endedAt ?? now };
  }
}

/** Lists a payment's notifications, oldest first. */
export async function notificationsOf(book: Book, id: PaymentId, now: number): Promise<readonly Notification[]> {
  const rows = await book.query(`SELECT ${COLUMNS} FROM notifications AS one WHERE payment_id = $1 ORDER BY number`, [
    id,
  ]);
  return rows.map((row) => toNotification(row, now));
}

/**
 * Has a notification delivered again, now, with its whole patience before it: whoever tries it at the moment may no
 * longer say how that ended.
 *
 * @returns whether there is one of that number
 */
export async function resendNotification(book: Book, id: PaymentId, number: number, now: number): Promise<boolean> {
  const rows = await book.query(
    `UPDATE notifications SET delivery = 'due', due_at = $3, attempt = NULL, tries = 0, first_tried_at = NULL,
       last_tried_at = NULL, last_error = NULL, taken_by = '{}', ended_at = NULL
     WHERE payment_id = $1 AND number = $2 RETURNING number`,
    [id, number, new Date(now)],
  );
  return rows.length > 0;
}

/** Selects notifications that are still tried, or were given up. */
export type Unacknowledging = 'due' | 'abandoned';

const SELECTED: Readonly<Record<Unacknowledging, string>> = {
  due: 'one.due_at IS NOT NULL',
  abandoned: "one.delivery = 'abandoned'",
};

const unacknowledgedRow = z.object({
  kind: z.enum(PAYMENT_KINDS),
  status: z.enum(PAYMENT_STATUSES),
  amount: z.coerce.number(),
  amountPaid: z.coerce.number().optional(),
});

/** A notification that its merchant has not acknowledged, with its payment; amounts in XAF. */
export interface Unacknowledged extends z.output<typeof unacknowledgedRow> {
  readonly notification: Notification;
}

/**
 * Lists notifications that merchants have not acknowledged, the oldest first.
 *
 * @param after the last one of the page before
 */
export async function listUnacknowledged(
  book: Book,
  which: Unacknowledging,
  limit: number,
  after: Pick<Notification, 'at' | 'paymentId' | 'number'> | undefined,
  now: number,
): Promise<readonly Unacknowledged[]> {
  const rows = await book.query(
    `SELECT ${COLUMNS}, kind, status, amount, amount_paid
       FROM notifications AS one JOIN payments ON payments.id = one.payment_id
      WHERE ${SELECTED[which]} AND ($1::timestamptz IS NULL OR (one.at, one.payment_id, one.number) > ($1, $2, $3))
      ORDER BY one.at, one.payment_id, one.number LIMIT $4`,
    [after === undefined ? null : new Date(after.at), after?.paymentId ?? null, after?.number ?? null, limit],
  );
  return rows.map((row) => ({ ...unacknowledgedRow.parse(row), notification: toNotification(row, now) }));
}

const countRow = z.object({
  merchant: z.string(),
  due: z.coerce.number(),
  abandoned: z.coerce.number(),
  oldestAt: time.optional(),
});

/** Notifications of a merchant that it has not acknowledged. */
export type UnacknowledgedCount = z.output<typeof countRow>;

/** Counts what merchants have not acknowledged, and says when the oldest of what is still tried happened. */
export async function countUnacknowledged(book: Book): Promise<readonly UnacknowledgedCount[]> {
  const rows = await book.query(
    `SELECT merchant, sum(due) AS due, sum(abandoned) AS abandoned, min(oldest_at) AS oldest_at
       FROM (
         SELECT merchant, count(*) AS due, 0 AS abandoned, min(at) AS oldest_at
           FROM notifications AS one WHERE ${SELECTED.due} GROUP BY merchant
         UNION ALL
         SELECT merchant, 0, count(*), NULL FROM notifications AS one WHERE ${SELECTED.abandoned} GROUP BY merchant
       ) AS counted GROUP BY merchant ORDER BY merchant`,
  );
  return rows.map((row) => countRow.parse(row));
}
