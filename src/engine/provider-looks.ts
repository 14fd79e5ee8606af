import { post } from '../book/inbox.js';
import type { FoundPayment } from '../book/payments.js';
import { takeTurn } from '../book/turn.js';
import { lookAllowedAt } from '../payments/machine/plan.js';
import { type PaymentOrder, type Service, serviceOf } from '../payments/words/order.js';
import type { ListAnswer, StatusAnswer } from '../payments/words/outcome.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import { transIdOf } from '../payments/words/payment-state.js';
import type { EngineContext } from './engine-context.js';

/** An answer of the provider, and when it came, in ms since the epoch. */
export interface Answered<Answer> {
  readonly answer: Answer;
  readonly at: number;
}

/** The provider's list of a payment's transactions, and the status of the one that it goes by. */
export interface ProviderView {
  readonly list: Answered<ListAnswer>;
  readonly status?: (Answered<StatusAnswer> & { readonly transId: TransId }) | undefined;
}

/** The questions to the provider that operators who look have. */
export interface ProviderReader {
  transactionsOf(paymentId: string, isDirect: boolean, call: { readonly withinMs: number }): Promise<ListAnswer>;
  paymentStatus(transId: string, call: { readonly withinMs: number }): Promise<StatusAnswer>;
}

export interface LookContext extends EngineContext {
  readonly readers: Readonly<Record<Service, ProviderReader>>;
}

/** A look is shared with later readers for this long, in ms. */
const REUSED_MS = 5_000;

/** Time that the provider has for each answer, in ms. */
const WITHIN_MS = 5_000;

/** Largest number of looks remembered. Beyond it, the oldest is forgotten. */
const MAX_KEPT = 1_000;

/**
 * The provider's current records of payments, for operators. What is seen decides nothing, but each question for a
 * status counts in its payment's budget, whichever process it comes from. Operators who look within five seconds share
 * an answer; while the budget has no room, the latest one of this process is shown again, with its time.
 */
export class ProviderLooks {
  readonly #kept = new Map<PaymentId, { readonly at: number; readonly view: Promise<ProviderView> }>();

  /** @throws {BookUnavailable} */
  look(context: LookContext, payment: FoundPayment): Promise<ProviderView> {
    const { id } = payment;
    const now = context.book.now();
    const kept = this.#kept.get(id);
    if (kept !== undefined && now - kept.at < REUSED_MS) return kept.view;
    const view = look(context, payment, kept?.view);
    // The next reader tries a failed look again.
    view.catch(() => this.#kept.get(id)?.view === view && this.#kept.delete(id));
    this.#kept.delete(id);
    this.#kept.set(id, { at: now, view });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return view;
  }
}

/** @param before the look before, if it is known */
async function look(
  context: LookContext,
  payment: FoundPayment,
  before: Promise<ProviderView> | undefined,
): Promise<ProviderView> {
  const { state } = payment.kept;
  const reader = context.readers[serviceOf(state.order)];
  const transId = transIdOf(state);
  const [list, status] = await Promise.all([
    askForList(context, reader, state.order, state.quietUntil),
    transId && askForStatus(context, reader, payment, transId),
  ]);
  if (transId === undefined || status === undefined) return { list };
  const isKeptBack = status.answer.kind === 'throttled' && status.answer.isOurs === true;
  return { list, status: (isKeptBack && (await answeredBefore(before, transId))) || { ...status, transId } };
}

async function answeredBefore(
  before: Promise<ProviderView> | undefined,
  transId: TransId,
): Promise<ProviderView['status']> {
  const status = (await before?.catch(() => undefined))?.status;
  const isAnswer = status?.answer.kind === 'found' || status?.answer.kind === 'unknown';
  return isAnswer && status.transId === transId ? status : undefined;
}

async function askForList(
  { book }: LookContext,
  reader: ProviderReader,
  { id, kind }: PaymentOrder,
  quietUntil = 0,
): Promise<Answered<ListAnswer>> {
  const retryAfterMs = quietUntil - book.now();
  const answer: ListAnswer =
    retryAfterMs > 0
      ? { kind: 'throttled', retryAfterMs, isOurs: true }
      : await reader.transactionsOf(id, kind === 'direct', { withinMs: WITHIN_MS });
  return { answer, at: book.now() };
}

/** Asks while the budget has room. The question is counted before it is asked, so that no others ask instead. */
async function askForStatus(
  { book }: LookContext,
  reader: ProviderReader,
  { id, kept }: FoundPayment,
  transId: TransId,
): Promise<Answered<StatusAnswer>> {
  const now = book.now();
  const retryAfterMs = lookAllowedAt(kept.state, transId, now) - now;
  if (retryAfterMs > 0) return { answer: { kind: 'throttled', retryAfterMs, isOurs: true }, at: now };
  await post(book, id, { kind: 'looked', transId }, now);
  await takeTurn(book, id, { asksNothing: true }, now);
  const answer = await reader.paymentStatus(transId, { withinMs: WITHIN_MS });
  return { answer, at: book.now() };
}
