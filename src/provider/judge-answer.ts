import { z } from 'zod';
import type { BalanceAnswer, ExpiryAnswer, ListAnswer, NoAnswer, StatusAnswer } from '../payments/outcome.js';
import type { Transaction } from '../payments/transaction.js';
import type { Verdict } from './judge-exchange.js';
import { toTransaction } from './to-transaction.js';
import { ALREADY_EXPIRED, balanceSchema, transactionSchema } from './wire.js';

const UNREADABLE: NoAnswer = {
  kind: 'unavailable',
  reason: "the provider gave an answer that can't be read",
};

/** Reads the answer of `GET /payment-status/{transId}`. */
export function judgeStatus(verdict: Verdict, transId: string): StatusAnswer {
  if (verdict.kind === 'refused') return { ...verdict, kind: 'unknown' };
  if (verdict.kind !== 'succeeded') return noAnswer(verdict);
  const found = readTransaction(verdict.body, transId);
  return found.kind === 'read' ? { kind: 'found', transaction: found.transaction } : found;
}

/** Reads the answer of `POST /expire-pay`. A link that is expired already is told by the provider's message alone. */
export function judgeExpiry(verdict: Verdict, transId: string): ExpiryAnswer {
  if (verdict.kind === 'refused') {
    return verdict.statusCode === 400 && verdict.message === ALREADY_EXPIRED
      ? { kind: 'alreadyExpired' }
      : verdict;
  }
  if (verdict.kind !== 'succeeded') return noAnswer(verdict);
  const expired = readTransaction(verdict.body, transId);
  return expired.kind === 'read' ? { kind: 'expired', transaction: expired.transaction } : expired;
}

/**
 * Reads the answer of `GET /transaction/{userId}` and `GET /search`. One element that can't be read makes the whole
 * list unavailable: it might be the very transaction that is looked for, and leaving it out would say that there is none.
 * Only an element that names another payment is left out when it can't be read.
 *
 * @param paymentId the payment whose transactions are asked for; without it no element is left out
 */
export function judgeList(verdict: Verdict, paymentId?: string): ListAnswer {
  if (verdict.kind === 'refused') return verdict;
  if (verdict.kind !== 'succeeded') return noAnswer(verdict);
  const elements = z.array(z.unknown()).safeParse(verdict.body);
  if (!elements.success) return UNREADABLE;
  const transactions: Transaction[] = [];
  for (const element of elements.data) {
    const transaction = transactionSchema.safeParse(element);
    if (transaction.success) transactions.push(toTransaction(transaction.data));
    else if (paymentId === undefined || !namesAnother(element, paymentId)) return UNREADABLE;
  }
  return { kind: 'listed', transactions };
}

/** Whether an element says, whatever else of it can't be read, that it was made for another payment. */
function namesAnother(element: unknown, paymentId: string): boolean {
  const named = z.object({ externalId: z.string().min(1) }).safeParse(element);
  return named.success && named.data.externalId !== paymentId;
}

/** Reads the answer of `GET /balance`. */
export function judgeBalance(verdict: Verdict): BalanceAnswer {
  if (verdict.kind === 'refused') return verdict;
  if (verdict.kind !== 'succeeded') return noAnswer(verdict);
  const balance = balanceSchema.safeParse(verdict.body);
  return balance.success ? { kind: 'balance', ...balance.data } : UNREADABLE;
}

type Read = { readonly kind: 'read'; readonly transaction: Transaction } | NoAnswer;

/** An answer about another transaction than the one asked for decides nothing about this one. */
function readTransaction(body: unknown, transId: string): Read {
  const transaction = transactionSchema.safeParse(body);
  if (!transaction.success) return UNREADABLE;
  if (transaction.data.transId !== transId) {
    return { kind: 'unavailable', reason: 'the provider answered about another transaction' };
  }
  return { kind: 'read', transaction: toTransaction(transaction.data) };
}

/** A question changes nothing, so it makes no difference who answered 429, or how far a failed request got. */
function noAnswer(verdict: Exclude<Verdict, { kind: 'succeeded' | 'refused' }>): NoAnswer {
  switch (verdict.kind) {
    case 'unauthorized':
      return verdict;
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: verdict.retryAfterMs };
    case 'undecided':
      return { kind: 'unavailable', reason: verdict.reason };
  }
}
