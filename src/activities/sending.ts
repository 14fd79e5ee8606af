import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { BookUnavailable, patiently } from '../book/database.js';
import { fence, LEAVES_WITHIN_MS, type LimitsNow } from '../book/fence.js';
import { findPayment } from '../book/payments.js';
import { newNumber } from '../book/rows.js';
import { type Attempt, keepOutcome, keepUnsent } from '../book/sends.js';
import { COLLECTION_LOOK_MS, type SentIf, sentIf } from '../payments/machine/sending.js';
import { STATUS_CALLS_PER_WINDOW } from '../payments/words/limits.js';
import { type PaymentOrder, refundOf, serviceOf } from '../payments/words/order.js';
import type { InitiationOutcome, ListAnswer } from '../payments/words/outcome.js';
import type { ProviderClient } from '../provider/client.js';
import { toDirectPay, toInitiatePay, toPayout } from '../provider/requests.js';
import type { AskingContext } from './asking.js';
import { type CallLimit, callLimit } from './call-limit.js';
import { listOwn } from './own-transactions.js';
import { type RefundedCollections, whyNotRefunded } from './refund-check.js';

export interface SendingContext extends AskingContext {
  readonly book: Book;
  readonly collections: RefundedCollections;
  /** The merchant's limits as they are now; `'gone'` for a merchant that isn't known. */
  readonly limitsOf: (merchant: string) => LimitsNow | 'gone';
  readonly logger: Logger;
}

/** For how long an outcome is tried to be kept, in ms. After that, the attempt is in doubt. */
const KEEP_WITHIN_MS = 10_000;

/** What the activity's time limit has beyond all of that, in ms. */
const MARGIN_MS = 5_000;

/** Time limit of the activity that sends a payment, in ms: its looks, the fence, the request, and its outcome. */
export function timeToSend(order: PaymentOrder, providerTimeoutMs: number): number {
  return timeToLook(order, providerTimeoutMs) + LEAVES_WITHIN_MS + providerTimeoutMs + KEEP_WITHIN_MS + MARGIN_MS;
}

function timeToLook(order: PaymentOrder, providerTimeoutMs: number): number {
  const collection = refundOf(order) === undefined ? 0 : COLLECTION_LOOK_MS;
  return order.kind === 'link' ? 0 : providerTimeoutMs + collection;
}

/** Returns a function that tells the time since now, in ms: the longer one by the computer's two clocks. */
function stopwatch(): () => number {
  const [date, monotonic] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - date, performance.now() - monotonic);
}

/**
 * Makes one attempt to send a payment: reads the provider's list, writes the fence, and sends the request, within
 * seconds or not at all. What becomes of it is kept in the attempt's row, and told to nobody else.
 */
export async function sendAttempt(context: SendingContext, decided: Omit<Attempt, 'hand'>): Promise<void> {
  const { book, now } = context;
  const attempt: Attempt = { ...decided, hand: newNumber() };
  const found = await findPayment(book, attempt.id);
  if (found === undefined || found.asked !== attempt.token) return;
  const { order, terms } = found.kept.state;
  const elapsed = stopwatch();
  const limit = callLimit();
  const looked = await whyUnsent(context, order, sentIf(found.kept.state, now()), limit);
  const isStale = elapsed() > timeToLook(order, terms.providerTimeoutMs) + LEAVES_WITHIN_MS;
  const outcome = looked ?? (isStale ? FROZEN : undefined);
  const clearance: Clearance = outcome ? unsent(outcome) : await fenceNow(context, attempt, found.merchant);
  switch (clearance.kind) {
    case 'stale':
      return;
    case 'unsent':
      return await keep(context, attempt, () => keepUnsent(book, attempt, clearance.outcome, now()));
    case 'fenced': {
      const outcome = clearance.isLate() ? FROZEN : await request(context, order, limit);
      return await keep(context, attempt, () => keepOutcome(book, attempt, outcome));
    }
  }
}

const FROZEN: InitiationOutcome = {
  kind: 'notSent',
  reason: 'the worker stood still before it could send the request',
};

/** Whether the request may still leave, or what became of the attempt instead. */
type Clearance =
  | {
      readonly kind: 'fenced';
      /** By either clock. A worker that was frozen sends nothing: a person may have decided meanwhile. */
      readonly isLate: () => boolean;
    }
  | { readonly kind: 'unsent'; readonly outcome: InitiationOutcome }
  | { readonly kind: 'stale' };

