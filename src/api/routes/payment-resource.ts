import { setTimeout as pause } from 'node:timers/promises';
import type { AuditedCaller } from '../../book/audit.js';
import { type FoundPayment, findPayment } from '../../book/payments.js';
import { type Caller, isOperator, maySee } from '../../http/auth.js';
import { DESK_AGENT } from '../../http/browser.js';
import { forbidden } from '../../http/problem.js';
import type { Actor } from '../../payments/machine/events.js';
import type { Refusal, RefusalType } from '../../payments/machine/replies.js';
import { forMerchant, toPayment, toSummary } from '../../payments/views/to-payment.js';
import type { Payment, PaymentSummary } from '../../payments/words/payment.js';
import { parsePaymentId } from '../../payments/words/payment-id.js';
import type { PaymentResource } from '../../schemas/payment.js';
import { ApiError, notAPaymentId, notChecked, paymentNotFound } from '../api-error.js';
import type { ApiContext } from '../context.js';
import type { AuthenticatedRequest } from '../route.js';

/**
 * A payment, or a part of it, as a caller sees it. Operators also see its merchant and, if there is a Web UI, the
 * address of its workflow there.
 */
type View<Shown> = Shown & Pick<PaymentResource, 'merchant' | 'temporalUrl'>;

/** Shows payments of one merchant to a caller. */
export type Viewer = <Shown extends Pick<Payment, 'id'>>(payment: Shown) => View<Shown>;

/**
 * Time after which a payment is reported as not found, in ms. Another merchant's payment may take a little longer to be
 * found than none. Without the pause, somebody who knows another merchant's order numbers could time which of
 * them were paid.
 */
const NOT_FOUND_AFTER_MS = 100;

/**
 * The payment that the address names, if the caller may see it.
 *
 * @throws {ApiError} `not_found`, also for another merchant's payment; `temporarily_unavailable`.
 */
export async function ownPayment(
  { book }: Pick<ApiContext, 'book'>,
  { params, record, caller }: AuthenticatedRequest<unknown, unknown>,
): Promise<FoundPayment> {
  const id = parsePaymentId(params.id);
  if (id === undefined) throw notAPaymentId();
  record.paymentId = id;

  const begun = performance.now();
  const found = await findPayment(book, id, (merchant) => maySee(caller, merchant));
  if (found !== undefined) return found;
  await pause(Math.max(0, NOT_FOUND_AFTER_MS - (performance.now() - begun)));
  throw paymentNotFound();
}

/**
 * Returns the actor of a request on a payment: the person, for its merchant if the key is the merchant's own and isn't
 * an operator's used at the desk; otherwise as an operator.
 */
export function actorOf(
  { caller, headers }: Pick<AuthenticatedRequest<unknown, unknown>, 'caller' | 'headers'>,
  merchant: string,
): Actor {
  const isAtDesk = isOperator(caller) && headers('user-agent').includes(DESK_AGENT);
  return { role: caller.owner === merchant && !isAtDesk ? 'merchant' : 'operator', name: caller.person };
}

/** Returns the view that a caller has of a merchant's payments. */
export function viewerOf({ ui }: Pick<ApiContext, 'ui'>, caller: Caller, merchant: string): Viewer {
  if (!isOperator(caller)) return forMerchant;
  const { url, namespace } = ui;
  if (url === undefined) return (payment) => ({ ...payment, merchant });
  const base = `${url}/namespaces/${encodeURIComponent(namespace)}`;
  return (payment) => ({
    ...payment,
    merchant,
    temporalUrl: `${base}/workflows/${payment.id}`,
  });
}

/** Returns who makes a request, to be written down. */
export function auditedCaller({
  caller: { person, keyId },
  ip,
}: Pick<AuthenticatedRequest<unknown, unknown>, 'caller' | 'ip'>): AuditedCaller {
  return { who: person, keyId, ...(ip !== undefined && { address: ip }) };
}

