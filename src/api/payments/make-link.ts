import { type Beginning, beginPayment, type LinkRequest } from '../../payments/beginning.js';
import { step } from '../../payments/machine.js';
import type { LinkOrder, PaymentTerms } from '../../payments/order.js';
import type { ExpiryAnswer, InitiationOutcome } from '../../payments/outcome.js';
import type { PaymentId, TransId } from '../../payments/payment-id.js';
import { transIdOf } from '../../payments/payment-state.js';
import { toInitiatePay } from '../../provider/requests.js';
import type { InitiatePayRequest } from '../../provider/schemas.js';

/*
 * A payment link is asked for by the API itself, and its workflow begins with the provider's answer. A link moves no money, and
 * one that nobody was given can't be paid: nothing is lost if this process ends between the two. What moves money is only ever
 * sent by an activity. See docs/decisions/0042-links-made-by-the-api.md.
 */

/** The calls that the API makes to the provider to change something. */
export interface LinkMaker {
  initiatePay(
    request: InitiatePayRequest,
    call: { readonly withinMs: number; readonly signal: AbortSignal },
  ): Promise<InitiationOutcome>;
  expirePay(transId: string): Promise<ExpiryAnswer>;
}

/** A link that was asked for, and what the payment is with the answer. */
export interface RequestedLink extends Beginning {
  readonly request: LinkRequest;
  /** For how long the payment has nothing to do, in ms; `undefined` when it has something to do now. */
  readonly idleMs: number | undefined;
}

/**
 * Asks the provider for a link, once. The payment machine says what its answer means.
 *
 * @param withinMs how long the provider may take. Beyond that it hangs, as its breaker counts, which a signal doesn't say.
 */
export async function requestLink(
  links: LinkMaker,
  order: LinkOrder,
  terms: PaymentTerms,
  withinMs: number,
  signal: AbortSignal,
): Promise<RequestedLink> {
  const sentAt = Date.now();
  const outcome = await links.initiatePay(toInitiatePay(order), { withinMs, signal });
  const answeredAt = Date.now();
  return requestedLink(order, terms, { outcome, sentAt, answeredAt });
}

/** What a payment is with the answer to the request for its link, when its workflow is started with that at once. */
export function requestedLink(order: LinkOrder, terms: PaymentTerms, request: LinkRequest): RequestedLink {
  const { outcome, answeredAt } = request;
  const beginning = beginPayment(order, terms, answeredAt, request);
  const { todo } = step(beginning.payment, { kind: 'begin' }, answeredAt);
  const isIdle = outcome.kind === 'accepted' && todo.kind === 'wait' && todo.until !== undefined;
  return { ...beginning, request, idleMs: isIdle ? todo.until - answeredAt : undefined };
}

/**
 * Expires a link that nobody was given. If that fails, it expires by itself within a day.
 *
 * @param given the transaction of the link that the payment has
 */
export function expireUngiven(
  links: LinkMaker,
  { payment }: RequestedLink,
  given: TransId | undefined,
): void {
  const transId = transIdOf(payment);
  if (transId === undefined || transId === given) return;
  void links.expirePay(transId).catch(() => undefined);
}

/** Has requests for one payment take turns in this process, so that only the first of them asks for a link. */
export class Turns {
  readonly #last = new Map<PaymentId, Promise<unknown>>();

  async take<T>(id: PaymentId, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(id);
    const turn = before === undefined ? task() : before.then(task, task);
    this.#last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(id) === turn) this.#last.delete(id);
    }
  }

  /** Resolves when nobody asks for the payment's link, however that went. */
  async untilOver(id: PaymentId): Promise<void> {
    await this.#last.get(id)?.catch(() => undefined);
  }
}

/** For how long a payment that was started with its link is remembered, in ms. Most links are paid within minutes. */
const REMEMBERED_MS = 60 * 60 * 1_000;

/** Payments that are remembered. Beyond that, the one that was started first is forgotten. */
const MAX_REMEMBERED = 10_000;

/** The payments that this process has started with their links: a notification for one need not ask whether it waits for its start. */
export class RecentLinks {
  readonly #startedAt = new Map<PaymentId, number>();

  add(id: PaymentId): void {
    this.#startedAt.set(id, Date.now());
    const [oldest] = this.#startedAt.keys();
    if (this.#startedAt.size > MAX_REMEMBERED && oldest !== undefined) this.#startedAt.delete(oldest);
  }

  /** Whether the payment was started a short while ago, and nobody has asked since. */
  take(id: PaymentId): boolean {
    const startedAt = this.#startedAt.get(id);
    this.#startedAt.delete(id);
    return startedAt !== undefined && Date.now() - startedAt < REMEMBERED_MS;
  }
}