async function fenceNow(
  { book, limitsOf, now }: SendingContext,
  attempt: Attempt,
  merchant: string,
): Promise<Clearance> {
  const elapsed = stopwatch();
  const isLate = () => elapsed() > LEAVES_WITHIN_MS;
  const limits = limitsOf(merchant);
  if (limits === 'gone') return unsent({ kind: 'notSent', reason: `the merchant ${merchant} isn't known any more` });
  try {
    const fenced = await fence(book, attempt, limits, now());
    switch (fenced.kind) {
      case 'fenced':
        return { kind: 'fenced', isLate };
      case 'stale':
        return fenced;
      case 'withheld':
        return unsent({ kind: 'withheld', failureCode: 'not_refundable', reason: `nothing was sent: ${fenced.why}` });
      case 'uncertain':
        return unsent({ kind: 'notSent', isUnread: true, reason: `nothing was sent: ${fenced.why}` });
      case 'doubtful':
        return unsent({ kind: 'notSent', reason: fenced.why });
      case 'perhapsSent':
        return unsent({ kind: 'ambiguous', reason: `nothing was sent: ${fenced.why}` });
    }
  } catch (error) {
    // It may be committed all the same. Nothing leaves.
    if (error instanceof BookUnavailable) return unsent({ kind: 'notSent', reason: 'the book is away' });
    throw error;
  }
}

const unsent = (outcome: InitiationOutcome): Clearance => ({ kind: 'unsent', outcome });

/** Writes what became of an attempt, again and again for some time while the book is away. */
async function keep({ logger }: SendingContext, { id }: Attempt, write: () => Promise<void>): Promise<void> {
  try {
    await patiently(write, KEEP_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof BookUnavailable)) throw error;
    logger.warn({ err: error, paymentId: id }, 'the outcome of a request could not be kept in the book');
  }
}

/** Sends the request that makes or sends the payment. */
function request({ providers }: SendingContext, order: PaymentOrder, limit: CallLimit): Promise<InitiationOutcome> {
  switch (order.kind) {
    case 'link':
      return providers.collection.initiatePay(toInitiatePay(order), limit);
    case 'direct':
      return providers.collection.directPay(toDirectPay(order), limit);
    case 'payout':
      return providers.payout.payout(toPayout(order), limit);
  }
}

/** Looks, right before a payment is sent, for what forbids it: its own transaction in the list, or its collection. */
async function whyUnsent(
  context: SendingContext,
  order: PaymentOrder,
  when: SentIf,
  limit: CallLimit,
): Promise<InitiationOutcome | undefined> {
  // A link moves no money: one that nobody was given is expired when it is found.
  if (order.kind === 'link') return when === 'late' ? TOO_LATE : undefined;
  const answer = await listOwn(context.providers[serviceOf(order)], order, limit);
  if (answer.kind !== 'listed') return when === answer.kind ? undefined : unreadList(answer);
  const [first] = answer.transactions;
  if (first !== undefined) {
    const reason = `nothing was sent: the provider already showed ${first.transId} for this payment`;
    return { kind: 'ambiguous', reason, shown: answer.transactions };
  }
  if (when === 'late') return TOO_LATE;
  if (order.kind !== 'payout' || order.refundOf === undefined) return undefined;
  const { collections, providers, statusLimit, now } = context;
  const refund = { ...order, refundOf: order.refundOf };
  const ask = (transId: Parameters<ProviderClient['paymentStatus']>[0]) =>
    providers.collection.paymentStatus(transId, limit);
  return await whyNotRefunded(
    refund,
    collections,
    // The payment has ended: one question of the provider's limit is left to others.
    (transId) => statusLimit.ask(transId, now(), () => ask(transId), STATUS_CALLS_PER_WINDOW - 1),
    limit.signal,
  );
}

const TOO_LATE: InitiationOutcome = {
  kind: 'withheld',
  failureCode: 'not_sent',
  reason: 'never sent to the provider: its time was over before it could be sent',
};

/** Explains why a request was not sent: the provider's list, which has to show nothing, was not read. */
function unreadList(answer: Exclude<ListAnswer, { readonly kind: 'listed' }>): InitiationOutcome {
  if (answer.kind === 'unauthorized') return answer;
  const reason = "nothing was sent: the provider's list, which may show that it was sent before, could not be read";
  const retryAfterMs = answer.kind === 'throttled' ? answer.retryAfterMs : undefined;
  return { kind: 'notSent', isUnread: true, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
