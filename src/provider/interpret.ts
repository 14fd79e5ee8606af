import { z } from 'zod';
import { ownerOf } from '../payments/machine/matching.js';
import type {
  BalanceAnswer,
  ExpiryAnswer,
  InitiationOutcome,
  ListAnswer,
  NoAnswer,
  SearchAnswer,
  StatusAnswer,
} from '../payments/words/outcome.js';
import type { TransId } from '../payments/words/payment-id.js';
import type { Transaction } from '../payments/words/transaction.js';
import type { Exchange } from './http.js';
import { type Confidential, providerText } from './provider-text.js';
import { paymentIdOf } from './requests.js';
import {
  ALREADY_EXPIRED,
  balanceSchema,
  errorSchema,
  initiationSchema,
  type linkInitiationSchema,
  transactionSchema,
  type WireTransaction,
} from './schemas.js';

/**
 * The provider's answer, whatever the request was.
 *
 * - `succeeded`: 2xx; the caller checks whether the body is what it should be.
 * - `refused`, `unauthorized`: the provider itself refused, with an error body of its own form.
 * - `throttled`: 429. `inProvidersForm` says whether it has the provider's own error body; otherwise it may come from a
 *   gateway, which may answer 429 for its second try of a request that the provider has taken.
 * - `undecided`: the outcome is unknown. `sent` says whether the request may have been taken.
 */
export type ProviderAnswer =
  | { readonly kind: 'succeeded'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly statusCode: number }
  | { readonly kind: 'unauthorized'; readonly message: string; readonly statusCode: number }
  | {
      readonly kind: 'throttled';
      readonly inProvidersForm: boolean;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'undecided'; readonly sent: 'no' | 'perhaps'; readonly reason: string };

/**
 * Client errors by which the server says that it didn't carry out the request: see RFC 9110, 15.5, and RFC 6585. All
 * others may follow a request that was accepted: they are about its timing (408, 425, 499), a conflict with an earlier
 * one (409, 423, 424), a proxy (407) or a connection (421), or have no defined meaning.
 */
const REFUSALS: ReadonlySet<number> = new Set([
  ...[400, 401, 402, 403, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 422, 426, 428, 431, 451],
]);

/** A partial answer, which nobody has asked for. */
const PARTIAL_CONTENT = 206;

/**
 * Reads an exchange by the provider's rules for errors: a refusal is a 4xx whose body holds a message. A 4xx without
 * one comes from something in between, and doesn't say what the provider did.
 *
 * @param confidential what the provider's message must not show: see {@link providerText}
 * @param isInitiation whether the request was to make a transaction: an error that names one doesn't prove that there
 *   is none
 */
export function interpretExchange(
  exchange: Exchange,
  confidential: Confidential,
  isInitiation = false,
): ProviderAnswer {
  if (exchange.kind === 'failed') return { kind: 'undecided', sent: exchange.sent, reason: exchange.reason };
  const { statusCode, body, retryAfterMs } = exchange;
  if (statusCode >= 200 && statusCode <= 299 && statusCode !== PARTIAL_CONTENT) return { kind: 'succeeded', body };
  const named = isInitiation ? readWrapped(initiationSchema, body) : undefined;
  if (named !== undefined) {
    const transId = providerText(named.transId, confidential);
    const reason = `the provider answered ${statusCode}, and named the transaction ${transId}`;
    return { kind: 'undecided', sent: 'perhaps', reason };
  }
  const error = errorSchema.safeParse(body);
  if (statusCode === 429) return { kind: 'throttled', inProvidersForm: error.success, retryAfterMs };

  const undecided = {
    kind: 'undecided',
    sent: 'perhaps',
    reason: `the provider answered ${statusCode}${isRedirect(statusCode) ? ", a redirect, which isn't followed" : ''}`,
  } as const;
  if (!REFUSALS.has(statusCode)) return undecided;
  if (!error.success) return { ...undecided, reason: `${undecided.reason} with a body that can't be read` };

  const message = providerText(error.data.message, confidential) || 'the provider gave no reason';
  const kind = statusCode === 401 || statusCode === 403 ? 'unauthorized' : 'refused';
  return { kind, message, statusCode };
}

function isRedirect(statusCode: number): boolean {
  return statusCode >= 300 && statusCode <= 399 && statusCode !== 304;
}

