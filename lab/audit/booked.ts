import { z } from 'zod';
import type { Query } from '../../src/book/database.js';
import { webhookId } from '../../src/payments/words/delivery.js';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../../src/payments/words/payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';

/** What the book has of a payment. */
export interface Booked {
  /** `undefined` where it has no row of it. */
  readonly row: BookedRow | undefined;
  /** Attempts that may have left: those whose fence was written, and not as closed. */
  readonly fences: number;
  /** In their order. */
  readonly notifications: readonly BookedNotification[];
  /** Messages that no turn has taken. */
  readonly untaken: number;
}

const rowSchema = z.object({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.coerce.number(),
  amountPaid: z.coerce.number().optional(),
  transId: z.string().optional(),
});
type BookedRow = z.output<typeof rowSchema>;

const notificationSchema = z.object({
  paymentId: z.string().transform((id) => id as PaymentId),
  number: z.int(),
  type: z.enum(PAYMENT_EVENT_TYPES),
  era: z.coerce.number(),
  position: z.coerce.number().optional(),
  delivery: z.enum(['due', 'delivered', 'noAddress', 'abandoned']),
});
interface BookedNotification extends Pick<z.output<typeof notificationSchema>, 'number' | 'position' | 'delivery'> {
  /** The `webhook-id`. */
  readonly id: string;
}

const countSchema = z.object({ paymentId: z.string(), count: z.coerce.number() });

/** A day's total that isn't the sum over its payments. */
export interface WrongSum {
  readonly invariant: 'misbooked';
  readonly about: string;
  readonly what: string;
}

/** The book at the end of a run. */
export interface BookAtEnd {
  readonly of: (id: string) => Booked;
  /** The ids of all payments. */
  readonly ids: readonly string[];
  readonly wrongSums: readonly WrongSum[];
}

/** Reads all rows of the book that are compared with the provider's ledger. */
export async function readBook(query: Query): Promise<BookAtEnd> {
  const rows = (await query('SELECT id, status, final, amount, amount_paid, trans_id FROM payments')).map((row) =>
    rowSchema.parse(row),
  );
  const fences = await countsOf(
    query,
    'SELECT payment_id, count(*) AS count FROM sends WHERE hand IS NOT NULL GROUP BY payment_id',
  );
  const untaken = await countsOf(
    query,
    'SELECT payment_id, count(*) AS count FROM inbox WHERE taken_in IS NULL GROUP BY payment_id',
  );
  const notifications = new Map<string, BookedNotification[]>();
  const told = await query(
    'SELECT payment_id, number, type, era, position, delivery FROM notifications ORDER BY payment_id, number',
  );
  for (const one of told) {
    const { paymentId, number, type, era, position, delivery } = notificationSchema.parse(one);
    const id = webhookId(paymentId, type, number, era);
    notifications.set(paymentId, [...(notifications.get(paymentId) ?? []), { id, number, position, delivery }]);
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  return {
    of: (id) => ({
      row: byId.get(id),
      fences: fences.get(id) ?? 0,
      notifications: notifications.get(id) ?? [],
      untaken: untaken.get(id) ?? 0,
    }),
    ids: rows.map(({ id }) => id),
    wrongSums: await wrongDays(query),
  };
}

/**
 * Counts what is still to be done: payments without an outcome, or that something is due of, and notifications.
 *
 * @param until what ended payments have to be asked later, such as whether a decision was right, isn't counted
 */
export async function countUndone(query: Query, until?: Date): Promise<number> {
  const [row] = await query(
    `SELECT (SELECT count(*) FROM payments JOIN states USING (id) WHERE NOT final OR wake_at <= $1)
          + (SELECT count(*) FROM inbox WHERE taken_in IS NULL)
          + (SELECT count(*) FROM notifications WHERE due_at IS NOT NULL OR position IS NULL) AS undone`,
    [until ?? 'infinity'],
  );
  return z.object({ undone: z.coerce.number() }).parse(row).undone;
}

const daySchema = z.object({
  merchant: z.string(),
  day: z.string(),
  total: z.coerce.number(),
  sum: z.coerce.number(),
});

/** A day's total, which its limit is held against, is the sum over its payments. */
async function wrongDays(query: Query): Promise<WrongSum[]> {
  const rows = await query(
    `SELECT merchant, day, coalesce(total, 0) AS total, coalesce(sum, 0) AS sum
       FROM days FULL JOIN (
         SELECT merchant, counts_on AS day, sum(day_counts) AS sum FROM payments
          WHERE counts_on IS NOT NULL GROUP BY merchant, counts_on
       ) AS counted USING (merchant, day)
      WHERE coalesce(total, 0) <> coalesce(sum, 0)`,
  );
  return rows.map((row) => {
    const { merchant, day, total, sum } = daySchema.parse(row);
    const what = `the total of ${day} is ${total} XAF, and its payments count ${sum} XAF`;
    return { invariant: 'misbooked', about: merchant, what };
  });
}

async function countsOf(query: Query, sql: string): Promise<ReadonlyMap<string, number>> {
  const rows = (await query(sql)).map((row) => countSchema.parse(row));
  return new Map(rows.map(({ paymentId, count }) => [paymentId, count]));
}
