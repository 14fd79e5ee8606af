import { DatabaseSync } from 'node:sqlite';
import type { LinkParams, Payment, RefundParams, WebhookEvent } from 'sanaga/client';

export interface Order {
  /** Random: anybody who knows it may see the order. The Idempotency-Keys are made from it. */
  readonly id: string;
  /** For people: 1001, 1002, … */
  readonly number: number;
  readonly item: string;
  /** XAF. */
  readonly amount: number;
  /** The customer's mobile number, to which a refund goes. */
  readonly phone: string;
  readonly createdAt: string;
}

/** One attempt to be paid (a collection) or to pay back (a refund): one payment at Sanaga. */
export type Attempt = {
  /** Its Idempotency-Key and, of a collection, its `externalId`. */
  readonly key: string;
  readonly orderId: string;
  readonly createdAt: string;
  /** The payment by Sanaga's last answer; absent until the first was stored. */
  readonly payment?: Payment;
  /** It was SUCCESSFUL and final once, whatever it is now. */
  readonly hasSucceeded: boolean;
  /** Reason why the last request failed. */
  readonly error?: string;
  /** Sanaga refused the request as invalid: repeating it unchanged is of no use. */
  readonly isRefused: boolean;
} & (
  | { readonly kind: 'collection'; readonly params: LinkParams }
  | {
      readonly kind: 'refund';
      readonly params: RefundParams & { readonly collection: string; readonly amount: number };
    }
);

/** A notification of Sanaga's that has arrived. */
export interface Notice {
  readonly id: string;
  readonly type: string;
  readonly receivedAt: string;
}

/** Reports whether this attempt has moved no money and never will: only then may there be another. */
export function isOver({ payment }: Attempt): boolean {
  return payment?.final === true && payment.status !== 'SUCCESSFUL';
}

/**
 * The shop's memory, in a file. Each change is on the disk when its function returns: SQLite's defaults ensure that,
 * and whatever must be stored before a call to Sanaga depends on it.
 */
