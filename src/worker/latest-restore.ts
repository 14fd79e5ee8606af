import { type Client, WorkflowIdConflictPolicy, WorkflowNotFoundError } from '@temporalio/client';
import { RESTORE_WORKFLOW, type RestoreInput } from '../workflows/messages.js';

/**
 * Returns the time of the latest restore of Temporal from a backup that any worker was told of, in ms since the epoch.
 * Temporal keeps it, so that it is known when TEMPORAL_RESTORED_AT is empty again. Call it before the worker takes any
 * task.
 *
 * @param restoredAt the worker's own setting, kept from now on in place of an earlier one
 * @throws ServiceError when Temporal doesn't answer
 */
export async function latestRestore(
  client: Client,
  taskQueue: string,
  restoredAt: number | undefined,
): Promise<number | undefined> {
  const kept = await keptRestore(client);
  if (restoredAt === undefined || restoredAt === kept) return kept;
  await client.workflow.start(RESTORE_WORKFLOW.type, {
    workflowId: RESTORE_WORKFLOW.id,
    taskQueue,
    args: [{ v: 1, restoredAt } satisfies RestoreInput],
    memo: { restoredAt },
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
    staticSummary: 'Temporal was restored from a backup: payouts held then take a person',
  });
  return restoredAt;
}

async function keptRestore(client: Client): Promise<number | undefined> {
  try {
    const { memo, startTime } = await client.workflow.getHandle(RESTORE_WORKFLOW.id).describe();
    // Its start comes after the restore.
    return typeof memo?.restoredAt === 'number' ? memo.restoredAt : startTime.getTime();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
