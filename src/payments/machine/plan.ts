import type { HeldFor } from '../words/order.js';
import type { TransId } from '../words/payment-id.js';
import type { PaymentState } from '../words/payment-state.js';
import {
  activeInquiry,
  type Closing,
  type DecisionStep,
  type Ended,
  type Following,
  type Inquiry,
  type SendCause,
} from '../words/phase.js';
import { claimDueAt, nextClaim } from './claims.js';
import { nextToAsk } from './ended.js';
import { heldUntil } from './held.js';
import { LOOKS_BUDGETED, nextFreeAt, recordQuestion } from './polling.js';
import { isLookedUpFirst } from './waiting.js';

/** The one thing that a payment has to do next. */
export type Todo =
  | { readonly kind: 'send'; readonly cause: SendCause }
  | { readonly kind: 'lookUp' }
  /** `isClaim`: the transaction is one that a hint named. */
  | { readonly kind: 'askStatus'; readonly transId: TransId; readonly isClaim: boolean }
  | { readonly kind: 'expire'; readonly transId: TransId }
  /** Nothing until this time (ms since the epoch), or until an event comes. */
  | { readonly kind: 'wait'; readonly until?: number | undefined; readonly summary: string }
  | { readonly kind: 'end' };

interface Task {
  readonly at: number;
  readonly todo: Exclude<Todo, { readonly kind: 'wait' | 'end' }>;
  readonly summary: string;
}

/** Returns what is due: the payment's own task first, then claims; or the wait until one is due. */
export function plan(payment: PaymentState, now: number): Todo {
  const tasks = [phaseTask(payment, now), claimTask(payment, now)].filter((task) => task !== undefined);
  const ready = tasks.find(({ at }) => at <= now);
  if (ready !== undefined) return ready.todo;
  const waiting = [...tasks, ...timerOf(payment)].sort((one, other) => one.at - other.at)[0];
  if (waiting !== undefined) return { kind: 'wait', until: waiting.at, summary: waiting.summary };
  return payment.phase.kind === 'ended' ? { kind: 'end' } : { kind: 'wait', summary: 'Until something happens' };
}

/** Lists times at which nothing is asked, but the payment moves on by itself. */
function timerOf(payment: PaymentState): { at: number; summary: string }[] {
  const { phase } = payment;
  if (phase.kind === 'held') {
    return phase.for.map((one) => ({ at: heldUntil(payment, phase, one), summary: heldSummary(payment, one) }));
  }
  if (phase.kind === 'waiting') {
    const { hold, reason } = phase.unsent;
    // It waits for its look-up, which the provider may have asked to put off for longer.
    if (isLookedUpFirst(payment, phase)) return [];
    const summary =
      hold === 'credentials' ? `The provider refuses our credentials: ${reason}` : `Send again: ${reason}`;
    return [{ at: phase.until, summary }];
  }
  const inquiry = activeInquiry(phase);
  if (inquiry?.kind !== 'following' || inquiry.end === undefined) return [];
  return [{ at: inquiry.end.at, summary: 'End of the link, unless the provider notifies before' }];
}

function heldSummary({ order }: PaymentState, waitsFor: HeldFor): string {
  if (waitsFor === 'date') return 'Wait for its date, to be sent';
  const orderedBy = order.kind === 'payout' ? order.orderedBy : undefined;
  return `End without an approval${orderedBy === undefined ? '' : ` by another person than ${orderedBy}`}`;
}

function phaseTask(payment: PaymentState, now: number): Task | undefined {
  const { phase } = payment;
  switch (phase.kind) {
    case 'sending':
      return { at: now, todo: { kind: 'send', cause: phase.cause }, summary: 'Send' };
    case 'waiting':
      return isLookedUpFirst(payment, phase)
        ? { at: afterQuiet(payment, phase.until), todo: { kind: 'lookUp' }, summary: 'Look whether it was taken' }
        : undefined;
    case 'deciding':
      return decisionTask(payment, phase.step, now);
    case 'ended':
      return checkTask(payment, phase, now);
    default: {
      const inquiry = activeInquiry(phase);
      return inquiry === undefined ? undefined : inquiryTask(payment, inquiry, now);
    }
  }
}

