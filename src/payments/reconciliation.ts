import { findOwn } from './find-own.js';
import type { ListAnswer } from './outcome.js';
import type { PaymentState } from './payment-state.js';
import type { Transaction } from './transaction.js';

/** What to do next about an ambiguous POST. */
export type Verdict =
  /** It was taken: go on as if it had answered. */
  | { readonly kind: 'adopt'; readonly transaction: Transaction }
  /** Send once more, after expiring the links that it made and nobody was given. */
  | { readonly kind: 'resend'; readonly orphans: readonly Transaction[] }
  /** No link could be made in the whole grace period; nobody was given one, so no money can move. */
  | { readonly kind: 'giveUp'; readonly reason: string; readonly orphans: readonly Transaction[] }
  /** A person must look. Look-ups go on. */
  | { readonly kind: 'review'; readonly reason: string }
  /** Nothing is known yet. */
  | { readonly kind: 'lookAgain' };

/** The first pause before a look-up, in ms; it doubles from there. */
const FIRST_LOOK_UP_MS = 1_000;

/** The longest pause between look-ups within the grace period, in ms. */
const LONGEST_PAUSE_MS = 2 * 60 * 1000;

/** The pause before look-up number `lookUps + 1`, in ms, never reaching past the end of the grace period. */
export function lookUpDelay(state: PaymentState, now: number): number {
  const { ambiguity, terms } = state;
  const grown = Math.min(FIRST_LOOK_UP_MS * 2 ** Math.min(ambiguity?.lookUps ?? 0, 31), LONGEST_PAUSE_MS);
  const left = graceEnd(state) - now;
  // Past the grace period a person has been asked; the payment may still turn up, so we keep looking, slowly.
  return left > 0 ? Math.min(grown, left) : Math.max(grown, terms.pollMaxMs);
}

/**
 * The verdict on an ambiguous POST after one more look-up.
 *
 * Money that may have moved is never sent again on a doubt: a resend needs an answered look-up at the end of the
 * grace period that shows nothing, the policy that allows it, and that it wasn't used before.
 */
export function judge(state: PaymentState, answer: ListAnswer, now: number): Verdict {
  const over = now >= graceEnd(state);
  if (answer.kind !== 'listed') {
    return over
      ? { kind: 'review', reason: `${unclear(state)}, and it couldn't be looked up` }
      : { kind: 'lookAgain' };
  }
  if (state.order.method === 'link') return judgeLink(state, answer.transactions, over);

  const finding = findOwn(state.order, answer.transactions);
  switch (finding.kind) {
    case 'found':
      return { kind: 'adopt', transaction: finding.transaction };
    case 'mismatch':
    case 'several':
      return { kind: 'review', reason: finding.reason };
    case 'unclear':
      return over
        ? { kind: 'review', reason: `${unclear(state)}; ${finding.reason}` }
        : { kind: 'lookAgain' };
    case 'absent':
      // A notification names a transaction that the list doesn't show: it may be this payment's.
      if (state.claims.length > 0) return { kind: 'lookAgain' };
      if (state.ambiguity?.approved) return { kind: 'resend', orphans: [] };
      if (!over) return { kind: 'lookAgain' };
      return state.terms.ambiguousPolicy === 'resend' && !state.ambiguity?.resent
        ? { kind: 'resend', orphans: [] }
        : { kind: 'review', reason: `${unclear(state)}, and the provider doesn't show it` };
  }
}

/**
 * A link is different: a transaction doesn't tell the link's address, so that nobody can have been given it, and
 * nobody can pay it. Making another is safe, and the ones found unpaid are expired. Should one have been paid after
 * all, it is the payment.
 */
function judgeLink(state: PaymentState, transactions: readonly Transaction[], over: boolean): Verdict {
  const usable = transactions.filter(({ status }) => status !== 'EXPIRED');
  const touched = usable.filter(({ status }) => status !== 'CREATED');
  const finding = findOwn(state.order, touched);
  if (finding.kind === 'found') return { kind: 'adopt', transaction: finding.transaction };
  if (finding.kind === 'mismatch' || finding.kind === 'several')
    return { kind: 'review', reason: finding.reason };
  const orphans = usable.filter(({ externalId }) => externalId === state.order.id);
  return over ? { kind: 'giveUp', reason: unclear(state), orphans } : { kind: 'resend', orphans };
}

function graceEnd({ ambiguity, createdAt, terms }: PaymentState): number {
  return (ambiguity?.since ?? createdAt) + terms.ambiguousGraceMs;
}

function unclear({ ambiguity }: PaymentState): string {
  return `whether the provider took the payment isn't known (${ambiguity?.reason ?? 'no answer'})`;
}
