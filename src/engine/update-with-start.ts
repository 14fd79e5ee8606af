import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type WorkflowIdReusePolicy } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { isEngineError, Unavailable } from './errors.js';
import { waitForAnswer, wasOvertaken } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';

/** Time limit for the answer of a workflow that counts, in ms. It usually takes some milliseconds. */
const ANSWER_LIMIT_MS = 5_000;

/** Tries of an update that is overtaken by the end of the workflow's run. */
const MAX_TRIES = 4;

/** An update of a workflow that counts for all API processes, and how the workflow starts if it doesn't run. */
interface CountingUpdate<Answer, Argument, Input> {
  readonly update: UpdateDefinition<Answer, [Argument]>;
  readonly argument: Argument;
  readonly workflowType: string;
  readonly workflowId: string;
  readonly workflowIdReusePolicy: WorkflowIdReusePolicy;
  readonly input: Input;
  /** What to tell whoever asks, when it isn't known whether it was counted. */
  readonly uncertain: string;
  /** The same for the log, when no worker has answered. */
  readonly unanswered: string;
}

/**
 * Sends an update, whose workflow starts if it doesn't run.
 *
 * @throws {Unavailable} with the words of `uncertain`, when it isn't known whether the update was carried out.
 */
export async function updateWithStart<Answer, Argument, Input>(
  { client, taskQueue, shutdown, answerWithinMs }: UpdateContext,
  asked: CountingUpdate<Answer, Argument, Input>,
): Promise<Answer> {
  const { update, argument, workflowType, workflowId, workflowIdReusePolicy, input, uncertain, unanswered } = asked;
  const send = () =>
    client.workflow.executeUpdateWithStart(update, {
      updateId: randomUUID(),
      args: [argument] as [Argument],
      startWorkflowOperation: new WithStartWorkflowOperation<(input: Input) => Promise<void>>(workflowType, {
        ...{ workflowId, workflowIdReusePolicy, taskQueue, args: [input] as [Input] },
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    });
  const limitMs = Math.min(answerWithinMs, ANSWER_LIMIT_MS);
  try {
    const answer = await shutdown.commands.within(limitMs, (signal) =>
      waitForAnswer(client, signal, limitMs, () => unlessOvertaken(send)),
    );
    if (answer !== undefined) return answer.value;
  } catch (error) {
    if (isEngineError(error)) throw new Unavailable(uncertain, error.cause);
    throw wasOvertaken(error) ? new Unavailable(uncertain, error) : error;
  }
  throw new Unavailable(uncertain, new Error(unanswered));
}

/** Sends again what the end of a workflow's run has overtaken. */
async function unlessOvertaken<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (!wasOvertaken(error) || tries === MAX_TRIES) throw error;
    }
  }
}
