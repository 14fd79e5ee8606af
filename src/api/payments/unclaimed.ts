import { WorkflowNotFoundError } from '@temporalio/client';
import {
  UNMATCHED_WORKFLOW,
  type UnmatchedNotification,
  unmatchedQuery,
  unmatchedSignal,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { ask, deliver } from './temporal-calls.js';

/**
 * Keeps a notification that matches no payment we know; resolves only once Temporal has it for good.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function keepUnmatched(
  { client, taskQueue }: Pick<Api, 'client' | 'taskQueue'>,
  notification: UnmatchedNotification,
): Promise<void> {
  const { id: workflowId, type } = UNMATCHED_WORKFLOW;
  await deliver(client, () =>
    client.workflow.signalWithStart(type, {
      workflowId,
      taskQueue,
      args: [],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      signal: unmatchedSignal,
      signalArgs: [notification],
      staticSummary: 'The provider’s notifications that match no payment',
    }),
  );
}

/**
 * The latest notifications that match no payment we know, newest first.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function readUnmatched({ client }: Pick<Api, 'client'>): Promise<UnmatchedNotification[]> {
  const handle = client.workflow.getHandle(UNMATCHED_WORKFLOW.id);
  try {
    const kept = await ask(client, () => handle.query(unmatchedQuery));
    return [...kept].reverse();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
