import type { PaymentEventType } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { SqlValue } from './database.js';
import type { PaymentFilter } from './index-queries.js';

/** Selects recorded payments of a list. */
export interface RecordFilter extends PaymentFilter {
  /** The mobile operator's reference. */
  readonly financialTransId?: string | undefined;
  /** The last payment of the page before. */
  readonly after?: { readonly createdAt: number; readonly id: PaymentId } | undefined;
  /** By their creation, then by their ids; `newest first` by default. */
  readonly order?: 'newest first' | 'oldest first' | undefined;
}

/** Selects events of a list. */
export interface EventFilter {
  readonly merchant?: string | undefined;
  readonly type?: PaymentEventType | undefined;
  /** ms since the epoch. */
  readonly since?: number | undefined;
  /** The position of the last event of the page before; 0 for the first page. */
  readonly after: number;
}

/** SQL, and the values of its parameters. */
interface SqlQuery {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export function paymentsQuery(filter: RecordFilter, limit: number): SqlQuery {
  const { final, createdFrom, createdBefore, after } = filter;
  const [beyond, direction] = filter.order === 'oldest first' ? ['>', 'ASC'] : ['<', 'DESC'];
  const where = new Conditions();
  where.add('merchant = ?', filter.merchant);
  where.add('status = ?', filter.status);
  // In the form of Temporal's index for payments that aren't recorded.
  if (final !== undefined) where.are(final ? 'final' : 'NOT final');
  where.add('kind = ?', filter.kind);
  where.add('external_id = ?', filter.externalId);
  where.add('user_id = ?', filter.userId);
  where.add('trans_id = ?', filter.transId);
  where.add('financial_trans_id = ?', filter.financialTransId);
  where.add('created_at >= ?', createdFrom === undefined ? undefined : new Date(createdFrom));
  where.add('created_at < ?', createdBefore === undefined ? undefined : new Date(createdBefore));
  if (after !== undefined) {
    const time = where.value(new Date(after.createdAt));
    // The first condition follows from the second, and lets an index begin there.
    where.add(`created_at ${beyond}= ${time} AND (created_at ${beyond} ${time} OR id > ?)`, after.id);
  }
  return where.query('SELECT * FROM payments', `ORDER BY created_at ${direction}, id`, limit);
}

export function eventsQuery({ merchant, type, since, after }: EventFilter, limit: number): SqlQuery {
  const where = new Conditions();
  where.add('position > ?', after);
  where.add('events.merchant = ?', merchant);
  where.add('type = ?', type);
  where.add(
    // With the time alone, all earlier events would be read, too.
    `at >= ? AND position >=
       coalesce((SELECT position FROM event_hours WHERE hour <= ? ORDER BY hour DESC LIMIT 1), 0)`,
    since === undefined ? undefined : new Date(since),
  );
  const columns = 'position, events.id, type, at, payment_id, events.merchant, stopped, content';
  const from = `SELECT ${columns} FROM events JOIN payments ON payments.id = payment_id`;
  return where.query(from, 'ORDER BY position', limit);
}

/** The conditions of a query, and the values of its parameters. */
class Conditions {
  readonly #conditions: string[] = [];
  readonly #values: SqlValue[] = [];

  /** Adds a parameter, and returns its name in SQL, such as `$1`. */
  value(value: SqlValue): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  /** Adds a condition with `?` where its value belongs, unless there is no value. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.are(condition.replaceAll('?', this.value(value)));
  }

  /** Adds a condition that has no value. */
  are(condition: string): void {
    this.#conditions.push(condition);
  }

  query(select: string, order: string, limit: number): SqlQuery {
    const where = this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
    return { text: `${select} ${where} ${order} LIMIT ${this.value(limit)}`, values: this.#values };
  }
}
