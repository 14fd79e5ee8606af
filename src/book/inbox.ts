import { z } from 'zod';
import type { Reply } from '../payments/machine/replies.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Book } from './book.js';
import { type Message, reply } from './content.js';

/** Writes a message to a payment. @returns its number, by which its reply is found */
export async function post(book: Book, id: PaymentId, message: Message, now: number): Promise<number> {
  const sealed = await book.seals.seal({ table: 'inbox', id }, { message });
  const [row] = await book.query('INSERT INTO inbox (payment_id, at, sealed) VALUES ($1, $2, $3) RETURNING id', [
    id,
    new Date(now),
    sealed,
  ]);
  return z.object({ id: z.coerce.number() }).parse(row).id;
}

/** Returns the reply to a message, once it is committed. */
export async function replyTo(book: Book, id: PaymentId, number: number): Promise<Reply | undefined> {
  const [row] = await book.query('SELECT reply FROM inbox WHERE id = $1 AND payment_id = $2', [number, id]);
  const sealed = z
    .object({ reply: z.instanceof(Buffer).optional() })
    .optional()
    .parse(row)?.reply;
  if (sealed === undefined) return undefined;
  return (await book.seals.open({ table: 'replies', id, version: number }, sealed, reply)).reply;
}
