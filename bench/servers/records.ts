import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';

/** The records' database of a system that was started for the benchmark. */
export interface BenchRecords {
  readonly url: string;
  /** Its own; none where Temporal's database is on the same server. */
  readonly processes: Readonly<Record<string, number>>;
  bytes(): Promise<number>;
  /** Resolves when the ends of these payments are recorded. @throws Error when one isn't in time. */
  untilRecorded(payments: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../stack/records/main.js', import.meta.url));
const STOP_GRACE_MS = 5_000;
const LOOK_EVERY_MS = 200;
/** Time limit for the recorder after a payment's end, in ms. */
const RECORD_LIMIT_MS = 60_000;

/** The embedded database as `npm start` has it, in this folder. */
export async function startEmbeddedRecords(folder: string): Promise<BenchRecords> {
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const child = await startChild({
    name: 'records',
    file: process.execPath,
    args: [PROGRAM, String(port), join(folder, 'records')],
    env: process.env,
    logFile: join(folder, 'records.log'),
  });
  const stop = () => child.stop(STOP_GRACE_MS);
  try {
    await untilReady(child, async () => (await query(url, 'SELECT 1 AS one')).length === 1);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...recordsAt(url), processes: { records: child.pid }, stop };
}

/** Records in a database that is there. */
export function recordsAt(url: string): BenchRecords {
  return {
    url,
    processes: {},
    async bytes() {
      const [row] = await query(url, 'SELECT pg_database_size(current_database()) AS bytes');
      return Number(row?.bytes);
    },
    async untilRecorded(payments) {
      const deadline = Date.now() + RECORD_LIMIT_MS;
      for (;;) {
        const text = 'SELECT count(*) AS count FROM payments WHERE id = ANY($1) AND final AND closed_at IS NOT NULL';
        const [row] = await query(url, text, [payments]);
        if (Number(row?.count) === payments.length) return;
        if (Date.now() > deadline) {
          throw new Error(
            `${row?.count} of ${payments.length} payments were recorded within ${RECORD_LIMIT_MS / 1_000} s`,
          );
        }
        await pause(LOOK_EVERY_MS);
      }
    },
    stop: async () => undefined,
  };
}

async function query(url: string, text: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
