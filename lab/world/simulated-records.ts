import { status as grpc } from '@grpc/grpc-js';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { pino } from 'pino';
import { type ListedRun, toRun } from '../../src/records/list-runs.js';
import type { NewRecord } from '../../src/records/payment-record.js';
import { readRun } from '../../src/records/read-run.js';
import { Records } from '../../src/records/records.js';
import type { Encryption } from '../../src/temporal/encryption.js';
import { freePort } from '../../stack/processes/ports.js';
import { startPGliteServer } from '../../stack/records/pglite-server.js';
import { eachOf } from '../each-of.js';

/** Payments that are looked at at the same time. */
const MAX_IN_FLIGHT = 16;

/**
 * The records of a simulated world, in an embedded database. The time-skipping server has no index in which a recorder
 * could find ended payments: each payment is read instead, and recorded as the recorder does. Chaos runs the recorder
 * itself.
 */
export interface SimulatedRecords {
  readonly records: Records;
  /** Records those of the payments that have ended. @returns how many have not */
  record(temporal: Client, ids: readonly string[]): Promise<number>;
  stop(): Promise<void>;
}

export async function startSimulatedRecords(encryption: Encryption): Promise<SimulatedRecords> {
  const port = await freePort();
  const server = await startPGliteServer(port);
  const records = Records.open(
    `postgres://postgres@127.0.0.1:${port}/postgres`,
    encryption,
    pino({ level: 'error' }, process.stderr),
  );
  return {
    records,
    async record(temporal, ids) {
      const ended: ListedRun[] = [];
      let open = 0;
      await eachOf(ids, MAX_IN_FLIGHT, async (workflowId) => {
        const info = await infoOf(temporal, workflowId);
        const run = info && toRun(info);
        if (run === undefined) return;
        if (run.closedAt === undefined) open++;
        else ended.push(run);
      });
      const missing = await records.missing(ended, 0);
      const read: NewRecord[] = [];
      await eachOf(missing, MAX_IN_FLIGHT, async (run) => {
        // The server leaves the query of a stopped payment with a dead worker for ever.
        read.push({ ...run, content: run.stopped ? undefined : await readRun(temporal, run) });
      });
      await records.write(read);
      return open;
    },
    async stop() {
      await records.close();
      await server.stop();
    },
  };
}

/** The latest run of a payment; `undefined` if there is none. */
async function infoOf({ workflowService, options }: Client, workflowId: string) {
  try {
    const request = { namespace: options.namespace, execution: { workflowId } };
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution(request);
    return workflowExecutionInfo ?? undefined;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === grpc.NOT_FOUND) return undefined;
    throw error;
  }
}
