import type { PaymentTerms } from './order.js';
import type { StatusAnswer } from './outcome.js';
import { nextFreeAt, type Spent, spend } from './status-budget.js';

/** How closely a transaction's status is being watched. */
export interface Watch {
  readonly spent: Spent;
  /** Answered look-ups since the transaction began, or since the last hint. */
  readonly asked: number;
  /** Look-ups in a row that got no answer. */
  readonly unanswered: number;
  /** ms since the epoch: when to look next, if nothing wakes us before. */
  readonly nextAt: number;
}

/** Pause after the first unanswered look-up, in ms; it doubles from there. */
const UNANSWERED_FIRST_MS = 5_000;

/** Pause when the provider refuses our credentials, in ms: only an operator can end that. */
const UNAUTHORIZED_PAUSE_MS = 60_000;

/** Pause after a hint whose news the provider didn't confirm yet, in ms. */
const AFTER_HINT_MS = 10_000;

/** The pause before look-up number `asked + 1` (0 for the first), in ms: POLL_FIRST, doubled each time, at most POLL_MAX. */
export function pollDelay(asked: number, terms: Pick<PaymentTerms, 'pollFirstMs' | 'pollMaxMs'>): number {
  return doubled(Math.min(terms.pollFirstMs, terms.pollMaxMs), asked, terms.pollMaxMs);
}

/** The watch when there is reason to look now: the next look comes as soon as the budget allows. */
export function broughtForward(watch: Watch, now: number): Watch {
  return { ...watch, nextAt: nextFreeAt(watch.spent, now) };
}

/** The watch after a look-up, answered or not; `hint` when a hint had asked for it. */
export function looked(
  watch: Watch,
  answer: StatusAnswer,
  terms: PaymentTerms,
  hint: boolean,
  now: number,
): Watch {
  const spent = spend(watch.spent, now);
  const next = (delay: number, rest: Pick<Watch, 'asked' | 'unanswered'>): Watch => ({
    ...rest,
    spent,
    nextAt: Math.max(now + delay, nextFreeAt(spent, now)),
  });
  const { asked, unanswered } = watch;
  switch (answer.kind) {
    case 'found':
      // A hint without a change behind it may have overtaken the provider's own books: look again soon, once.
      return hint
        ? next(Math.min(AFTER_HINT_MS, terms.pollMaxMs), { asked: 0, unanswered: 0 })
        : next(pollDelay(asked, terms), { asked: asked + 1, unanswered: 0 });
    case 'throttled':
      return next(Math.max(answer.retryAfterMs ?? 0, retryDelay(unanswered, terms)), {
        asked,
        unanswered: unanswered + 1,
      });
    case 'unauthorized':
      return next(Math.max(UNAUTHORIZED_PAUSE_MS, retryDelay(unanswered, terms)), {
        asked,
        unanswered: unanswered + 1,
      });
    case 'unknown':
    case 'unavailable':
      return next(retryDelay(unanswered, terms), { asked, unanswered: unanswered + 1 });
  }
}

/** The pause after the `unanswered + 1`th look-up in a row without an answer, in ms. */
export function retryDelay(unanswered: number, terms: Pick<PaymentTerms, 'pollMaxMs'>): number {
  return doubled(UNANSWERED_FIRST_MS, unanswered, terms.pollMaxMs);
}

/** `first`, doubled `times` times, at most `most`. The exponent is bounded: 2^31 ms is longer than any setting. */
function doubled(first: number, times: number, most: number): number {
  return Math.min(first * 2 ** Math.min(times, 31), most);
}
