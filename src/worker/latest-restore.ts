import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { RESTORE_WORKFLOW, type RestoreInput } from '../workflows/messages.js';

/**
 * Returns the time of the latest restore of Temporal from a backup that any worker was told of, in ms since the epoch.
 * Temporal keeps it, so that it is known when TEMPORAL_RESTORED_AT is empty again. Call it before the worker takes any
 * task.
 *
 * @param restoredAt the worker's own setting, kept from now on in place of an earlier time
 * @throws ServiceError when Temporal doesn't answer
 */
export async function latestRestore(
  client: Client,
  taskQueue: string,
  restoredAt: number | undefined,
): Promise<number | undefined> {
  const kept = await keptRestore(client);
  const latest = laterOf(kept?.at, restoredAt);
  if (latest === undefined || (latest === kept?.at && kept.isRunning)) return latest;
  // Of two workers that start at once, the second reads what the first has kept: no run is replaced that wasn't read.
  try {
    if (kept?.isRunning) await client.workflow.getHandle(RESTORE_WORKFLOW.id, kept.runId).terminate();
    await client.workflow.start(RESTORE_WORKFLOW.type, {
      workflowId: RESTORE_WORKFLOW.id,
      taskQueue,
      args: [{ v: 1, restoredAt: latest } satisfies RestoreInput],
      memo: { restoredAt: latest },
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      staticSummary: 'Temporal was restored from a backup: payouts held then take a person',
    });
    return latest;
  } catch (error) {
    const isOvertaken = error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError;
    if (!isOvertaken) throw error;
    return latestRestore(client, taskQueue, restoredAt);
  }
}

/**
 * Chooses between the kept time and a worker's setting. A worker that wasn't told of the latest restore yet may start
 * after one that was: an earlier time replaces only one that is still to come, which is a mistake.
 */
function laterOf(kept: number | undefined, restoredAt: number | undefined): number | undefined {
  if (restoredAt === undefined) return kept;
  return kept === undefined || kept > Date.now() ? restoredAt : Math.max(kept, restoredAt);
}

interface KeptRestore {
  /** ms since the epoch */
  readonly at: number;
  /** Temporal forgets it some time after somebody has stopped its workflow. */
  readonly isRunning: boolean;
  readonly runId: string;
}

async function keptRestore(client: Client): Promise<KeptRestore | undefined> {
  try {
    const { memo, startTime, status, runId } = await client.workflow.getHandle(RESTORE_WORKFLOW.id).describe();
    // Its start comes after the restore.
    const at = typeof memo?.restoredAt === 'number' ? memo.restoredAt : startTime.getTime();
    return { at, isRunning: status.name === 'RUNNING', runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
