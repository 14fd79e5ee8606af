import { z } from 'zod';
import type { HeldFor, OrderKind } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentId, PaymentKind } from '../payments/words/payment-id.js';
import type { Book } from './book.js';
import { paymentId, time } from './columns.js';
import type { Row, SqlValue } from './database.js';
import { type FoundPayment, openRow, SELECT_SEALED } from './payments.js';
import { UnreadableRecordError } from './versioned-json.js';

/** Selects payments of a list; times in ms since the epoch, amounts in XAF. */
export interface PaymentFilter {
  /** Without it, every merchant's payments. */
  readonly merchant?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Selects by whether the outcome is certain. */
  readonly final?: boolean | undefined;
  /** Selects payouts that are held for this. */
  readonly held?: HeldFor | undefined;
  readonly kind?: PaymentKind | undefined;
  readonly method?: Exclude<OrderKind, 'payout'> | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** The provider's transaction. */
  readonly transId?: string | undefined;
  /** The mobile operator's reference. */
  readonly financialTransId?: string | undefined;
  /** Any identifier: the payment's own, either of the merchant's by its beginning, the provider's or the operator's. */
  readonly reference?: string | undefined;
  /** At least, and at most. */
  readonly amountFrom?: number | undefined;
  readonly amountTo?: number | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** A payment's place in a list: by its creation (ms since the epoch), then by its id. */
export interface ListPlace {
  readonly createdAt: number;
  readonly id: PaymentId;
}

export type ListOrder = 'newest first' | 'oldest first';

/** A part of a list. */
export interface ListPart {
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: ListPlace | undefined;
  readonly order: ListOrder;
}

/** One page of a list. */
export interface Page {
  readonly payments: readonly FoundPayment[];
  /** Payments that belong in the list, but whose state can't be opened. */
  readonly unreadable: readonly { readonly id: PaymentId; readonly merchant: string }[];
  /** The place after which the next page begins; without it, this one is the last. */
  readonly last?: ListPlace | undefined;
}

/** Lists payments. @throws {BookUnavailable} */
export async function listPayments(
  book: Book,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Page> {
  const where = conditionsOf(filter);
  const [beyond, direction] = order === 'oldest first' ? ['>', 'ASC'] : ['<', 'DESC'];
  if (after !== undefined) {
    const time = where.value(new Date(after.createdAt));
    // The first condition follows from the second, and lets an index begin there.
    where.add(`created_at ${beyond}= ${time} AND (created_at ${beyond} ${time} OR id > ?)`, after.id);
  }
  const found = await book.query(
    `${SELECT_SEALED} ${where.text} ORDER BY created_at ${direction}, id LIMIT ${where.value(pageSize + 1)}`,
    where.values,
  );
  const shown = found.slice(0, pageSize);
  const opened = await Promise.all(shown.map((row) => openOrName(book, row)));
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  return {
    payments: opened.filter((one) => 'kept' in one),
    unreadable: opened.filter((one) => !('kept' in one)),
    last: last && placeRow.parse(last),
  };
}

const placeRow = z.object({
  id: paymentId,
  createdAt: time,
});

async function openOrName(
  book: Book,
  row: Row,
): Promise<FoundPayment | { readonly id: PaymentId; readonly merchant: string }> {
  try {
    return await openRow(book, row);
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return { id: placeRow.parse(row).id, merchant: String(row.merchant) };
  }
}

/** What the payments of a list come to; amounts in XAF. */
export interface Totals {
  readonly count: number;
  readonly amount: number;
  /** What has moved of the SUCCESSFUL ones. */
  readonly amountPaid: number;
}

const totalsRow = z.object({ count: z.coerce.number(), amount: z.coerce.number(), amountPaid: z.coerce.number() });

/** Sums up all payments of a list. @throws {BookUnavailable} also when that takes too long */
export async function sumUp(book: Book, filter: PaymentFilter): Promise<Totals> {
  const where = conditionsOf(filter);
  const [row] = await book.transaction((query) =>
    query(
      `SELECT count(*) AS count, coalesce(sum(amount), 0) AS amount,
         coalesce(sum(coalesce(amount_paid, amount)) FILTER (WHERE status = 'SUCCESSFUL'), 0) AS amount_paid
       FROM payments ${where.text}`,
      where.values,
    ),
  );
  return totalsRow.parse(row);
}

/** Statuses that no payment has for good: only open payments are searched for them, which are few. */
const NEVER_FINAL: readonly PaymentStatus[] = ['CREATED', 'PENDING', 'REVIEW'];

function conditionsOf(filter: PaymentFilter): Conditions {
  const { status, final, held, createdFrom, createdBefore, reference } = filter;
  const where = new Conditions();
  where.add('merchant = ?', filter.merchant);
  where.add('status = ?', status);
  const isOpen = held !== undefined || (status !== undefined && NEVER_FINAL.includes(status));
  if (isOpen) where.are('NOT final');
  if (final !== undefined) where.are(final ? 'final' : 'NOT final');
  where.add('? = ANY(held_for)', held);
  where.add('kind = ?', filter.kind);
  where.add('method = ?', filter.method);
  where.add('external_id = ?', filter.externalId);
  where.add('user_id = ?', filter.userId);
  where.add('trans_id = ?', filter.transId);
  where.add('financial_trans_id = ?', filter.financialTransId);
  where.add('amount >= ?', filter.amountFrom);
  where.add('amount <= ?', filter.amountTo);
  where.add('created_at >= ?', createdFrom === undefined ? undefined : new Date(createdFrom));
  where.add('created_at < ?', createdBefore === undefined ? undefined : new Date(createdBefore));
  if (reference !== undefined) {
    const beginning = where.value(`${reference.replace(/[\\%_]/g, '\\$&')}%`);
    where.add(
      `(payments.id = ? OR external_id LIKE ${beginning} OR user_id = ? OR trans_id = ? OR financial_trans_id = ?)`,
      reference,
    );
  }
  return where;
}

/** The conditions of a query, and the values of its parameters. */
class Conditions {
  readonly #conditions: string[] = [];
  readonly values: SqlValue[] = [];

  get text(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
  }

  /** Adds a parameter, and returns its name in SQL, such as `$1`. */
  value(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds a condition with `?` where its value belongs, unless there is no value. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.are(condition.replaceAll('?', this.value(value)));
  }

  /** Adds a condition that has no value. */
  are(condition: string): void {
    this.#conditions.push(condition);
  }
}
