import { setTimeout as pause } from 'node:timers/promises';
import { type Client, type HistoryAndWorkflowId, WorkflowNotFoundError } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { type ReplayResult, Worker, type WorkerOptions } from '@temporalio/worker';
import { dataConverterOf, type Encryption } from '../temporal/encryption.js';
import { EVERY_WORKFLOW_TYPE } from '../workflows/messages.js';

/*
 * Replays what workflows have done at Temporal, with the workflows of this build: what a new version could not go on
 * with shows before any payment meets it. Temporal is only read.
 */

const { EventType } = proto.temporal.api.enums.v1;

export interface ReplayOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly encryption: Encryption;
  readonly workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  /** Open workflows, the latest; all of them, by default. */
  readonly open?: number | undefined;
  /** Ended workflows of each type, the latest. */
  readonly ended: number;
  /** Histories that are read in a second, at most. */
  readonly perSecond: number;
}

/** A run of a workflow. */
interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly isOpen: boolean;
}

/** What became of a run: an untouched one has no history yet that code could contradict, and a gone one was deleted. */
export type ReplayedRun = Run &
  ({ readonly kind: 'replayed' | 'untouched' | 'gone' } | { readonly kind: 'failed'; readonly error: Error });

/** Runs in one answer. */
const RUNS_PER_CALL = 50;

/** Replays open runs, then ended ones, one after the other, until `stop` is aborted. */
export async function* replayRuns(options: ReplayOptions, stop: AbortSignal): AsyncGenerator<ReplayedRun> {
  const others: ReplayedRun[] = [];
  let current: Run | undefined;
  const histories = async function* (): AsyncGenerator<HistoryAndWorkflowId> {
    for await (const run of pacedRuns(options, stop)) {
      const history = await historyOf(options.client, run);
      if (history === undefined) others.push({ ...run, kind: 'gone' });
      else if (!wasBegun(history)) others.push({ ...run, kind: 'untouched' });
      else {
        current = run;
        yield { workflowId: run.workflowId, history };
      }
    }
  };
  const replay = {
    workflowBundle: options.workflowBundle,
    dataConverter: dataConverterOf(options.encryption),
  };
  for await (const { error } of Worker.runReplayHistories(replay, histories())) {
    yield* others.splice(0);
    if (current !== undefined) yield { ...current, ...outcomeOf(error) };
  }
  yield* others;
}

const outcomeOf = (error: ReplayResult['error']) =>
  error === undefined ? ({ kind: 'replayed' } as const) : ({ kind: 'failed', error } as const);

/** Whether a namespace has any run of a workflow of Sanaga's, whatever its task queue. */
export async function hasRuns({ workflowService, options: { namespace } }: Client): Promise<boolean> {
  const types = EVERY_WORKFLOW_TYPE.map((type) => `'${type}'`).join(', ');
  const { count } = await workflowService.countWorkflowExecutions({ namespace, query: `WorkflowType IN (${types})` });
  return count.toNumber() > 0;
}

/** The runs to be replayed, as many a second as they may be. */
async function* pacedRuns(options: ReplayOptions, stop: AbortSignal): AsyncGenerator<Run> {
  const { client, taskQueue, open = Number.POSITIVE_INFINITY, ended, perSecond } = options;
  const ours = `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
  const queries = [
    { query: `${ours} AND ExecutionStatus = 'Running'`, isOpen: true, limit: open },
    ...EVERY_WORKFLOW_TYPE.map((type) => ({
      query: `${ours} AND ExecutionStatus != 'Running' AND WorkflowType = '${type}'`,
      isOpen: false,
      limit: ended,
    })),
  ];
  for (const { query, isOpen, limit } of queries) {
    let left = limit;
    for await (const run of listed(client, query)) {
      if (left-- <= 0 || stop.aborted) break;
      yield { ...run, isOpen };
      await pause(1_000 / perSecond, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

async function* listed(client: Client, query: string): AsyncGenerator<Omit<Run, 'isOpen'>> {
  const { namespace } = client.options;
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = { namespace, query, pageSize: RUNS_PER_CALL, ...(nextPageToken && { nextPageToken }) };
    const page = await client.workflowService.listWorkflowExecutions(request);
    for (const { execution, type } of page.executions) {
      const { workflowId, runId } = execution ?? {};
      if (workflowId && runId) yield { workflowId, runId, type: type?.name ?? '' };
    }
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}

/** Returns `undefined` when Temporal has deleted the run since it was listed. */
async function historyOf(client: Client, { workflowId, runId }: Run): Promise<History | undefined> {
  try {
    return await client.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** A link that nobody has opened has met no worker yet. */
function wasBegun({ events }: History): boolean {
  const done = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
  return (events ?? []).some(({ eventType }) => eventType === done);
}
