import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
// A CommonJS package whose named exports Node can't detect.
import proto from '@temporalio/proto';
import { lazyConnection, type TemporalTarget } from '../../src/temporal/connection.js';
import { startPostgres } from '../../stack/postgres/postgres.js';
import { bringUpTemporal } from '../../stack/temporal/bring-up-temporal.js';
import { PROJECT, withoutTemporal } from '../environment.js';
import { type BenchBook, bookOn, startBook } from './book.js';
import {
  deployedDynamicConfig,
  startTemporalOnPostgres,
  TEMPORAL_DATABASES,
  type TemporalPrograms,
} from './temporal-on-postgres.js';

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** A Temporal server with its store, started for one system alone. */
export interface BenchTemporal {
  readonly target: TemporalTarget;
  /** Environment variables that lead a process to this server. */
  readonly env: Readonly<Record<string, string>>;
  readonly processes: Readonly<Record<string, number>>;
  bytes(): Promise<number>;
  /** Makes the book that goes with it, on the same PostgreSQL if it has one. */
  startBook(): Promise<BenchBook>;
  stop(): Promise<void>;
}

/** The embedded server as `npm start` has it, on a file in this folder, without its Web UI. */
export async function startEmbeddedTemporal(folder: string, report: (line: string) => void): Promise<BenchTemporal> {
  const databaseFile = join(folder, 'temporal.db');
  const server = await bringUpTemporal({
    report,
    databaseFile,
    ui: false,
    env: withoutTemporal(process.env),
  });
  if (server.pid === undefined) throw new Error('the embedded Temporal has no process id');
  return {
    target: server.target,
    env: server.env,
    processes: { server: server.pid },
    bytes: async () => sqliteSize(databaseFile),
    startBook,
    stop: server.stop,
  };
}

/** Bytes of an SQLite database, with what is still in its write-ahead log. */
function sqliteSize(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const read = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
    return read('page_count') * read('page_size');
  } finally {
    database.close();
  }
}

/** Temporal's server on PostgreSQL. */
export async function startPostgresTemporal(folder: string, programs: TemporalPrograms): Promise<BenchTemporal> {
  const postgres = await startPostgres();
  try {
    const log = join(folder, 'temporal.log');
    const server = await startTemporalOnPostgres(programs, postgres, log, await deployedDynamicConfig(PROJECT));
    return {
      target: server.target,
      env: server.env,
      processes: { server: server.pid, postgres: postgres.pid },
      bytes: () => postgres.size(TEMPORAL_DATABASES),
      startBook: () => bookOn(postgres),
      async stop() {
        await server.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

const LOOK_EVERY_MS = 50;
/** Time limit for payments to close after the merchant was notified, in ms. */
const CLOSE_LIMIT_MS = 30_000;
/** Payments whose histories are counted: all are alike, and each costs a call. */
const MAX_COUNTED = 100;

/**
 * The events in these payments' histories, all together, as soon as their workflows are closed. Of many, some are
 * counted.
 *
 * @throws Error when one doesn't close.
 */
export async function countEvents(target: TemporalTarget, workflowIds: readonly string[]): Promise<number> {
  const connection = lazyConnection(target);
  try {
    const counted = workflowIds.slice(-MAX_COUNTED);
    let events = 0;
    for (const id of counted) events += await closedLength(connection, target.namespace, id);
    return (events / counted.length) * workflowIds.length;
  } finally {
    await connection.close();
  }
}

async function closedLength(connection: Connection, namespace: string, workflowId: string): Promise<number> {
  const deadline = Date.now() + CLOSE_LIMIT_MS;
  for (;;) {
    // As the server has it: what is encrypted in it isn't needed.
    const { workflowExecutionInfo: info } = await connection.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    const status = info?.status ?? WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED;
    if (status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED) {
      return Number(info?.historyLength);
    }
    if (Date.now() > deadline) {
      throw new Error(`the workflow ${workflowId} is still ${WorkflowExecutionStatus[status]}`);
    }
    await pause(LOOK_EVERY_MS);
  }
}
