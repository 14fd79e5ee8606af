import { z } from 'zod';
import type { PaymentOrder } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isFinalPayment } from '../payments/words/payment-state.js';
import type { Book } from './book.js';
import { paymentId } from './columns.js';
import { BookUnavailable } from './database.js';
import { lockState } from './rows.js';

/** Payments that are looked at together. */
const AT_ONCE = 50;

const idRow = z.object({ id: paymentId });

/**
 * Erases the payer's personal data from payments that it was asked for, and that are over: nothing is due of them, and
 * their merchant has been told. It may be called by several at once, and again.
 *
 * @param ids these alone; all, by default
 * @param onFailure told of each payment that can't be erased: the others are
 * @returns those that are erased now
 */
export async function eraseWhatIsOver(
  book: Book,
  now: number,
  ids?: readonly PaymentId[],
  onFailure?: (error: unknown, id: PaymentId) => void,
): Promise<readonly PaymentId[]> {
  const erased: PaymentId[] = [];
  for (let after = ''; ; ) {
    const rows = await book.query(
      `SELECT payment_id AS id FROM erasures JOIN payments ON payments.id = payment_id JOIN states ON states.id = payment_id
        WHERE payment_id > $1 AND ($2::text[] IS NULL OR payment_id = ANY($2)) AND final AND wake_at IS NULL
          AND NOT EXISTS (SELECT 1 FROM notifications AS one WHERE one.payment_id = states.id AND due_at IS NOT NULL)
        ORDER BY payment_id LIMIT $3`,
      [after, ids ?? null, AT_ONCE],
    );
    for (const row of rows) {
      const { id } = idRow.parse(row);
      after = id;
      try {
        if (await eraseOne(book, id, now)) erased.push(id);
      } catch (error) {
        if (onFailure === undefined || error instanceof BookUnavailable) throw error;
        onFailure(error, id);
      }
    }
    if (rows.length < AT_ONCE) return erased;
  }
}

/** Erases it from all that the book has of the payment, under its lock. @returns `false` when it goes on after all */
async function eraseOne(book: Book, id: PaymentId, now: number): Promise<boolean> {
  return await book.transaction(async (query) => {
    const row = await lockState(query, book.seals, id);
    // It may have gone on, or have been erased by another, since it was listed.
    const [over] = await query(
      'SELECT 1 FROM states JOIN erasures ON payment_id = id WHERE id = $1 AND wake_at IS NULL',
      [id],
    );
    if (row === undefined || over === undefined || !isFinalPayment(row.kept.state)) return false;
    const { version, kept } = row;
    const state = { ...kept.state, order: withoutPayer(kept.state.order) };
    const sealed = await book.seals.seal({ table: 'states', id, version }, { ...kept, state });
    await query('UPDATE states SET sealed = $2 WHERE id = $1', [id, sealed]);
    // The key still holds. The request's digest follows from the phone number, too.
    await query(
      `UPDATE payments SET user_id = NULL, payers = '{}', payers_key = NULL, fingerprint = '', erased_at = $2 WHERE id = $1`,
      [id, new Date(now)],
    );
    await query('UPDATE sends SET sealed = NULL WHERE payment_id = $1 AND taken', [id]);
    await query('DELETE FROM inbox WHERE payment_id = $1 AND taken_in IS NOT NULL', [id]);
    await query('DELETE FROM erasures WHERE payment_id = $1', [id]);
    return true;
  });
}

/**
 * Removes the payer's identity: phone, name, e-mail address, message, metadata, the address to return to and the
 * merchant's identifier of the customer. The amount, the time, the medium and the order stay, and so do the references
 * of the provider and the mobile operator.
 */
function withoutPayer(order: PaymentOrder): PaymentOrder {
  const kept = { id: order.id, amount: order.amount, externalId: order.externalId, metadata: {} };
  if (order.kind === 'payout') {
    return { ...kept, kind: order.kind, medium: order.medium, orderedBy: order.orderedBy, refundOf: order.refundOf };
  }
  return order.kind === 'link'
    ? { ...kept, kind: order.kind, expiresInMs: order.expiresInMs }
    : { ...kept, kind: order.kind, phone: '', medium: order.medium };
}
