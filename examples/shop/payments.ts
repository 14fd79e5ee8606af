import {
  ConflictError,
  IdempotencyError,
  InvalidRequestError,
  LimitError,
  type Payment,
  PaymentRejectedError,
  type Sanaga,
  SanagaError,
} from 'sanaga/client';
import { type Attempt, isOver, type Order, type Store } from './store.ts';

/** Time that a customer has to pay. */
const LINK_LIFETIME = '2h';

/**
 * A request is repeated for this long, in ms. Sanaga knows an Idempotency-Key for at least 30 days after it was first
 * used: after that, a repeated request could pay again.
 */
const REPEAT_WITHIN_MS = 29 * 24 * 60 * 60_000;

/** Errors with which Sanaga would answer each time, as long as nobody mends what is wrong. */
const REFUSALS = [InvalidRequestError, IdempotencyError, ConflictError] as const;

/** A visitor who comes back from the checkout page waits this long for the outcome, in seconds. */
const WAIT_SECONDS = 8;

/** State of an order's money, from all attempts together. */
export type OrderState =
  /** There is no link yet. */
  | { readonly kind: 'preparing' }
  /** There is no link, and won't be unless the shop's owner sees to it. */
  | { readonly kind: 'refused' }
  /** `lastTry` says why the payer's last try failed. */
  | { readonly kind: 'payable'; readonly link: string; readonly until?: string; readonly lastTry?: string }
  /** The only state in which goods may be shipped. */
  | { readonly kind: 'paid'; readonly payment: Payment }
  /** Money has come, but not what was asked for: the shop's owner decides. */
  | { readonly kind: 'otherAmount'; readonly payment: Payment }
  /** Nobody knows, or a success is in doubt again: Sanaga's operator looks into it. */
  | { readonly kind: 'review'; readonly wasPaid: boolean }
  /** Nothing was paid, and nothing can be: there may be another attempt. */
  | { readonly kind: 'unpaid' };

export function stateOf(attempts: readonly Attempt[]): OrderState {
  const collections = attempts.filter(({ kind }) => kind === 'collection');
  const paid = collections.find(isPaid)?.payment;
  if (paid !== undefined) return { kind: isOfOtherAmount(paid) ? 'otherAmount' : 'paid', payment: paid };
  const inReview = collections.find(({ payment }) => payment?.status === 'REVIEW');
  if (inReview !== undefined) return { kind: 'review', wasPaid: inReview.hasSucceeded };
  const open = collections.find((attempt) => !isOver(attempt));
  if (open === undefined) return { kind: 'unpaid' };
  const { link, expiresAt, status, reason } = open.payment ?? {};
  if (isGivenUp(open)) return { kind: 'refused' };
  if (link === undefined) return { kind: 'preparing' };
  return {
    kind: 'payable',
    link,
    ...(expiresAt !== undefined && { until: expiresAt }),
    ...(status === 'FAILED' && { lastTry: reason ?? 'no reason was given' }),
  };
}

/** The status alone proves nothing: only a final SUCCESSFUL is money. */
function isPaid({ payment }: Attempt): boolean {
  return payment?.final === true && payment.status === 'SUCCESSFUL';
}

/** Returns the amount that moved. It differs from the order's when an operator has matched money of another amount. */
export function paidAmount({ amount, amountPaid = amount }: Payment): number {
  return amountPaid;
}

function isOfOtherAmount(payment: Payment): boolean {
  return paidAmount(payment) !== payment.amount;
}

/** The refund that was asked for last. */
export function refundOf(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.findLast(({ kind }) => kind === 'refund');
}

/** Lists problems for the shop's owner to look into. */
export function alertsOf(attempts: readonly Attempt[]): string[] {
  const alerts = attempts.flatMap((attempt) => {
    const { key, payment, hasSucceeded, error } = attempt;
    const found: string[] = [];
    if (payment?.status === 'REVIEW') {
      const what = hasSucceeded ? 'had succeeded, and is in doubt again' : 'is in doubt';
      found.push(
        `${key} ${what}: ${payment.reason ?? 'no reason was given'}. Ship nothing, and pay nothing, until it is settled.`,
      );
    }
    if (payment !== undefined && isPaid(attempt) && isOfOtherAmount(payment))
      found.push(`${key} was for ${payment.amount} XAF, and ${paidAmount(payment)} XAF have moved.`);
    if (hasSucceeded && isOver(attempt)) found.push(`${key} had succeeded, but is ${payment?.status} after all.`);
    if (payment === undefined && !mayRepeat(attempt)) {
      found.push(`${key} is too old to be repeated safely: ask Sanaga's operator what became of it.`);
    } else if (isGivenUp(attempt)) {
      found.push(`${key} was refused. Mend what is wrong, and send it again. ${error}`);
    } else if (error !== undefined) found.push(`${key} is repeated until Sanaga answers. The last try: ${error}`);
    return found;
  });
  const paid = attempts.filter((attempt) => attempt.kind === 'collection' && isPaid(attempt));
  return paid.length > 1 ? [...alerts, `The customer has paid ${paid.length} times.`] : alerts;
}

/** Reports whether only a person will send it again. An earlier try whose answer was lost may have been accepted. */
export function isGivenUp({ payment, isRefused }: Attempt): boolean {
  return payment === undefined && isRefused;
}

