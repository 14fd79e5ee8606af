import { sleep } from '@temporalio/workflow';
import { reopened } from '../payments/claim.js';
import type { InitiationOutcome } from '../payments/outcome.js';
import {
  accepted,
  ambiguous,
  type Change,
  failed,
  type PaymentState,
  rejected,
  underReview,
} from '../payments/payment-state.js';
import { judge, lookUpDelay } from '../payments/reconciliation.js';
import type { Transaction } from '../payments/transaction.js';
import type { PaymentRun } from './payment-run.js';

/** ms between two look-ups, whoever asks for them. */
const LEAST_PAUSE_MS = 10_000;

/**
 * Finds out what became of an ambiguous POST by looking its transaction up, at growing intervals; see `judge` for
 * the rules. Returns when the payment is begun or failed. A payment under review is looked for as long as it takes.
 */
export async function reconcile(run: PaymentRun, send: () => Promise<InitiationOutcome>): Promise<void> {
  while (unresolved(run.state)) {
    await pause(run);
    if (!unresolved(run.state)) return;
    const answer = await run.world.lookUp(run.state.order);
    // A notification or an operator may have brought the transaction while we asked.
    if (!unresolved(run.state)) return;
    const now = Date.now();
    run.apply({ state: withLookUp(run.state) });
    const verdict = judge(run.state, answer, now);
    switch (verdict.kind) {
      case 'adopt':
        run.apply(accepted(run.state, verdict.transaction, now));
        break;
      case 'resend':
        await expireOrphans(run, verdict.orphans);
        await resend(run, send);
        break;
      case 'giveUp':
        await expireOrphans(run, verdict.orphans);
        run.apply(failed(run.state, `no link could be made: ${verdict.reason}`, Date.now()));
        break;
      case 'review':
        run.apply(underReview(run.state, verdict.reason, now));
        break;
      case 'lookAgain':
        break;
    }
    await run.handOverWhenLong();
  }
}

/** Waits for the next look-up. A hint or a person may bring it forward, but a flood of them can't: there is a least pause. */
async function pause(run: PaymentRun): Promise<void> {
  const now = Date.now();
  const delay = lookUpDelay(run.state, now);
  const woken = await run.sleepUntil(now + delay, 'Look for the transaction again');
  const rest = now + Math.min(delay, LEAST_PAUSE_MS) - Date.now();
  if (woken && rest > 0) await sleep(rest, { summary: 'Look for the transaction, as asked' });
}

async function resend(run: PaymentRun, send: () => Promise<InitiationOutcome>): Promise<void> {
  const outcome = await run.sending(send);
  const now = Date.now();
  // A question about the first request's transaction was under way, and has found it.
  if (!unresolved(run.state)) {
    return outcome.kind === 'accepted' && outcome.transId !== run.state.transId
      ? run.apply(reopened(run.state, `it was sent twice: ${run.state.transId} and ${outcome.transId}`, now))
      : undefined;
  }
  switch (outcome.kind) {
    case 'accepted':
      return run.apply(accepted(run.state, outcome, now));
    case 'ambiguous':
      return run.apply(ambiguous(run.state, outcome.reason, now));
    case 'rejected':
      // A link's refusal is the end of it. Of money, the first request may still have been taken.
      return run.state.order.method === 'link'
        ? run.apply(rejected(run.state, outcome.message, now))
        : run.apply(reviewOnceRejected(run.state, outcome.message, now));
    case 'notSent':
    case 'unauthorized':
      return; // nothing went out: it is looked for once more before the next try
  }
}

/** The resend is used up; that it was rejected says nothing of the first request, and goes with whatever is found next. */
function reviewOnceRejected(state: PaymentState, message: string, now: number): Change {
  const { ambiguity } = state;
  const reason = `sent once more, and rejected: ${message}`;
  if (ambiguity === undefined) return underReview(state, reason, now);
  const spent = { ...ambiguity, resent: true, approved: false, reason: `${ambiguity.reason}; ${reason}` };
  return underReview({ ...state, ambiguity: spent }, reason, now);
}

async function expireOrphans(run: PaymentRun, orphans: readonly Transaction[]): Promise<void> {
  for (const { transId } of orphans) await run.world.expireLink(transId);
}

/** What is held waits for a person, whatever a list shows. */
function unresolved(state: PaymentState): boolean {
  return !state.final && !state.held && state.transId === undefined && state.ambiguity !== undefined;
}

function withLookUp(state: PaymentState): PaymentState {
  const { ambiguity } = state;
  return ambiguity === undefined
    ? state
    : { ...state, ambiguity: { ...ambiguity, lookUps: ambiguity.lookUps + 1 } };
}