/**
 * Reads the outcome of an initiating POST. Money may move unless the request was refused, was answered 429 in the
 * provider's own form, or was provably never sent. Everything else, including a success that names no transaction, is
 * ambiguous.
 */
export function interpretInitiation(
  answer: ProviderAnswer,
  schema: typeof initiationSchema | typeof linkInitiationSchema,
): InitiationOutcome {
  switch (answer.kind) {
    case 'succeeded':
      return readInitiation(answer.body, schema);
    case 'refused':
      return { kind: 'rejected', message: answer.message, statusCode: answer.statusCode };
    case 'unauthorized':
      return answer;
    case 'throttled':
      return answer.inProvidersForm
        ? {
            kind: 'throttled',
            reason: 'the provider asked to slow down',
            retryAfterMs: answer.retryAfterMs,
          }
        : { kind: 'ambiguous', reason: "the provider answered 429 with a body that can't be read" };
    case 'undecided':
      return { kind: answer.sent === 'no' ? 'notSent' : 'ambiguous', reason: answer.reason };
  }
}

function readInitiation(body: unknown, schema: z.ZodType<{ transId: string; link?: string }>): InitiationOutcome {
  const initiation = readWrapped(schema, body);
  if (initiation === undefined)
    return { kind: 'ambiguous', reason: "the provider answered 200 with a body that can't be read" };
  const { transId, link } = initiation;
  return { kind: 'accepted', transId: toTransId(transId), ...(link !== undefined && { link }) };
}

const UNREADABLE: Extract<NoAnswer, { kind: 'unavailable' }> = {
  kind: 'unavailable',
  reason: "the provider gave an answer that can't be read",
};

/** Reports whether there was an answer that couldn't be read: asking again would bring the same. */
export function isUnreadable(answer: { readonly kind: string; readonly reason?: string | undefined }): boolean {
  return answer.kind === UNREADABLE.kind && answer.reason === UNREADABLE.reason;
}

/** Reads the answer of `GET /payment-status/{transId}`. */
export function interpretStatus(answer: ProviderAnswer, transId: string): StatusAnswer {
  if (answer.kind === 'refused') return { ...answer, kind: 'unknown' };
  if (answer.kind !== 'succeeded') return noAnswer(answer);
  const found = readTransaction(answer.body, transId);
  return found.kind === 'read' ? { kind: 'found', transaction: found.transaction } : found;
}

/** Reads the answer of `POST /expire-pay`. Only the provider's message shows that a link had expired already. */
export function interpretExpiry(answer: ProviderAnswer, transId: string): ExpiryAnswer {
  if (answer.kind === 'refused') {
    return answer.statusCode === 400 && answer.message === ALREADY_EXPIRED ? { kind: 'alreadyExpired' } : answer;
  }
  if (answer.kind !== 'succeeded') return noAnswer(answer);
  const expired = readTransaction(answer.body, transId);
  return expired.kind === 'read' ? { kind: 'expired', transaction: expired.transaction } : expired;
}

/**
 * Reads the answer of `GET /transaction/{userId}`. One element that can't be read makes the whole
 * list unavailable: it might be the very transaction that is looked for, and without it the list would seem to have
 * none. Only an element that names another payment is left out when it can't be read.
 *
 * @param paymentId the payment whose transactions were requested
 */
export function interpretList(answer: ProviderAnswer, paymentId: string): ListAnswer {
  const list = readList(answer, toTransaction, (element) => namesAnother(element, paymentId));
  if (list.kind !== 'listed') return list;
  // It answers another question than was asked: transactions that it leaves out prove nothing.
  const isOfOthers = list.transactions.some(
    ({ externalId, userId = paymentId }) => userId !== paymentId && externalId !== paymentId,
  );
  return isOfOthers ? UNREADABLE : list;
}

/** Reads the answer of `GET /search`, as {@link interpretList} does. No element is left out. */
export function interpretSearch(answer: ProviderAnswer): SearchAnswer {
  const withDate = (wire: WireTransaction) => ({ ...toTransaction(wire), dateInitiated: wire.dateInitiated });
  return readList(answer, withDate, () => false);
}

