import { Context } from '@temporalio/activity';
import type { InitiationOutcome } from '../payments/outcome.js';

/** ms that Temporal gets to tell under which run the workflow started; less than an activity's margin (world.ts). */
const LIMIT_MS = 3_000;

/**
 * Moves money, unless somebody has reset the workflow to before it did: the run then is another than the one it
 * started as, and whether the first has sent the request is a matter of looking, not of sending again.
 */
export async function unlessReset(send: () => Promise<InitiationOutcome>): Promise<InitiationOutcome> {
  let reset: boolean;
  try {
    reset = await wasReset();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'ambiguous', reason: `Temporal did not say whether the workflow was reset: ${reason}` };
  }
  if (reset) return { kind: 'ambiguous', reason: 'the workflow was reset, and may have sent it before' };
  return await send();
}

/** A reset copies the first event of the history, with the run that the workflow started as. */
async function wasReset(): Promise<boolean> {
  const { client, info } = Context.current();
  const { workflowExecution: execution = null, namespace } = info;
  const { history } = await client.withDeadline(Date.now() + LIMIT_MS, () =>
    client.workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 }),
  );
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return started?.originalExecutionRunId !== execution?.runId;
}
