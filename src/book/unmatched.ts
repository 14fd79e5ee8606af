import { z } from 'zod';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import { isoTime } from '../payments/words/time.js';
import { PROVIDER_STATUSES, type Unmatched } from '../payments/words/transaction.js';
import type { Book } from './book.js';
import { transId } from './columns.js';
import type { Message } from './content.js';
import type { Query } from './database.js';
import { UnreadableRecordError } from './versioned-json.js';

/** The latest that are kept, and the unreadable ones among them: these push out no other. */
const KEPT = { all: 1_000, unread: 50 } as const;

/** They all seal under one name: what one says can be taken for no other's payment. */
export const UNMATCHED = { table: 'unmatched', id: '' } as const;

/** What one says that may be personal: the externalId of another system, and the beginning of one that is unread. */
const personal = z.looseObject({ externalId: z.string().optional(), unread: z.string().optional() });

/** Keeps one, in place of an earlier one that says the same. @throws {BookUnavailable} */
export async function keepUnmatched(book: Book, unmatched: Unmatched): Promise<void> {
  const { at, transId = null, status = null, statement = null, externalId, unread } = unmatched;
  const { seals } = book;
  const text = JSON.stringify([transId, status, externalId, unread]);
  const said = (await seals.digest(text, await seals.digestKeyId())) ?? null;
  const sealed = await seals.seal(UNMATCHED, { externalId, unread });
  await book.transaction(async (query) => {
    await query('DELETE FROM unmatched WHERE said = $1', [said]);
    await query(
      `INSERT INTO unmatched (at, trans_id, status, said, sealed, is_unread, statement)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [new Date(at), transId, status, said, sealed, unread !== undefined, statement],
    );
    await query('DELETE FROM unmatched WHERE id <= (SELECT id FROM unmatched ORDER BY id DESC OFFSET $1 LIMIT 1)', [
      KEPT.all,
    ]);
    await query(
      `DELETE FROM unmatched WHERE is_unread
         AND id <= (SELECT id FROM unmatched WHERE is_unread ORDER BY id DESC OFFSET $1 LIMIT 1)`,
      [KEPT.unread],
    );
  });
}

const unmatchedRow = z.object({
  at: z.date(),
  transId: transId.optional(),
  status: z.enum(PROVIDER_STATUSES).optional(),
  sealed: z.instanceof(Buffer),
  statement: z.string().optional(),
});

/** The latest, newest first. @throws {BookUnavailable} */
export async function listUnmatched(book: Book): Promise<readonly Unmatched[]> {
  const rows = await book.query('SELECT * FROM unmatched ORDER BY id DESC LIMIT $1', [KEPT.all]);
  return await Promise.all(
    rows.map(async (row) => {
      const { at, sealed, ...said } = unmatchedRow.parse(row);
      return { ...said, at: isoTime(at.getTime()), ...(await openPersonal(book, sealed)) };
    }),
  );
}

/** Nothing where it can't be opened, such as without its key: it is listed all the same. */
async function openPersonal(book: Book, sealed: Buffer): Promise<Pick<Unmatched, 'externalId' | 'unread'>> {
  try {
    const { externalId, unread } = await book.seals.open(UNMATCHED, sealed, personal);
    return { externalId, unread };
  } catch (error) {
    if (error instanceof UnreadableRecordError) return {};
    throw error;
  }
}

/** Drops what was notified of a transaction that a payment has been told of since. @throws {BookUnavailable} */
export async function dropMatched(book: Book, transId: TransId): Promise<void> {
  await book.query('DELETE FROM unmatched WHERE trans_id = $1', [transId]);
}

/**
 * Gives a payment what was notified of its transaction before it had that. The payment's state has to be locked before.
 *
 * @returns whether there was anything
 */
export async function takeMatched(
  book: Book,
  query: Query,
  id: PaymentId,
  transId: TransId,
  now: number,
): Promise<boolean> {
  const rows = await query('DELETE FROM unmatched WHERE trans_id = $1 RETURNING status', [transId]);
  for (const { status } of rows) {
    const message: Message = { kind: 'hint', transId, status: z.string().optional().parse(status) };
    const sealed = await book.seals.seal({ table: 'inbox', id }, { message });
    await query('INSERT INTO inbox (payment_id, at, sealed) VALUES ($1, $2, $3)', [id, new Date(now), sealed]);
  }
  return rows.length > 0;
}
