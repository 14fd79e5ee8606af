import { z } from 'zod';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { DayPayment } from '../reconciliation/reconciliation.js';
import type { Book } from './book.js';
import { paymentRow } from './payments.js';

/**
 * Payments by their day. That is the day of a payment's creation; of a payout that was held, it is that of its release,
 * since nothing was sent before.
 */

/** Rows in one query. */
const ROWS_PER_QUERY = 2_000;

export interface DayPayments {
  readonly payments: readonly DayPayment[];
  /** There are more than the limit. */
  readonly cutOff: boolean;
}

const dayPayment = paymentRow
  .omit({ method: true, fingerprint: true, requestId: true, userId: true })
  .extend({ amountPaid: z.coerce.number().optional() });

const COLUMNS = 'id, merchant, kind, status, final, amount, amount_paid, trans_id, external_id, refund_of, created_at';

/**
 * All payments of a day, or of its beginning, in the order of their creation: those that were created first, when there
 * are more than `max`.
 *
 * @param period the day; in ms since the epoch
 * @param onProgress called after each query
 */
export async function paymentsOfDay(
  book: Book,
  { from, before }: { readonly from: number; readonly before: number },
  max: number,
  onProgress: () => void,
): Promise<DayPayments> {
  const payments: DayPayment[] = [];
  while (payments.length <= max) {
    const { createdAt, id } = payments.at(-1) ?? { createdAt: 0, id: '' };
    // Each kind by its own index: by one condition, all payments from the first one on would be read.
    const rows = await book.query(
      `WITH released AS MATERIALIZED (
         SELECT ${COLUMNS} FROM payments WHERE released_at >= $1 AND released_at < $2
       )
       SELECT * FROM (
         (SELECT ${COLUMNS} FROM payments
           WHERE released_at IS NULL AND created_at >= $1 AND created_at < $2 AND (created_at, id) > ($3, $4)
           ORDER BY created_at, id LIMIT $5)
         UNION ALL SELECT * FROM released WHERE (created_at, id) > ($3, $4)
       ) AS own ORDER BY created_at, id LIMIT $5`,
      [new Date(from), new Date(before), new Date(createdAt), id, ROWS_PER_QUERY],
    );
    onProgress();
    payments.push(...rows.map((row) => dayPayment.parse(row)));
    if (rows.length < ROWS_PER_QUERY) break;
  }
  return { payments: payments.slice(0, max), cutOff: payments.length > max };
}

/** Finds payments of any day by their ids, as they are now; unknown ones are left out. */
export async function paymentsWith(book: Book, ids: readonly PaymentId[]): Promise<readonly DayPayment[]> {
  const rows = await book.query(`SELECT ${COLUMNS} FROM payments WHERE id = ANY($1) ORDER BY created_at, id`, [ids]);
  return rows.map((row) => dayPayment.parse(row));
}
