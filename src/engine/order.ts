import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuditedCaller } from '../book/audit.js';
import { type Claimed, claim } from '../book/claim.js';
import { BookUnavailable } from '../book/database.js';
import { type FoundPayment, findPayment, findRow } from '../book/payments.js';
import { takeTurn } from '../book/turn.js';
import { toPayment } from '../payments/views/to-payment.js';
import { type PaymentOrder, type PaymentTerms, refundOf, sendAtOf, serviceOf } from '../payments/words/order.js';
import type { Payment } from '../payments/words/payment.js';
import {
  isFinalPayment,
  openPayment,
  type PaymentState,
  rejectionOf,
  reviewOf,
  statusOf,
  transIdOf,
} from '../payments/words/payment-state.js';
import type { PersonsKey } from '../payments/words/person.js';
import { dayOf, startOf } from '../payments/words/time.js';
import type { EngineContext } from './engine-context.js';
import {
  DailyLimitReached,
  isEngineError,
  KeyReused,
  MoreThanRefundable,
  NotRefundable,
  StartUncertain,
  TakesApproval,
  Unavailable,
} from './errors.js';
import { type LinkContext, makeLink } from './links.js';
import { type Startable, startWorkflow, tryTemporal } from './ring.js';

/** Dependencies of ordering payments. */
export interface OrderContext extends EngineContext, LinkContext {
  readonly terms: PaymentTerms;
  /** @throws {Unavailable} while Temporal doesn't answer */
  checkTemporal(): Promise<void>;
}

/** A merchant's request for a payment. */
export interface OrderRequest {
  readonly order: PaymentOrder;
  readonly merchant: string;
  readonly fingerprint: string;
  /** Its X-Request-Id. */
  readonly httpRequestId: string;
  /** It has an Idempotency-Key, so that repeating it leads to the same payment. */
  readonly repeatable: boolean;
  /** The merchant's limit for the payouts of a day, in XAF. */
  readonly maxPerDay?: number | undefined;
  readonly people?: readonly PersonsKey[] | undefined;
  readonly caller: AuditedCaller;
}

/** A payment that was ordered now, or before. */
export interface Ordered {
  readonly kind: 'started' | 'rejected' /** The provider's answer isn't known yet. */ | 'undecided';
  readonly payment: Payment;
  /** The provider's message, where it was rejected. */
  readonly rejection?: string | undefined;
  /** An earlier request with the same key ordered the payment, which is returned as it is now. */
  readonly isRepeated: boolean;
}

/**
 * Orders a payment: claims it in the book, has it sent, and waits for the provider's answer as long as a response may
 * take. Finds one that was ordered before. Once it is claimed, it is never refused any more.
 *
 * @throws {KeyReused | NotRefundable | MoreThanRefundable | TakesApproval | DailyLimitReached}
 * @throws {Unavailable} when nothing was done.
 * @throws {StartUncertain} when it isn't known whether it is claimed.
 */
export async function orderPayment(context: OrderContext, request: OrderRequest): Promise<Ordered> {
  const arrivedAt = Date.now();
  const { order, httpRequestId } = request;
  // An X-Request-Id may be repeated, so it alone doesn't identify the request that made the payment.
  const requestId = `${httpRequestId}.${randomBytes(4).toString('hex')}`;
  const now = context.book.now();
  const claimed = await claimWhileTemporalAnswers(context, request, requestId, now);
  if (claimed === 'repeated') {
    const repeated = await findOrdered(context, request, arrivedAt);
    if (repeated !== undefined) return repeated;
    throw new Unavailable();
  }
  const opened = openPayment(order, context.terms, now);
  const begun: Begun = { ...startable(request, opened), version: 1, state: opened, repeatable: request.repeatable };
  return toOrdered(await bringOn(context, begun, arrivedAt), false);
}

/**
 * Finds the payment of a request that may be a repeated one, and orders none. One whose provider hasn't answered yet is
 * waited for.
 *
 * @throws {KeyReused | BookUnavailable | SealBroken}
 */
export async function findOrdered(
  context: OrderContext,
  { order: { id }, fingerprint }: { readonly order: Pick<PaymentOrder, 'id'>; readonly fingerprint: string },
  arrivedAt = Date.now(),
): Promise<Ordered | undefined> {
  const found = await findPayment(context.book, id);
  if (found === undefined) return undefined;
  if (found.fingerprint !== fingerprint) throw new KeyReused(id, found.fingerprint === '');
  const begun: Begun = { ...found, state: found.kept.state, repeatable: true };
  return toOrdered(await bringOn(context, begun, arrivedAt), true);
}

/** Throws a refusal of an order, if there is one, unless its payment exists: a repeated request gets its payment. */
export async function refuseUnlessOrdered(
  { book }: Pick<OrderContext, 'book'>,
  { id }: Pick<PaymentOrder, 'id'>,
  refusal: Error | undefined,
): Promise<void> {
  if (refusal !== undefined && (await findRow(book, id)) === undefined) throw refusal;
}

/**
 * While Temporal is away, nothing new is claimed: nobody would send it for long.
 *
 * @param now ms since the epoch
 */