/** Shows a payment of the book to a caller. */
export function shown(
  context: Pick<ApiContext, 'ui'>,
  caller: Caller,
  { merchant, kept }: FoundPayment,
): View<Payment> {
  return viewerOf(context, caller, merchant)(toPayment(kept.state));
}

/** Shows a payment of the book as lists do. */
export function summary(
  context: Pick<ApiContext, 'ui'>,
  caller: Caller,
  { merchant, kept }: FoundPayment,
): View<PaymentSummary> {
  return viewerOf(context, caller, merchant)(toSummary(kept.state));
}

/** Reports whether the payment ended because its merchant withdrew it before anything was sent. */
export function isWithdrawn({ failureCode }: Pick<Payment, 'failureCode'>): boolean {
  return failureCode === 'withdrawn';
}

/** Codes of the problems that payments refuse requests with. */
export type RefusalCode =
  | 'not_a_link'
  | 'not_expirable'
  | 'not_initiated'
  | 'not_cancelable'
  | 'not_under_review'
  | 'resolution_refused'
  | 'not_held'
  | 'same_person'
  | 'digest_mismatch';

const CODES: Readonly<Record<Exclude<RefusalType, 'NotChecked'>, RefusalCode>> = {
  NotALink: 'not_a_link',
  NotExpirable: 'not_expirable',
  NotInitiated: 'not_initiated',
  NotUnderReview: 'not_under_review',
  ResolutionRefused: 'resolution_refused',
  NotHeld: 'not_held',
  SamePerson: 'same_person',
  OtherDigest: 'digest_mismatch',
};

/** The error for a request that a payment refuses for a reason of its own, with the payment as it is now. */
export function refused({ type, words, force, transactionAmount }: Refusal, payment: View<Payment>): ApiError {
  if (type === 'NotChecked') return notChecked(payment);
  return new ApiError(CODES[type], details[CODES[type]](payment, words), { payment, force, transactionAmount });
}

/** The error for a request that a payment refuses by the state that it is in. */
export function refusal(code: RefusalCode, payment: View<Payment>, message = ''): ApiError {
  return new ApiError(code, details[code](payment, message), { payment });
}

const details: Readonly<Record<RefusalCode, (payment: Payment, message: string) => string>> = {
  not_a_link: () => "The request was sent to the payer's phone, or may have been sent: it can't be withdrawn any more.",
  not_expirable: ({ status, final }, message) => {
    if (status === 'REVIEW') return 'The payment is in REVIEW: an operator must decide on it.';
    return final || message === ''
      ? `The payment is ${status} and can no longer be expired.`
      : `The payment is ${status} and can't be expired now: ${message}.`;
  },
  not_cancelable: (payment) => whyNotCancelable(payment),
  not_under_review: ({ status, final }) =>
    final
      ? `The payment is ${status}: there is nothing to decide. Refresh it to check its outcome again.`
      : `The payment is ${status}: there is nothing to decide.`,
  resolution_refused: (_, message) => message,
  not_held: ({ status, final }, message) =>
    final ? `The payout is ${status}, and held no longer.` : sentence(message || `the payout is ${status}`),
  same_person: (_, message) => sentence(message),
  digest_mismatch: (_, message) => sentence(message),
  not_initiated: () => 'The provider has not confirmed the payment yet. Try again in a moment.',
};

/** Makes a sentence of a payment's own words. */
function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function whyNotCancelable({ status, final, transId }: Payment): string {
  if (final) return `The payout is already ${status}.`;
  if (status === 'REVIEW') return 'The payout may have been sent: an operator must decide on it.';
  return transId === undefined
    ? 'The payout may have been sent: the provider has not confirmed it yet.'
    : 'The payout was sent: the provider has accepted it.';
}

/**
 * Chooses the merchant whose payments a list shows: the caller, or for operators all or one. `undefined` is all.
 *
 * @throws {ApiError} `forbidden`, for somebody else's.
 */
export function merchantToList(caller: Caller, merchant: string | undefined): string | undefined {
  if (isOperator(caller)) return merchant;
  if (merchant !== undefined && merchant !== caller.owner) throw forbidden(['review']);
  return caller.owner;
}