function mayRepeat({ createdAt }: Attempt): boolean {
  return Date.now() - Date.parse(createdAt) < REPEAT_WITHIN_MS;
}

/** All that the shop asks of Sanaga. */
export class Payments {
  readonly #sanaga: Sanaga;
  readonly #store: Store;
  readonly #shopUrl: string;

  constructor(sanaga: Sanaga, store: Store, shopUrl: string) {
    this.#sanaga = sanaga;
    this.#store = store;
    this.#shopUrl = shopUrl;
  }

  /** Has a payment link made. While an earlier one can still be paid, it stays with that. */
  async collect(order: Order): Promise<void> {
    this.#store.addAttempt(order, 'collection', (key) => ({
      method: 'link',
      amount: order.amount,
      externalId: key,
      message: `Order ${order.number}: ${order.item}`,
      redirectUrl: `${this.#shopUrl}/orders/${order.id}/return`,
      expiresIn: LINK_LIFETIME,
      // A refund goes there, and to no number from a form.
      refundTo: order.phone,
    }));
    const attempts = this.#store.attempts(order.id);
    const waiting = attempts.find(({ kind, payment }) => kind === 'collection' && payment === undefined);
    if (waiting !== undefined) await this.#send(waiting);
  }

  /**
   * Pays an order back, to the number that its link has named. Sanaga refunds no more than was collected, whoever
   * else refunds it.
   *
   * @returns why not, if it can't be
   */
  async refund(order: Order, amount: number): Promise<string | undefined> {
    const state = stateOf(this.#store.attempts(order.id));
    if (state.kind !== 'paid' && state.kind !== 'otherAmount') return 'Only an order that is paid can be refunded.';
    const most = paidAmount(state.payment);
    if (!Number.isInteger(amount) || amount < 100 || amount > most) {
      return `The amount must be a whole number from 100 to ${most} XAF.`;
    }
    const attempt = this.#store.addAttempt(order, 'refund', () => ({
      collection: state.payment.id,
      amount,
      reason: `Refund of order ${order.number}`,
    }));
    if (attempt === undefined) return 'This order has a refund already.';
    await this.#send(attempt);
    return undefined;
  }

  /** Sends an order's requests that have no answer once more, each with its own key, even those that were refused. */
  async retry(order: Order): Promise<void> {
    for (const attempt of this.#store.attempts(order.id)) {
      if (attempt.payment === undefined) await this.#send(attempt);
    }
  }

  /** Reads an order's payments that aren't final; with `wait`, waits some seconds for them. */
  async check(order: Order, { wait = false } = {}): Promise<void> {
    for (const { payment } of this.#store.attempts(order.id)) {
      if (payment === undefined || payment.final) continue;
      const seconds = wait ? { wait: WAIT_SECONDS } : {};
      const asked = this.#sanaga.payments.retrieve(payment.id, seconds, { timeoutMs: 3_000, maxRetries: 0 });
      await asked.then((now) => this.#store.update(now)).catch(unlessSanagas);
    }
  }

  /**
   * Catches up after a crash or an outage: repeats requests without an answer, each with its own key, and reads
   * payments that have changed at Sanaga without a notification, since those stop after 72 hours.
   */
  async sweep(): Promise<void> {
    for (const attempt of this.#store.unanswered()) if (!attempt.isRefused) await this.#send(attempt);
    const created = { gte: new Date(Date.now() - REPEAT_WITHIN_MS) };
    // What can't be read now is read by the next sweep.
    const listed = this.#sanaga.payments.list({ created, limit: 100 }, { onUnreadable: () => undefined });
    for await (const listedPayment of listed) {
      const { id, status, final } = listedPayment;
      const known = this.#store.attemptOf(listedPayment)?.payment;
      const isNews = known?.id === id && (known.status !== status || known.final !== final);
      // A list can be behind. The payment itself is not.
      if (isNews) this.#store.update(await this.#sanaga.payments.retrieve(id));
    }
  }

  /** Sends an attempt's request, for the first time or again: with the same key, it never pays twice. */
  async #send(attempt: Attempt): Promise<void> {
    if (!mayRepeat(attempt)) return;
    const { key } = attempt;
    try {
      this.#store.answer(attempt, await this.#ask(attempt));
    } catch (error) {
      unlessSanagas(error);
      // Rejected is an outcome. What Sanaga refuses it would refuse each time, so a person is shown why.
      // Everything else, an OutcomeUnknownError above all, leaves the attempt as it is, to be repeated with its key.
      if (error instanceof PaymentRejectedError && error.payment) this.#store.answer(attempt, error.payment);
      else if (isRefusal(error)) this.#store.noteRefusal(key, String(error));
      else this.#store.noteError(key, String(error));
    }
  }

  #ask({ key, kind, params }: Attempt): Promise<Payment> {
    const { collections } = this.#sanaga;
    const options = { idempotencyKey: key };
    if (kind === 'collection') return collections.create(params, options);
    const { collection, ...refund } = params;
    return collections.refund(collection, refund, options);
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof LimitError) return error.code === 'more_than_refundable';
  return REFUSALS.some((refusal) => error instanceof refusal);
}

/** Sanaga's errors are expected. Others, a full disk or a mistake of ours, are not. */
function unlessSanagas(error: unknown): void {
  if (!(error instanceof SanagaError)) throw error;
}
