import type { Client } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';

/*
 * Reading the beginning of a run's history without the rest: a history may have 50 MB.
 */

const { EVENT_TYPE_WORKFLOW_TASK_COMPLETED: TASK_COMPLETED } = proto.temporal.api.enums.v1.EventType;

type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;
type HistoryPage = proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;

/** A run of a workflow, or its latest. */
interface Run {
  readonly workflowId: string;
  readonly runId?: string | undefined;
}

/** Events that are read at once. Most runs complete their first task within the first four. */
const PAGE = 50;

/** Reads the input of a run. */
export async function inputOfRun(client: Client, run: Run): Promise<unknown> {
  for await (const [first] of eventPages(client, run, 1)) {
    const { input } = first?.workflowExecutionStartedEventAttributes ?? {};
    return await decodeFromPayloadsAtIndex<unknown>(client.options.loadedDataConverter, 0, input?.payloads);
  }
  throw new Error("Temporal sent a history without the run's start");
}

/** Reports whether no worker has completed a task of the run. */
export async function hasCompletedNoTask(client: Client, run: Run): Promise<boolean> {
  for await (const events of eventPages(client, run, PAGE)) {
    if (events.some(({ eventType }) => eventType === TASK_COMPLETED)) return false;
  }
  return true;
}

async function* eventPages(
  { options, workflowService }: Client,
  { workflowId, runId }: Run,
  maximumPageSize: number,
): AsyncGenerator<readonly HistoryEvent[]> {
  const execution = { workflowId, ...(runId !== undefined && { runId }) };
  const request = { namespace: options.namespace, execution, maximumPageSize };
  let token = new Uint8Array();
  do {
    const page: HistoryPage = await workflowService.getWorkflowExecutionHistory({
      ...request,
      nextPageToken: token,
    });
    yield page.history?.events ?? [];
    token = new Uint8Array(page.nextPageToken ?? []);
  } while (token.length > 0);
}
