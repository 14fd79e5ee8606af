import { z } from 'zod';
import type { Book } from './book.js';
import { time } from './columns.js';

const openRow = z.object({
  reviews: z.coerce.number(),
  /** When the first of them came under review. */
  reviewedSince: time.optional(),
  approvals: z.coerce.number(),
  /** When the first of them began to wait, and when the first ends without an approval. */
  unapprovedSince: time.optional(),
  unapprovedUntil: time.optional(),
  dated: z.coerce.number(),
  unfinished: z.coerce.number(),
});

/** What open payments wait for; times in ms since the epoch. */
export type OpenPayments = z.output<typeof openRow>;

/**
 * Counts the open payments by what they wait for.
 *
 * @param createdBefore what was created earlier and waits for nobody is unfinished
 * @param datedBefore a payout that is still held for an earlier date is so, too
 * @throws {BookUnavailable}
 */
export async function countOpen(book: Book, createdBefore: number, datedBefore: number): Promise<OpenPayments> {
  const [row] = await book.query(
    `SELECT count(*) FILTER (WHERE status = 'REVIEW') AS reviews,
       min(waits_since) FILTER (WHERE status = 'REVIEW') AS reviewed_since,
       count(*) FILTER (WHERE 'approval' = ANY(held_for)) AS approvals,
       min(waits_since) FILTER (WHERE 'approval' = ANY(held_for)) AS unapproved_since,
       min(waits_until) FILTER (WHERE 'approval' = ANY(held_for)) AS unapproved_until,
       count(*) FILTER (WHERE 'date' = ANY(held_for)) AS dated,
       count(*) FILTER (WHERE status <> 'REVIEW' AND created_at < $1
         AND (held_for = '{}' OR ('date' = ANY(held_for) AND send_at < $2))) AS unfinished
     FROM payments WHERE NOT final`,
    [new Date(createdBefore), new Date(datedBefore)],
  );
  return openRow.parse(row);
}