async function claimWhileTemporalAnswers(
  context: OrderContext,
  request: OrderRequest,
  requestId: string,
  now: number,
): Promise<'claimed' | 'repeated'> {
  const { order, merchant, fingerprint, maxPerDay, people, caller } = request;
  try {
    await context.checkTemporal();
  } catch (error) {
    if (isEngineError(error) && (await findRow(context.book, order.id)) !== undefined) return 'repeated';
    throw error;
  }
  const { terms } = context;
  const wanted = { order, terms, merchant, fingerprint, requestId, maxPerDay, people, caller };
  const claimed = await claimSurely(request, () => claim(context.book, wanted, now));
  switch (claimed.kind) {
    case 'claimed':
      return 'claimed';
    case 'repeated':
      return claimed.requestId === requestId ? 'claimed' : 'repeated';
    case 'otherRequest':
      throw new KeyReused(order.id, claimed.isErased);
    case 'notRefundable':
      throw new NotRefundable();
    case 'noRoom':
      throw new MoreThanRefundable();
    case 'takesApproval':
      throw new TakesApproval();
    case 'overDay': {
      const { day, total } = claimed;
      const at = day === dayOf(now) ? now : startOf(day);
      throw new DailyLimitReached(maxPerDay ?? 0, total, at, sendAtOf(order) !== undefined);
    }
  }
}

/** Claims that are made again while it isn't known what became of the last one. */
const MAX_TRIES = 4;
const TRY_AGAIN_MS = 250;

/** To claim again with the same request adds nothing. */
async function claimSurely({ order, repeatable }: OrderRequest, attempt: () => Promise<Claimed>): Promise<Claimed> {
  let isUncertain = false;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof BookUnavailable)) throw error;
      isUncertain ||= error.mayHaveCommitted;
      if (!isUncertain) throw error;
      if (tries === MAX_TRIES) throw new StartUncertain(order.id, repeatable, error);
    }
    await pause(TRY_AGAIN_MS);
  }
}

/** A payment that may have to be begun, as it was read last. */
interface Begun extends Startable {
  readonly version: number;
  readonly state: PaymentState;
  /** Repeating the request leads to the same payment. */
  readonly repeatable: boolean;
}

function startable({ order, merchant }: Pick<OrderRequest, 'order' | 'merchant'>, state: PaymentState): Startable {
  const { id, kind: method, amount, externalId, userId } = order;
  const status = statusOf(state);
  return {
    id,
    merchant,
    kind: serviceOf(order),
    method,
    amount,
    status,
    externalId,
    userId,
    refundOf: refundOf(order),
  };
}

/**
 * Begins what was claimed, and waits until the provider's answer is known, or the time for the response is over. What
 * fails now is done by the keeper later.
 *
 * @returns the payment as it is known last
 * @throws {StartUncertain} when the book has gone back meanwhile, and knows no such payment
 */
async function bringOn(context: OrderContext, payment: Begun, arrivedAt: number): Promise<PaymentState> {
  if (isAnswerable(payment.state) && payment.version > 1) return payment.state;
  const withinMs = arrivedAt + context.answerWithinMs - Date.now();
  return await context.shutdown.commands.within(withinMs, async (signal) => {
    const begun = await begin(context, payment, signal).catch((error: unknown) => {
      if (!(error instanceof BookUnavailable)) throw error;
      context.logger.warn({ err: error, paymentId: payment.id }, 'a payment that was ordered is begun within minutes');
      return undefined;
    });
    if (begun !== undefined && isAnswerable(begun)) return begun;
    const find = ({ kept: { state } }: FoundPayment) => (isAnswerable(state) ? state : undefined);
    return (await context.changes.until(payment.id, find, signal)) ?? (await latest(context, payment)) ?? payment.state;
  });
}

/** Begins a payment, unless somebody has. @returns the payment after it, if it is known */
async function begin(context: OrderContext, payment: Begun, signal: AbortSignal): Promise<PaymentState | undefined> {
  const { state, version } = payment;
  // A link that somebody else is making is waited for.
  if (version > 1 && payment.method === 'link') return undefined;
  if (payment.method === 'link') return await makeLink(context, payment, signal);
  let delayMs = 0;
  if (state.phase.kind === 'held') {
    const turn = await takeTurn(context.book, payment.id, { asksNothing: true }, context.book.now());
    if (turn !== undefined) context.onTurn?.(turn);
    if (turn?.todo.kind === 'wait') delayMs = (turn.todo.until ?? 0) - context.book.now();
  }
  await tryTemporal(context, payment.id, () => startWorkflow(context, payment, delayMs));
  return state.phase.kind === 'held' ? state : undefined;
}

async function latest({ book }: OrderContext, { id, repeatable }: Begun): Promise<PaymentState | undefined> {
  let found: FoundPayment | undefined;
  try {
    found = await findPayment(book, id);
  } catch (error) {
    if (error instanceof BookUnavailable) return undefined;
    throw error;
  }
  if (found === undefined) throw new StartUncertain(id, repeatable, new Error('the book has gone back'));
  return found.kept.state;
}

/** Reports whether the provider has answered, or nothing is sent yet. */
function isDecided(state: PaymentState): boolean {
  return isFinalPayment(state) || state.phase.kind === 'held' || transIdOf(state) !== undefined;
}

/** Reports whether a request for the payment is answered now: a person isn't waited for. */
function isAnswerable(state: PaymentState): boolean {
  return isDecided(state) || reviewOf(state) !== undefined;
}

function toOrdered(state: PaymentState, isRepeated: boolean): Ordered {
  const rejection = rejectionOf(state);
  const payment = toPayment(state);
  if (rejection !== undefined) return { kind: 'rejected', payment, rejection, isRepeated };
  const isStarted = isRepeated ? isAnswerable(state) : isDecided(state);
  return { kind: isStarted ? 'started' : 'undecided', payment, isRepeated };
}