function inquiryTask(payment: PaymentState, inquiry: Inquiry, now: number): Task {
  switch (inquiry.kind) {
    case 'searching': {
      const { clearing } = inquiry;
      return clearing === undefined
        ? {
            at: afterQuiet(payment, inquiry.nextAt),
            todo: { kind: 'lookUp' },
            summary: 'Look for the transaction again',
          }
        : {
            at: afterQuiet(payment, now),
            todo: { kind: 'expire', transId: clearing.unissued[0] },
            summary: 'Expire the link',
          };
    }
    case 'following':
      return pollTask(payment, inquiry, now);
    case 'closing':
      return closingTask(payment, inquiry, now);
    case 'verifying':
      return {
        at: afterQuiet(payment, inquiry.nextAt),
        todo: { kind: 'lookUp' },
        summary: 'Look for another transaction',
      };
  }
}

function pollTask(payment: PaymentState, { transId, polling }: Following, now: number): Task {
  return {
    at: afterQuiet(payment, Math.max(polling.nextAt, nextFreeAt(payment.recentQuestions, transId, now))),
    todo: { kind: 'askStatus', transId, isClaim: false },
    summary: 'Ask the provider, unless it notifies before',
  };
}

function closingTask(payment: PaymentState, { of, next }: Closing, now: number): Task {
  if (next !== 'expire') return pollTask(payment, of, now);
  return {
    at: afterQuiet(payment, now),
    todo: { kind: 'expire', transId: of.transId },
    summary: 'Expire the link',
  };
}

function decisionTask(payment: PaymentState, step: DecisionStep, now: number): Task {
  const summary = "Wait for the provider's limit on questions";
  switch (step.kind) {
    case 'status':
    case 'others': {
      const transId = step.kind === 'status' ? step.transId : step.open[0];
      const at = afterQuiet(payment, nextFreeAt(payment.recentQuestions, transId, now));
      return { at, todo: { kind: 'askStatus', transId, isClaim: false }, summary };
    }
    case 'list':
      return { at: afterQuiet(payment, now), todo: { kind: 'lookUp' }, summary };
    case 'expire':
      return { at: afterQuiet(payment, now), todo: { kind: 'expire', transId: step.alive[0] }, summary };
  }
}

function checkTask(payment: PaymentState, ended: Ended, now: number): Task | undefined {
  const [check] = ended.checks;
  if (check === undefined) return undefined;
  const summary = "Compare the outcome with the provider's records";
  const transId = nextToAsk(payment, ended, check);
  return transId === undefined
    ? { at: afterQuiet(payment, check.at), todo: { kind: 'lookUp' }, summary }
    : {
        at: afterQuiet(payment, Math.max(check.at, nextFreeAt(payment.recentQuestions, transId, now))),
        todo: { kind: 'askStatus', transId, isClaim: false },
        summary,
      };
}

/** Plans the question about a claim, once the result of the payment's own request is known. */
function claimTask(payment: PaymentState, now: number): Task | undefined {
  const { phase } = payment;
  if (phase.kind === 'sending' || phase.kind === 'waiting' || phase.kind === 'deciding') return undefined;
  const claim = nextClaim(payment);
  const at = claimDueAt(payment);
  if (claim === undefined || at === undefined) return undefined;
  return {
    at: afterQuiet(payment, Math.max(at, nextFreeAt(payment.recentQuestions, claim.transId, now))),
    todo: { kind: 'askStatus', transId: claim.transId, isClaim: true },
    summary: 'Ask about a transaction that a notification named',
  };
}

/** Puts a time off to the end of the quiet that the provider has asked for. */
function afterQuiet({ quietUntil = 0 }: PaymentState, at: number): number {
  return Math.max(at, quietUntil);
}

/**
 * Returns when an operator who looks may have the status of a transaction asked for: now, or once there is room, in ms
 * since the epoch.
 */
export function lookAllowedAt(payment: PaymentState, transId: TransId, now: number): number {
  return afterQuiet(payment, nextFreeAt(payment.recentQuestions, transId, now, LOOKS_BUDGETED));
}

/** Counts the question of an operator's look about a transaction. */
export function recordLook(payment: PaymentState, transId: TransId, now: number): PaymentState {
  return { ...payment, recentQuestions: recordQuestion(payment.recentQuestions, transId, now) };
}
