import { z } from 'zod';
import type { OrderKind } from '../payments/words/order.js';
import { PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PAYMENT_KINDS, type PaymentId, type TransId } from '../payments/words/payment-id.js';
import type { Book } from './book.js';
import { paymentId, time, transId } from './columns.js';
import { type Kept, kept } from './content.js';
import type { Query, Row } from './database.js';

/** What can be read of a payment without opening its state. Amounts in XAF, times in ms since the epoch. */
export type PaymentRow = z.output<typeof paymentRow>;

export const paymentRow = z.object({
  id: paymentId,
  merchant: z.string(),
  kind: z.enum(PAYMENT_KINDS),
  method: z.enum(['link', 'direct', 'payout'] satisfies OrderKind[]),
  fingerprint: z.string(),
  requestId: z.string(),
  createdAt: time,
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.coerce.number(),
  transId: transId.optional(),
  externalId: z.string().optional(),
  userId: z.string().optional(),
  refundOf: paymentId.optional(),
});

/** The columns of {@link PaymentRow}. */
const ROW_COLUMNS = Object.keys(paymentRow.shape)
  .map((field) => `payments.${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`)
  .join(', ');

/** A payment as the book has it now. */
export interface FoundPayment extends PaymentRow {
  /** Goes up with every change. */
  readonly version: number;
  /** The token of what is under way. */
  readonly asked?: number | undefined;
  readonly kept: Kept;
}

const sealedRow = z.object({ version: z.int(), asked: z.coerce.number().optional(), sealed: z.instanceof(Buffer) });

/** Opens a row of {@link SELECT_SEALED}. @throws {SealBroken | UnreadableRecordError} */
export async function openRow(book: Book, row: Row): Promise<FoundPayment> {
  const read = paymentRow.parse(row);
  const { version, asked, sealed } = sealedRow.parse(row);
  const opened = await book.seals.open({ table: 'states', id: read.id, version }, sealed, kept);
  return { ...read, version, asked, kept: opened };
}

/** Selects payments with their states. */
export const SELECT_SEALED = `SELECT ${ROW_COLUMNS}, version, asked, sealed FROM payments JOIN states USING (id)`;

/** Finds a payment without opening its state. @throws {BookUnavailable} */
export async function findRow(book: Book, id: PaymentId): Promise<PaymentRow | undefined> {
  const [row] = await book.query(`SELECT ${ROW_COLUMNS} FROM payments WHERE id = $1`, [id]);
  return row && paymentRow.parse(row);
}

/**
 * Reads a payment, without a lock: it may have changed when it is looked at.
 *
 * @param maySee whether the payments of a merchant are to be read: another's state isn't even opened
 * @throws {BookUnavailable | SealBroken | UnreadableRecordError}
 */
export async function findPayment(
  book: Book,
  id: PaymentId,
  maySee: (merchant: string) => boolean = () => true,
): Promise<FoundPayment | undefined> {
  const [row] = await book.query(`${SELECT_SEALED} WHERE id = $1`, [id]);
  if (row === undefined || !maySee(String(row.merchant))) return undefined;
  return await openRow(book, row);
}

/** Reads a payment's refunds, the oldest first. @throws {BookUnavailable | SealBroken | UnreadableRecordError} */
export async function readRefunds(book: Book, collection: PaymentId): Promise<readonly FoundPayment[]> {
  const rows = await book.query(`${SELECT_SEALED} WHERE refund_of = $1 ORDER BY created_at, id`, [collection]);
  return await Promise.all(rows.map((row) => openRow(book, row)));
}

/** What the refunds of a collection come to, in XAF. */
export interface RefundedSums {
  /** Refunds of it, whatever became of them. */
  readonly count: number;
  /** What they take of it. */
  readonly counted: number;
  /** What of that has arrived. */
  readonly refunded: number;
}

const sumsRow = z.object({ count: z.coerce.number(), counted: z.coerce.number(), refunded: z.coerce.number() });

/** @param without a refund that is left out: the one that is asked for. @throws {BookUnavailable} */
export async function sumRefunds(book: Book, collection: PaymentId, without?: PaymentId): Promise<RefundedSums> {
  // One that was sent again counts for each request until its checks are over, and has moved its amount.
  const [row] = await book.query(
    `SELECT count(*) AS count, coalesce(sum(refund_counts), 0) AS counted,
       coalesce(sum(least(refund_counts, coalesce(amount_paid, amount))) FILTER (WHERE status = 'SUCCESSFUL'), 0)
         AS refunded
     FROM payments WHERE refund_of = $1 AND id <> $2`,
    [collection, without ?? ''],
  );
  return sumsRow.parse(row);
}

/** Finds the payment that goes by a transaction of the provider. @throws {BookUnavailable} */
export async function findByTransId(book: Book, transId: TransId): Promise<PaymentRow | undefined> {
  const [row] = await book.query(`SELECT ${ROW_COLUMNS} FROM payments WHERE trans_id = $1`, [transId]);
  return row && paymentRow.parse(row);
}

const ownerRow = z.object({ id: paymentId, transId });

/** Finds the other payments that go by some transactions. */
export async function ownersOf(
  query: Query,
  transIds: readonly TransId[],
  but: PaymentId,
): Promise<ReadonlyMap<TransId, PaymentId>> {
  if (transIds.length === 0) return new Map();
  const rows = await query('SELECT id, trans_id FROM payments WHERE trans_id = ANY($1) AND id <> $2', [transIds, but]);
  return new Map(rows.map((row) => ownerRow.parse(row)).map(({ id, transId }) => [transId, id]));
}

/** Reports whether a payment has nothing to do, ever, unless it is told something. @throws {BookUnavailable} */
export async function isIdle(book: Book, id: PaymentId): Promise<boolean> {
  const rows = await book.query('SELECT 1 FROM states WHERE id = $1 AND wake_at IS NULL', [id]);
  return rows.length > 0;
}

const versionRow = z.object({ id: paymentId, version: z.int() });

/** Reads the versions of payments' states, which go up with every change. @throws {BookUnavailable} */
export async function versionsOf(book: Book, ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, number>> {
  const rows = await book.query('SELECT id, version FROM states WHERE id = ANY($1::text[])', [ids]);
  return new Map(rows.map((row) => versionRow.parse(row)).map(({ id, version }) => [id, version]));
}
