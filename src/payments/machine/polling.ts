import { STATUS_CALLS_PER_WINDOW, STATUS_WINDOW_MS } from '../words/limits.js';
import type { PaymentTerms } from '../words/order.js';
import type { NoAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';

/** Pace at which a transaction's status is followed. */
export interface Polling {
  /** Answered status questions since the transaction began, or since the last hint. */
  readonly asked: number;
  /** Status questions in a row that got no answer. */
  readonly unanswered: number;
  /** ms since the epoch: when to ask next, if the budget allows it then. */
  readonly nextAt: number;
  /** A hint came in, and no status question since has been answered. */
  readonly hinted: boolean;
}

/** Pause after the first unanswered question, in ms; it doubles from there. */
const UNANSWERED_FIRST_MS = 5_000;

/** Pause when the provider refuses our credentials, in ms: only an operator can end that. */
const UNAUTHORIZED_PAUSE_MS = 60_000;

/** Pause after a hint whose news the provider didn't confirm yet, in ms. */
const AFTER_HINT_MS = 10_000;

/** Doubles `firstMs` `times` times, up to `maxMs`. The exponent is bounded: 2^31 ms is longer than any setting. */
export function backoff(firstMs: number, times: number, maxMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(times, 31), maxMs);
}

/**
 * Returns the pause before a status question, in ms: POLL_FIRST before the first two, then doubled each time, at most
 * POLL_MAX.
 *
 * @param asked status questions that were answered before the last one
 */
export function pollDelay(asked: number, terms: Pick<PaymentTerms, 'pollFirstMs' | 'pollMaxMs'>): number {
  return backoff(Math.min(terms.pollFirstMs, terms.pollMaxMs), asked, terms.pollMaxMs);
}

/** Returns the pause after the `unanswered + 1`th question in a row without an answer, in ms. */
export function retryDelay(unanswered: number, terms: Pick<PaymentTerms, 'pollMaxMs'>): number {
  return backoff(UNANSWERED_FIRST_MS, unanswered, terms.pollMaxMs);
}

/** Returns the pause after a question that got no answer, in ms, `before` others having got none either. */
export function pauseAfter(answer: NoAnswer, before: number, terms: Pick<PaymentTerms, 'pollMaxMs'>): number {
  // Nobody was asked, and it is known when there is room.
  if (answer.kind === 'throttled' && answer.isOurs) return answer.retryAfterMs ?? 0;
  const retry = retryDelay(before, terms);
  if (answer.kind === 'unauthorized') return Math.max(UNAUTHORIZED_PAUSE_MS, retry);
  return answer.kind === 'throttled' ? Math.max(answer.retryAfterMs ?? 0, retry) : retry;
}

/** Starts to poll a transaction that the provider has just taken. */
export function startPolling(hinted: boolean, terms: PaymentTerms, now: number): Polling {
  return { asked: 0, unanswered: 0, nextAt: hinted ? now : now + pollDelay(0, terms), hinted };
}

/** Brings the next question forward. */
export function bringForward(polling: Polling, hinted: boolean, now: number): Polling {
  return { ...polling, hinted: polling.hinted || hinted, nextAt: Math.min(polling.nextAt, now) };
}

/** Schedules the next question after one that was answered, or wasn't. */
export function recordPoll(polling: Polling, answer: StatusAnswer, terms: PaymentTerms, now: number): Polling {
  const { asked, unanswered, hinted } = polling;
  switch (answer.kind) {
    case 'found':
      // A hint without a change behind it may have overtaken the provider's own records: look again soon, once.
      return hinted
        ? { asked: 0, unanswered: 0, hinted: false, nextAt: now + Math.min(AFTER_HINT_MS, terms.pollMaxMs) }
        : { asked: asked + 1, unanswered: 0, hinted, nextAt: now + pollDelay(asked, terms) };
    case 'unknown':
      return { asked, unanswered: unanswered + 1, hinted, nextAt: now + retryDelay(unanswered, terms) };
    default:
      return {
        asked,
        unanswered: unanswered + 1,
        hinted,
        nextAt: now + pauseAfter(answer, unanswered, terms),
      };
  }
}

/**
 * Status questions budgeted for one transaction within the provider's window: three of its six. The rest is kept in
 * hand for what is asked within a workflow task that comes to nothing, leaves no trace, and is asked again.
 */
export const STATUS_CALLS_BUDGETED = STATUS_CALLS_PER_WINDOW - 3;

/** The part of these that operators' looks may use up. The last one is the payment's own. */
export const LOOKS_BUDGETED = STATUS_CALLS_BUDGETED - 1;

/**
 * The latest status questions, oldest first. One counts from when it was *answered* (ms since the epoch): the provider
 * counted it at some moment before, so that a slow one never leaves our window while it is still in the provider's.
 */
export type RecentQuestions = readonly { readonly transId: TransId; readonly at: number }[];

/** Questions remembered: those of the latest window, of which a payment makes fewer than this. */
const MAX_RECENT_QUESTIONS = 24;

/** Returns when a transaction may be asked about once more: `now`, or when its window has room. */
export function nextFreeAt(
  recentQuestions: RecentQuestions,
  transId: TransId,
  now: number,
  budget: number = STATUS_CALLS_BUDGETED,
): number {
  const inWindow = recentQuestions.filter((one) => one.transId === transId && isRecent(one.at, now));
  const oldest = inWindow[inWindow.length - budget];
  return oldest === undefined ? now : oldest.at + STATUS_WINDOW_MS + 1;
}

/** Counts a question that was answered, or given up, at `at`. */
export function recordQuestion(recentQuestions: RecentQuestions, transId: TransId, at: number): RecentQuestions {
  return [...recentQuestions.filter((one) => isRecent(one.at, at)), { transId, at }].slice(-MAX_RECENT_QUESTIONS);
}

/** Reports whether a question that was answered at `at` is in the latest window. */
export function isRecent(at: number, now: number): boolean {
  return now - at <= STATUS_WINDOW_MS;
}
