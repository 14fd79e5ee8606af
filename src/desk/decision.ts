import { type Html, html } from '../http/html.js';
import { type Force, overrulesAllOf } from '../payments/words/decision.js';
import { isOneName } from '../payments/words/person.js';
import type { Payment, Proposed } from './api-client.js';
import type { Action, Draft } from './draft.js';
import type { Session } from './session.js';
import { addressOf, amount, forcedWords, paymentAddress } from './words.js';

/** Describes each decision to the person who makes it. */
export const DECISIONS: Readonly<
  Record<Action, { readonly name: string; readonly effect: string; readonly refusedWhen: string }>
> = {
  match: {
    name: 'Match a transaction',
    effect:
      "The transaction that you name is this payment's. The payment goes on with it, and ends as it does. Nothing is sent.",
    refusedWhen:
      "the provider doesn't know the transaction; it belongs to another payment, or differs from the order; the provider doesn't say whose it is; or it moved no money, and another one did or still can.",
  },
  fail: {
    name: 'Fail the payment',
    effect:
      'You say that no money has moved, and that none will. The payment is FAILED, and its merchant is told so. A link that could still be paid is ended first.',
    refusedWhen: "the provider shows a transaction of the payment that isn't over.",
  },
  resend: {
    name: 'Send it once more',
    effect:
      'There is no transaction, and the payment is sent to the provider again. If the first request was taken after all, the money moves twice.',
    refusedWhen: 'the provider shows a transaction, or took the payment before.',
  },
  reject: {
    name: 'Reject the decision',
    effect:
      'The decision is not carried out: one that waits for a second person is void, and a resend that waits is not sent. The payment is in REVIEW, and anybody may decide again.',
    refusedWhen:
      'no decision waits any more, there is new evidence, or the provider may have accepted the request already.',
  },
};

/** A draft beside the decision that waits for a second person, as the operator who makes it sees them. */
export interface Standing {
  /** Somebody else's decision, if this operator carries it out by deciding the same. */
  readonly first: Proposed | undefined;
  /** `true` when the proposed decision is this one, made by this operator. */
  readonly isOwn: boolean;
  /** The objections that it overrules: those of the first person's decision, or those that a refusal has named. */
  readonly force: Force;
  /** The amount of a match's transaction, where it is known to differ from the order, in XAF. */
  readonly moving: number | undefined;
}

export function standingOf({ person }: Session, { review }: Payment, { action, fields, refusal }: Draft): Standing {
  const { proposed } = review ?? {};
  const isSame = proposed?.action === action && (action !== 'match' || proposed.transId === fields.transId);
  const same = isSame ? proposed : undefined;
  const refused = refusal?.force ?? false;
  const forceOfSame = same?.overruled ?? same?.forced ?? false;
  // Overruling a refusal goes beyond the first person's decision.
  const isSecond = same !== undefined && !isOneName(same.by, person) && overrulesAllOf(forceOfSame, refused);
  return {
    first: isSecond ? same : undefined,
    isOwn: same !== undefined && isOneName(same.by, person),
    force: isSecond ? forceOfSame : refused,
    moving: action === 'match' ? (refusal?.transactionAmount ?? same?.transactionAmount) : undefined,
  };
}

/** Reports whether this operator has proposed the same decision already, and it waits for somebody else. */
export function isDecidedAlready(session: Session, payment: Payment, draft: Draft): boolean {
  const { isOwn } = standingOf(session, payment, draft);
  return isOwn && !payment.review?.proposed?.forced && draft.refusal === undefined;
}

/** Reports whether the decision to reject is this operator's own. */
export function isWithdrawal({ person }: Session, payment: Payment, action: Action): boolean {
  const by = payment.review?.proposed?.by ?? waitingResend(payment)?.by;
  return action === 'reject' && by !== undefined && isOneName(by, person);
}

/** The decision by which a payment is sent once more, as long as it waits and nothing has left. */
export function waitingResend({ resolution }: Payment): Payment['resolution'] {
  return resolution?.revocable ? resolution : undefined;
}

/** Reports whether the payment has left the review that the operator looked at. */
export function isOld(payment: Payment, action: Action, seen: string): boolean {
  const number = reviewNumber(payment, action);
  return number === undefined || String(number) !== seen;
}

/**
 * The number of the review that a decision belongs to. Taking a resend back belongs to the review in which it was
 * decided.
 */
export function reviewNumber(payment: Payment, action: Action): number | undefined {
  return payment.review?.number ?? (action === 'reject' ? waitingResend(payment)?.review : undefined);
}

/** Says what the first of two people has decided, without the full stop. */
export function proposedWords({ action, transId, transactionAmount, by, ...rest }: Omit<Proposed, 'why' | 'at'>): Html {
  return html`<strong>${by}</strong> has decided: ${DECISIONS[action].name}${transId && html` <code>${transId}</code>`}${transactionAmount !== undefined && ` of ${amount(transactionAmount)}`}${forcedWords(rest)}`;
}

/** The address of the form of a decision. @param transId the transaction that a match begins with */
export function decisionAddress(payment: Payment, action: Action, transId?: string): string {
  const review = reviewNumber(payment, action);
  return addressOf(`${paymentAddress(payment.id)}/decide/${action}`, { review, transId });
}
