import { log, setHandler, sleep } from '@temporalio/workflow';
import type { Decision } from '../payments/decision.js';
import { type Evidence, objection, resolve } from '../payments/resolution.js';
import { nextFreeAt, spend } from '../payments/status-budget.js';
import { NOT_UNDER_REVIEW, RESOLUTION_REFUSED, resolveUpdate } from './messages.js';
import type { PaymentRun } from './payment-run.js';
import { refusal } from './refusal.js';

/**
 * Takes operators' decisions on a payment under review, one at a time. What can be seen to be wrong is refused before
 * it is written down; the rest is checked with the provider first, and refused when the provider speaks against it.
 */
export function resolveReviews(run: PaymentRun): void {
  let deciding = false;
  setHandler(
    resolveUpdate,
    async ({ decision, by, why }) => {
      deciding = true;
      try {
        const evidence = await gather(run, decision);
        // While we asked, the provider may have decided.
        if (run.state.status !== 'REVIEW')
          throw refusal(NOT_UNDER_REVIEW, `the payment is ${run.state.status}`);
        const verdict = resolve(run.state, { decision, by, why, at: Date.now() }, evidence);
        if (verdict.kind === 'refused') throw refusal(RESOLUTION_REFUSED, verdict.why);
        log.info('review resolved', { action: decision.action, by });
        run.apply(verdict.change);
        return run.result();
      } finally {
        deciding = false;
      }
    },
    {
      validator: ({ decision }) => {
        const { status } = run.state;
        if (status !== 'REVIEW')
          throw refusal(NOT_UNDER_REVIEW, `the payment is ${status}, not under review`);
        if (deciding) throw refusal(RESOLUTION_REFUSED, 'another decision is being looked into; try again');
        const why = objection(run.state, decision);
        if (why !== undefined) throw refusal(RESOLUTION_REFUSED, why);
      },
    },
  );
}

/** Asks the provider what the decision has to be checked against. */
async function gather(run: PaymentRun, decision: Decision): Promise<Evidence> {
  const { order, transId: own } = run.state;
  const asked = decision.action === 'match' ? decision.transId : own;
  const status = asked === undefined ? undefined : await askWithinBudget(run, asked);
  const listed = decision.action === 'match' ? undefined : await run.world.lookUp(order);
  return { status, listed };
}

async function askWithinBudget(run: PaymentRun, transId: NonNullable<PaymentRun['state']['transId']>) {
  const pause = nextFreeAt(run.state.watch.spent, Date.now()) - Date.now();
  if (pause > 0) await sleep(pause, { summary: "Wait for the provider's limit on questions" });
  const answer = await run.world.askStatus(run.state.order, transId);
  run.state = {
    ...run.state,
    watch: { ...run.state.watch, spent: spend(run.state.watch.spent, Date.now()) },
  };
  return answer;
}