function readList<Listed>(
  answer: ProviderAnswer,
  toListed: (wire: WireTransaction) => Listed,
  mayBeLeftOut: (element: unknown) => boolean,
): Exclude<ListAnswer, { kind: 'listed' }> | { kind: 'listed'; transactions: Listed[] } {
  if (answer.kind === 'refused') return answer;
  if (answer.kind !== 'succeeded') return noAnswer(answer);
  const elements = z.array(z.unknown()).safeParse(answer.body);
  if (!elements.success) return UNREADABLE;
  const transactions: Listed[] = [];
  for (const element of elements.data) {
    const transaction = transactionSchema.safeParse(element);
    if (transaction.success) transactions.push(toListed(transaction.data));
    else if (!mayBeLeftOut(element)) return UNREADABLE;
  }
  return { kind: 'listed', transactions };
}

/** Reports whether an element that doesn't match the schema names another payment. */
function namesAnother(element: unknown, paymentId: string): boolean {
  const named = transactionSchema.pick({ externalId: true, userId: true }).safeParse(element);
  return named.success && ownerOf(paymentId, namesIn(named.data)) === 'another';
}

/** Reads the answer of `GET /balance`. */
export function interpretBalance(answer: ProviderAnswer): BalanceAnswer {
  if (answer.kind === 'refused') return answer;
  if (answer.kind !== 'succeeded') return noAnswer(answer);
  const balance = balanceSchema.safeParse(answer.body);
  if (!balance.success) return UNREADABLE;
  return { kind: 'balance', ...balance.data, service: providerText(balance.data.service) };
}

type Read = { readonly kind: 'read'; readonly transaction: Transaction } | NoAnswer;

/** Reads a transaction. One with another id than was asked for decides nothing. */
function readTransaction(body: unknown, transId: string): Read {
  const transaction = readWrapped(transactionSchema, body);
  if (transaction === undefined) return UNREADABLE;
  if (transaction.transId !== transId) {
    return { kind: 'unavailable', reason: 'the provider answered about another transaction' };
  }
  return { kind: 'read', transaction: toTransaction(transaction) };
}

/** Names of fields that may hold one resource. */
const WRAPPERS = ['data', 'transaction', 'payload', 'result', 'response'] as const;
const MAX_WRAPPERS = 3;

/**
 * Reads one resource, alone, in a list of one, or in an object around it. A list is never unwrapped: it might be one
 * page of several.
 */
function readWrapped<T>(schema: z.ZodType<T>, body: unknown, wrappers = 0): T | undefined {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  if (typeof body !== 'object' || body === null || wrappers === MAX_WRAPPERS) return undefined;
  const inner: unknown[] = Array.isArray(body)
    ? body
    : Object.entries(body).flatMap(([name, value]) => (WRAPPERS.some((one) => one === name) ? [value] : []));
  return inner.length === 1 ? readWrapped(schema, inner[0], wrappers + 1) : undefined;
}

/** A question changes nothing, so it doesn't matter who answered 429, or whether a failed request was sent. */
function noAnswer(answer: Exclude<ProviderAnswer, { kind: 'succeeded' | 'refused' }>): NoAnswer {
  switch (answer.kind) {
    case 'unauthorized':
      return answer;
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: answer.retryAfterMs };
    case 'undecided':
      return { kind: 'unavailable', reason: answer.reason };
  }
}

/** Brands a transaction id from the provider. */
function toTransId(text: string): TransId {
  return text as TransId;
}

/**
 * Keeps the part of the provider's transaction that Sanaga needs. Each field is named here, so that the payer's name
 * and e-mail, and fields that the provider may add, are left out; `reason` is masked, as it may repeat them.
 */
export function toTransaction(wire: WireTransaction): Transaction {
  return {
    transId: toTransId(wire.transId),
    status: wire.status,
    transType: wire.transType,
    amount: wire.amount,
    medium: wire.medium,
    revenue: wire.revenue,
    reason: wire.reason === undefined ? undefined : providerText(wire.reason),
    financialTransId: wire.financialTransId,
    ...namesIn(wire),
  };
}

/** Finds the payment that a transaction was made for. */
function namesIn({ externalId, userId }: Pick<WireTransaction, 'externalId' | 'userId'>) {
  return { externalId, userId: userId && paymentIdOf(userId) };
}
