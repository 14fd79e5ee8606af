import { ownerOf } from '../payments/machine/matching.js';
import { SERVICES } from '../payments/words/order.js';
import { type PaymentId, parsePaymentId } from '../payments/words/payment-id.js';
import type { SearchedTransaction, Transaction } from '../payments/words/transaction.js';
import { providerText } from '../provider/provider-text.js';
import {
  compare,
  type DayPayment,
  type Finding,
  findingOf,
  ofPayment,
  type Shown,
  type StatementLine,
  type UnknownTransaction,
} from '../reconciliation/reconciliation.js';

/** The transactions that the searches of each service have shown. */
export type Found = Readonly<Record<DayPayment['kind'], readonly SearchedTransaction[]>>;

/** The provider's lists of payments' transactions; `null` where it refused. */
export type Lists = ReadonlyMap<PaymentId, readonly Transaction[] | null>;

/** Questions beside the day's payments and the transactions that were found. */
export interface Surroundings {
  /** Payments of any day by their ids, as they are now. */
  paymentsWith(ids: readonly PaymentId[]): Promise<readonly DayPayment[]>;
  /** Reports whether any payment goes by this transaction, such as one that an operator has matched with it. */
  isHeld(transaction: SearchedTransaction): Promise<boolean>;
  /** A payment's transactions at this moment; `undefined` when the provider gives no answer. */
  list(payment: DayPayment): Promise<Shown>;
}

/** Largest number of payments that are looked at a second time because something differs. */
const MAX_CONFIRMED = 500;

/** Transactions that are looked for among the payments that operators have matched. */
const MAX_HELD = 200;

/** A payment, its line in the statement, and the findings. */
interface Compared {
  readonly payment: DayPayment;
  readonly line: StatementLine;
  readonly findings: readonly Finding[];
}

export interface DayComparison {
  readonly lines: readonly StatementLine[];
  readonly findings: readonly Finding[];
}

/**
 * Compares a day's payments with the provider's records. A payment that differs is looked at again, first at the
 * provider's and then here, because it may have moved on between the two.
 *
 * A transaction of another day's payment isn't this day's. It is only looked at whether that payment contradicts it, as
 * when a second one was made a day later.
 */
export async function compareDay(
  payments: readonly DayPayment[],
  found: Found,
  lists: Lists,
  surroundings: Surroundings,
): Promise<DayComparison> {
  const shown = new ShownTransactions(found, lists);
  const days = payments.map((payment) => comparedWith(payment, shown.of(payment)));
  const { others, unknown } = await shown.beside(payments, surroundings);
  const doubtful = [...days, ...others].filter(({ findings }) => findings.some(isDifference));
  const again = await confirmed(doubtful.slice(0, MAX_CONFIRMED), surroundings);
  const settled = (one: Compared) => again.get(one.payment.id) ?? one;
  const lines = days.map(settled);
  const ofOthers = others.map(settled).flatMap(({ findings }) => findings.filter(isDifference));
  return {
    lines: lines.map(({ line }) => line),
    findings: [
      ...lines.flatMap(({ findings }) => findings),
      ...ofOthers,
      ...unknown.map((one) => findingOf(masked(one))),
    ],
  };
}

function comparedWith(payment: DayPayment, shown: Shown): Compared {
  return { payment, ...compare(payment, shown) };
}

function isDifference({ kind }: Finding): boolean {
  return kind !== 'in_review';
}

/** Compares the same payments again. */
async function confirmed(
  doubtful: readonly Compared[],
  { list, paymentsWith }: Surroundings,
): Promise<ReadonlyMap<PaymentId, Compared>> {
  const listed = new Map<PaymentId, Shown>();
  for (const { payment } of doubtful) listed.set(payment.id, await list(payment));
  const now = await paymentsWith(doubtful.map(({ payment }) => payment.id));
  // A payment that the provider didn't show again stays as it was found.
  const heard = now.filter(({ id }) => listed.get(id) !== undefined);
  return new Map(heard.map((payment) => [payment.id, comparedWith(payment, listed.get(payment.id))]));
}

/** The provider's transactions, by the payments that they belong to. */
export class ShownTransactions {
  readonly #byOwner: ReadonlyMap<string | undefined, readonly SearchedTransaction[]>;
  readonly #byTransId: ReadonlyMap<string, readonly SearchedTransaction[]>;

  constructor(
    private readonly found: Found,
    private readonly lists: Lists,
  ) {
    const all = [...found.collection, ...found.payout];
    this.#byOwner = Map.groupBy(all, named);
    this.#byTransId = Map.groupBy(all, ({ transId }) => transId);
  }

  /** The transactions of a payment in the searches. */
  inSearches(payment: DayPayment): readonly Transaction[] {
    const { id, transId } = payment;
    const own = transId === undefined ? [] : (this.#byTransId.get(transId) ?? []);
    return ofPayment(payment, [...(this.#byOwner.get(id) ?? []), ...own]);
  }

  /** All known transactions of a payment, those of its list first, which are later; `undefined` without any answer. */
  of(payment: DayPayment): Shown {
    const searched = this.inSearches(payment);
    const list = this.lists.get(payment.id);
    if (!list && searched.length === 0) return undefined;
    return ofPayment(payment, [...(list ?? []), ...searched]);
  }

  /**
   * Returns the transactions that aren't the payments' own: those of other days' payments, which may contradict them,
   * and those of no payment.
   */
  async beside(
    payments: readonly DayPayment[],
    { paymentsWith, isHeld }: Surroundings,
  ): Promise<{ readonly others: readonly Compared[]; readonly unknown: readonly UnknownTransaction[] }> {
    const ids = new Set<string | undefined>(payments.map(({ id }) => id));
    const transIds = new Set<string | undefined>(payments.map(({ transId }) => transId));
    const isOwn = (one: SearchedTransaction) => ids.has(named(one)) || transIds.has(one.transId);
    const rest = SERVICES.flatMap((service) =>
      this.found[service].filter((one) => !isOwn(one)).map((transaction) => ({ service, transaction })),
    );
    const owners = rest.map(({ transaction }) => parsePaymentId(named(transaction)));
    const others = await paymentsWith([...new Set(owners.filter((id) => id !== undefined))]);
    const known = new Set<string | undefined>(others.map(({ id }) => id));
    const unknown: UnknownTransaction[] = [];
    for (const one of rest.filter(({ transaction }) => !known.has(named(transaction)))) {
      const isMatched = unknown.length < MAX_HELD && (await isHeld(one.transaction));
      if (!isMatched) unknown.push(one);
    }
    return { others: others.map((other) => comparedWith(other, this.inSearches(other))), unknown };
  }
}

/**
 * Masks an `externalId` that isn't a payment's and looks like a phone number or an address: its maker may have put one
 * there.
 */
function masked({ service, transaction }: UnknownTransaction): UnknownTransaction {
  const { externalId } = transaction;
  if (externalId === undefined || parsePaymentId(externalId) !== undefined) return { service, transaction };
  return { service, transaction: { ...transaction, externalId: providerText(externalId) } };
}

/** Names the payment that a transaction is for; none when its two identifiers differ, or there is none. */
function named(transaction: Transaction): string | undefined {
  const name = transaction.externalId ?? transaction.userId;
  return name !== undefined && ownerOf(name, transaction) === 'payment' ? name : undefined;
}
