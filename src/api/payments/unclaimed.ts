import { WorkflowNotFoundError } from '@temporalio/client';
import {
  UNCLAIMED_WORKFLOW,
  type UnclaimedNotification,
  unclaimedQuery,
  unclaimedSignal,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { ask, deliver } from './temporal-calls.js';

/**
 * Keeps a notification that belongs to no payment we know; resolves only once Temporal has it for good.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function keepUnclaimed(
  { client, taskQueue }: Pick<Api, 'client' | 'taskQueue'>,
  notification: UnclaimedNotification,
): Promise<void> {
  const { id: workflowId, type } = UNCLAIMED_WORKFLOW;
  await deliver(client, () =>
    client.workflow.signalWithStart(type, {
      workflowId,
      taskQueue,
      args: [],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      signal: unclaimedSignal,
      signalArgs: [notification],
      staticSummary: 'The provider’s notifications that belong to no payment',
    }),
  );
}

/**
 * The latest notifications that belong to no payment we know, newest first.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function readUnclaimed({ client }: Pick<Api, 'client'>): Promise<UnclaimedNotification[]> {
  const handle = client.workflow.getHandle(UNCLAIMED_WORKFLOW.id);
  try {
    const kept = await ask(client, () => handle.query(unclaimedQuery));
    return [...kept].reverse();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
