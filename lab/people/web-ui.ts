import { randomUUID } from 'node:crypto';
import { type Client, isGrpcServiceError, type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import type { Button, PlannedPress } from '../plan/planned-payment.js';
import { seededRandom } from '../plan/seeded-random.js';
import type { PeopleContext } from './context.js';
import type { ObservedPayment } from './observed-payment.js';

/**
 * Somebody in Temporal's Web UI: presses Cancel, which must change nothing; Reset, to any point of a payment's history,
 * after which no money may be sent that was sent before; or Terminate, after which another workflow goes on.
 */
export class WebUi {
  /** @param mayBeAway whether Temporal may be away, so that a press can fail */
  constructor(
    private readonly context: PeopleContext,
    private readonly client: Pick<Client, 'workflow'>,
    private readonly mayBeAway: boolean,
  ) {}

  /** Plans the buttons pressed for a payment that arrives at a time (ms since the epoch). */
  plan(record: ObservedPayment, arrival: number, presses: readonly PlannedPress[]): void {
    for (const { button, afterMs } of presses) {
      this.context.timeline.exactly(arrival + afterMs, async () => {
        const isPressed = await this.#orMissed(() => this.#press(button, record));
        this.context.actions.add(`web UI: ${button}${isPressed ? '' : ' missed'}`);
      });
    }
  }

  async #press(button: Button, record: ObservedPayment): Promise<boolean> {
    const { id } = record.planned;
    const handle = this.client.workflow.getHandle(id);
    switch (button) {
      case 'cancel':
        await handle.cancel();
        return true;
      case 'reset': {
        const nth = seededRandom(this.context.seed, 'reset', id).between('point', 0, 1_000);
        return await reset(this.client.workflow, id, nth);
      }
      case 'terminate':
        await handle.terminate('somebody pressed the wrong button');
        return true;
    }
  }

  /** Returns `false` where the button wasn't there: Temporal may have no such workflow, none that runs, or be away. */
  async #orMissed(act: () => Promise<boolean>): Promise<boolean> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      const isAway = error instanceof Error && (isGrpcServiceError(error) || isGrpcServiceError(error.cause));
      if (isAway && this.mayBeAway) return false;
      throw error;
    }
  }
}

/** Resets a workflow to the `nth` of its completed tasks, counted round and round; `false` if it has none. */
async function reset(
  { options: { namespace }, workflowService }: WorkflowClient,
  workflowId: string,
  nth: number,
): Promise<boolean> {
  const execution = { workflowId };
  const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution });
  const tasks = (history?.events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const task = tasks[nth % tasks.length];
  if (task === undefined) return false;
  await workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: execution,
    reason: 'somebody pressed Reset',
    workflowTaskFinishEventId: task.eventId ?? null,
    requestId: randomUUID(),
  });
  return true;
}