export class Store {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS orders (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, item TEXT NOT NULL,
        amount INTEGER NOT NULL, phone TEXT NOT NULL, created_at TEXT NOT NULL
      ) STRICT;
      INSERT INTO sqlite_sequence SELECT 'orders', 1000 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence);
      CREATE TABLE IF NOT EXISTS attempts (
        key TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders (id), kind TEXT NOT NULL, params TEXT NOT NULL,
        created_at TEXT NOT NULL, payment TEXT, has_succeeded INTEGER NOT NULL DEFAULT 0, error TEXT
      ) STRICT;
      CREATE INDEX IF NOT EXISTS attempts_of_order ON attempts (order_id);
      CREATE TABLE IF NOT EXISTS refused (key TEXT PRIMARY KEY REFERENCES attempts (key)) STRICT;
      CREATE TABLE IF NOT EXISTS notices (
        id TEXT PRIMARY KEY, attempt TEXT NOT NULL, type TEXT NOT NULL, received_at TEXT NOT NULL
      ) STRICT;`);
  }

  /** Stores an order. The same form sent twice, by an impatient customer, is one order. */
  addOrder({ id, item, amount, phone }: Pick<Order, 'id' | 'item' | 'amount' | 'phone'>): Order {
    const add = `INSERT INTO orders (id, item, amount, phone, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`;
    this.#db.prepare(add).run(id, item, amount, phone, new Date().toISOString());
    const order = this.order(id);
    if (order === undefined) throw new Error(`order ${id} was not stored`);
    return order;
  }

  order(id: string): Order | undefined {
    const row = this.#db.prepare('SELECT * FROM orders WHERE id = ?').get(id);
    return row && toOrder(row);
  }

  /** The latest orders, newest first. */
  orders(limit = 200): Order[] {
    return this.#db.prepare('SELECT * FROM orders ORDER BY number DESC LIMIT ?').all(limit).map(toOrder);
  }

  /** An order's attempts, oldest first. */
  attempts(orderId: string): Attempt[] {
    return this.#db.prepare(`${ATTEMPTS} WHERE order_id = ? ORDER BY rowid`).all(orderId).map(toAttempt);
  }

  attempt(key: string): Attempt | undefined {
    const row = this.#db.prepare(`${ATTEMPTS} WHERE key = ?`).get(key);
    return row && toAttempt(row);
  }

  /**
   * Finds the attempt of a payment: of a collection, by the `externalId` and the amount; of a refund, by the id that
   * Sanaga's first answer had. A notification that comes before that is no loss: the request is repeated, and answered
   * with the payment as it is then. Other systems' payments, payouts among them, can have any `externalId`.
   */
  attemptOf(payment: Pick<Payment, 'id' | 'kind' | 'externalId' | 'amount'>): Attempt | undefined {
    const { id, kind, externalId = '', amount } = payment;
    if (kind === 'collection') {
      const attempt = this.attempt(externalId);
      return attempt?.kind === 'collection' && attempt.params.amount === amount ? attempt : undefined;
    }
    const row = this.#db.prepare(`${ATTEMPTS} WHERE json_extract(payment, '$.id') = ?`).get(id);
    return row && toAttempt(row);
  }

  /** Attempts that Sanaga may or may not know of. */
  unanswered(): Attempt[] {
    return this.#db.prepare(`${ATTEMPTS} WHERE payment IS NULL ORDER BY rowid`).all().map(toAttempt);
  }

  /**
   * Stores an attempt, before Sanaga is asked, with everything needed to repeat the request word by word. Its key
   * follows from the order, so two processes can't make two attempts of the same number.
   *
   * @returns `undefined` while an earlier one has succeeded, or still can: nobody may be charged or paid twice
   */
  addAttempt(order: Order, kind: Attempt['kind'], toParams: (key: string) => Attempt['params']): Attempt | undefined {
    return this.#atOnce(() => {
      const earlier = this.attempts(order.id).filter((attempt) => attempt.kind === kind);
      if (!earlier.every(isOver)) return undefined;
      const first = `${kind === 'collection' ? 'order' : 'refund'}-${order.id}`;
      const key = earlier.length === 0 ? first : `${first}-${earlier.length + 1}`;
      const add = 'INSERT INTO attempts (key, order_id, kind, params, created_at) VALUES (?, ?, ?, ?, ?)';
      const params = JSON.stringify(toParams(key));
      this.#db.prepare(add).run(key, order.id, kind, params, new Date().toISOString());
      return this.attempt(key);
    });
  }

  /**
   * Stores Sanaga's data on a payment, unless newer data is stored: answers and notifications can overtake each other.
   * Newer data always counts, even if it takes a success back.
   */
  update(payment: Payment): void {
    const stored = this.attemptOf(payment);
    // Not this shop's: other systems may use the same API key.
    if (stored !== undefined) this.answer(stored, payment);
  }

  /** Stores Sanaga's answer to an attempt's request, unless newer data is stored by now. */
  answer({ key }: Attempt, payment: Payment): void {
    const stored = this.attempt(key)?.payment;
    if (stored !== undefined && !isNewer(payment, stored)) return;
    const hasSucceeded = payment.final && payment.status === 'SUCCESSFUL' ? 1 : 0;
    this.#db
      .prepare('UPDATE attempts SET payment = ?, error = NULL, has_succeeded = max(has_succeeded, ?) WHERE key = ?')
      .run(JSON.stringify(payment), hasSucceeded, key);
  }

  /** Stores the reason why Sanaga hasn't answered. It says nothing about the payment. */
  noteError(key: string, error: string): void {
    this.#db.prepare('UPDATE attempts SET error = ? WHERE key = ?').run(error, key);
  }

  /** Stores that Sanaga has refused a request as invalid. */
  noteRefusal(key: string, error: string): void {
    this.#atOnce(() => {
      this.#db.prepare('INSERT INTO refused VALUES (?) ON CONFLICT (key) DO NOTHING').run(key);
      this.noteError(key, error);
    });
  }

  /**
   * Stores a notification and its payment, all or nothing.
   *
   * @returns whether it came for the first time: what must happen once, such as an e-mail, hangs on that. What it says
   *   is stored each time, since one that is sent again has the payment as it is by then
   */
  receive({ id, type, data }: WebhookEvent): boolean {
    return this.#atOnce(() => {
      const add = 'INSERT INTO notices VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING';
      const key = this.attemptOf(data)?.key ?? '';
      const { changes } = this.#db.prepare(add).run(id, key, type, new Date().toISOString());
      this.update(data);
      return changes > 0;
    });
  }

  /** The notifications of an attempt, oldest first. */
  notices(key: string): Notice[] {
    const rows = this.#db.prepare('SELECT * FROM notices WHERE attempt = ? ORDER BY rowid').all(key);
    return rows.map((row) => ({
      id: String(row.id),
      type: String(row.type),
      receivedAt: String(row.received_at),
    }));
  }

  close(): void {
    this.#db.close();
  }

  #atOnce<T>(change: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = change();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

const ATTEMPTS = 'SELECT *, key IN (SELECT key FROM refused) AS is_refused FROM attempts';

/** Within a millisecond, outcomes come last. */
function isNewer(payment: Payment, stored: Payment): boolean {
  if (payment.id !== stored.id) return false;
  if (payment.updatedAt === stored.updatedAt) return payment.final || !stored.final;
  return Date.parse(payment.updatedAt) > Date.parse(stored.updatedAt);
}

type Row = Record<string, unknown>;

function toOrder({ id, number, item, amount, phone, created_at }: Row): Order {
  return {
    id: String(id),
    number: Number(number),
    item: String(item),
    amount: Number(amount),
    phone: String(phone),
    createdAt: String(created_at),
  };
}

function toAttempt(row: Row): Attempt {
  const { key, order_id, kind, params, created_at, payment, has_succeeded, error, is_refused } = row;
  return {
    key: String(key),
    orderId: String(order_id),
    kind,
    params: JSON.parse(String(params)),
    createdAt: String(created_at),
    ...(payment !== null && { payment: JSON.parse(String(payment)) }),
    hasSucceeded: has_succeeded === 1,
    isRefused: is_refused === 1,
    ...(error !== null && { error }),
  } as Attempt; // As `addAttempt` and `update` have written it.
}
