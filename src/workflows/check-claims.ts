import { condition, sleep } from '@temporalio/workflow';
import { CLAIM_PAUSE_MS, claimed } from '../payments/claim.js';
import type { TransId } from '../payments/payment-id.js';
import { nextFreeAt, spend } from '../payments/status-budget.js';
import { retryDelay } from '../payments/watch.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Asks the provider about transactions that notifications named, one after the other, beside whatever else the
 * payment does. A claim stays until the provider has answered.
 */
export async function checkClaims(run: PaymentRun): Promise<void> {
  let unanswered = 0;
  for (;;) {
    // Until the first request's answer is in, the claim may well be that very answer.
    await condition(() => run.state.claims.length > 0 && run.state.begun && !run.isSending);
    const [claim] = run.state.claims;
    if (claim === undefined) continue;
    await waitFor(
      Math.max(
        run.state.claimsFrom ?? 0,
        claim === run.state.transId ? nextFreeAt(run.state.watch.spent, Date.now()) : 0,
      ),
    );

    const answered = await ask(run, claim);
    unanswered = answered ? 0 : unanswered + 1;
    const pause = answered ? CLAIM_PAUSE_MS : retryDelay(unanswered - 1, run.state.terms);
    // Kept with the payment, so that it holds when the payment is opened again.
    run.state = { ...run.state, claimsFrom: Date.now() + pause };
  }
}

async function ask(run: PaymentRun, claim: TransId): Promise<boolean> {
  const answer = await run.world.askStatus(run.state.order, claim);
  const now = Date.now();
  if (claim === run.state.transId) {
    const watch = { ...run.state.watch, spent: spend(run.state.watch.spent, now) };
    run.state = { ...run.state, watch };
  }
  if (answer.kind !== 'found' && answer.kind !== 'unknown') return false;
  run.state = { ...run.state, claims: run.state.claims.filter((other) => other !== claim) };
  if (answer.kind === 'found') run.apply(claimed(run.state, answer.transaction, now));
  return true;
}

async function waitFor(time: number): Promise<void> {
  const pause = time - Date.now();
  if (pause > 0) await sleep(pause, { summary: 'Ask about a transaction that a notification named' });
}
