import { randomUUID } from 'node:crypto';
import { type Connection, isGrpcServiceError, type WorkflowClient } from '@temporalio/client';
import { closeClient, connectClient } from '../../../src/temporal/connection.js';
import { diceOf } from '../../simulation/plan/dice.js';
import { SECOND } from '../../simulation/plan/durations.js';
import type { ChaosRecord } from '../chaos-record.js';
import { type Scene, untilOver, wait } from '../scene.js';

/** A button of Temporal's Web UI, and the share of payments that it is pressed for. */
const BUTTONS = { cancel: 0.1, reset: 0.1, terminate: 0.015 } as const;
type Button = keyof typeof BUTTONS;

/** ms after a payment's arrival within which somebody presses it. */
const WITHIN_MS = 45 * SECOND;

/**
 * Somebody in Temporal's Web UI: presses Cancel, which must change nothing; Reset, to any point of a payment's history,
 * after which no money may be sent that was sent before; or Terminate, which ends a workflow for good.
 */
export async function pressButtons(scene: Scene): Promise<void> {
  const { target } = scene.stack.temporal;
  const client = connectClient(target);
  const press: Record<Button, (record: ChaosRecord) => Promise<boolean>> = {
    cancel: async ({ planned }) => {
      await client.workflow.getHandle(planned.id).cancel();
      return true;
    },
    reset: async ({ planned }) => {
      const nth = diceOf(scene.seed, 'reset', planned.id).between('point', 0, 1_000);
      return await reset(client.workflow, client.connection, planned.id, nth);
    },
    terminate: async (record) => {
      await client.workflow.getHandle(record.planned.id).terminate('somebody pressed the wrong button');
      record.terminated = true;
      return true;
    },
  };
  const begun = performance.now();
  const presses = scene.records.flatMap((record) => {
    const dice = diceOf(scene.seed, 'web UI', record.planned.id);
    return (Object.keys(BUTTONS) as Button[])
      .filter((button) => dice.chance(button, BUTTONS[button]))
      .map(async (button) => {
        const at = begun + record.planned.arrivesAt + dice.between(`${button} when`, 0, WITHIN_MS);
        await wait(at - performance.now(), scene);
        const isPressed = await orMissed(() => press[button](record));
        scene.doings.add(`web UI: ${button}${isPressed ? '' : ' missed'}`);
      });
  });
  try {
    await Promise.all(presses.map(untilOver));
  } finally {
    await closeClient(client);
  }
}

/** Resets a workflow to one of its completed tasks, drawn by a number; `false` when it has none. */
async function reset(
  { options: { namespace } }: WorkflowClient,
  { workflowService }: Connection,
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

/** Whether it was pressed: at times Temporal is away, or has no such workflow, or none that runs. */
async function orMissed(act: () => Promise<boolean>): Promise<boolean> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Error && (isGrpcServiceError(error) || isGrpcServiceError(error.cause)))
      return false;
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return false;
    throw error;
  }
}
