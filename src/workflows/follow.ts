import { condition } from '@temporalio/workflow';
import { observed, type PaymentState, underReview } from '../payments/payment-state.js';
import { nextFreeAt } from '../payments/status-budget.js';
import { undecided } from '../payments/undecided.js';
import { broughtForward, looked } from '../payments/watch.js';
import { closeLink } from './close-link.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Follows a begun payment to its final status: waits for a hint, the next poll, or the end of the link's life, and
 * asks the provider. A hint only brings the look forward; what counts is what the provider answers. While only a
 * person can go on, it waits for that person.
 */
export async function follow(run: PaymentRun): Promise<void> {
  let closing = false;
  while (!run.state.final) {
    await run.handOverWhenLong();
    if (run.state.held || run.state.transId === undefined) {
      await condition(() => run.state.final || !run.state.held || run.long);
      if (run.state.transId === undefined && run.state.ambiguity !== undefined) return;
      continue;
    }
    const { act, at, summary } = nextStep(run.state);
    const woken = await run.sleepUntil(at, summary);
    if (woken) continue;
    if (act === 'close') {
      closing = await endLink(run);
      if (!closing) run.closings += 1;
    } else {
      await look(run);
      if (closing) run.closings += 1;
      closing = false;
    }
  }
}

/**
 * Looks whether the link is paid, and has it expired if not: the provider's interface lets a paid one be expired, too.
 * True when the provider was asked to and has answered, so that the next look tells what came of it.
 */
async function endLink(run: PaymentRun): Promise<boolean> {
  await look(run);
  const { final, held, watch } = run.state;
  return !final && !held && watch.unanswered === 0 && (await closeLink(run));
}

/** Asks the provider for the status, once, and takes over what it says. */
async function look(run: PaymentRun): Promise<void> {
  const { order, transId, terms, hinted } = run.state;
  if (transId === undefined) return;
  run.state = { ...run.state, hinted: false };
  const answer = await run.world.askStatus(order, transId);
  const now = Date.now();

  const watch = looked(run.state.watch, answer, terms, hinted, now);
  // A hint that came in while we asked is not answered by this answer.
  const hintedSince = run.state.hinted;
  const owed = hintedSince || (hinted && answer.kind !== 'found');
  const state = { ...run.state, hinted: owed, watch: hintedSince ? broughtForward(watch, now) : watch };
  run.apply(answer.kind === 'found' ? observed(state, answer.transaction, now) : { state });

  const reason = undecided(run.state, now);
  if (reason !== undefined) run.apply(underReview(run.state, reason, now));
  run.looks += 1;
}

interface Step {
  readonly act: 'look' | 'close';
  readonly at: number;
  readonly summary: string;
}

function nextStep({ watch, expiry }: PaymentState): Step {
  // Ending a link begins with a look, which keeps to the budget, and waits as others do while the provider doesn't answer.
  const free = watch.unanswered > 0 ? watch.nextAt : nextFreeAt(watch.spent, Date.now());
  const closeAt = expiry === undefined ? undefined : Math.max(expiry.at, free);
  if (closeAt !== undefined && (closeAt <= watch.nextAt || closeAt <= Date.now())) {
    return { act: 'close', at: closeAt, summary: 'End of the link, unless the provider notifies before' };
  }
  return { act: 'look', at: watch.nextAt, summary: 'Ask the provider, unless it notifies before' };
}
