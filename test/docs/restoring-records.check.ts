import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { type Postgres, startPostgres } from '../../bench/servers/postgres.js';
import { toStatement } from '../../src/reconciliation/statement.js';
import { runRecorder } from '../../src/records/recorder.js';
import { Records } from '../../src/records/records.js';
import { idOf, paid, type Run, temporalWith } from '../support/ended-runs.js';
import { eventually } from '../support/eventually.js';
import { pathWithPostgresClients } from '../support/postgres-clients.js';
import { commandsOf, OperatorsShell } from '../support/runbook.js';
import { testEncryption } from '../support/test-encryption.js';

const HOUR_MS = 3_600_000;
const DAY = '2026-11-21';

const commandsWith = (pattern: RegExp) => commandsOf(pattern, 'Restoring a backup');

describe('the records, backed up and restored as the runbook says', () => {
  const logger = pino({ level: 'silent' });
  let postgres: Postgres;
  let scratch: string;
  let shell: OperatorsShell;
  let records: Records;

  const openRecords = () =>
    Records.open(`postgresql://sanaga@127.0.0.1:${postgres.port}/records`, testEncryption, logger);

  /** Has a recorder record these, and stops it. */
  async function record(into: Records, runs: readonly Run[]): Promise<void> {
    const stop = new AbortController();
    const pace = {
      ...{ roundMs: 20, leaseMs: 30_000, soonMs: 5_000, overlapMs: 60_000, overlapEveryMs: 0 },
      ...{ sweepMs: 50, openMs: 60_000, againMs: HOUR_MS },
    };
    const recording = runRecorder({ client: temporalWith(runs), records: into, logger, pace }, stop.signal);
    for (const { id } of runs) {
      await eventually(
        () => into.find(id),
        (found) => found?.content !== undefined,
      );
    }
    stop.abort();
    await recording;
  }

  const statementOf = (version: number) =>
    toStatement({
      ...{ date: DAY, version, madeAt: Date.parse('2026-11-22T02:00:00Z'), payments: [], differences: [] },
      gaps: { collection: [], payout: [] },
      balances: { collection: {}, payout: {} },
      cutOff: false,
    });

  const now = Date.now();
  const before = [paid(1, now - 5 * HOUR_MS), paid(2, now - 4 * HOUR_MS)];
  const since = [paid(3, now - 2 * HOUR_MS), paid(4, now - HOUR_MS)];
  let events: Awaited<ReturnType<Records['events']>>;
  /** The cursor of a merchant who has read everything just before the disaster. */
  let cursor: number;

  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.query('postgres', 'CREATE ROLE temporal SUPERUSER LOGIN');
    scratch = await mkdtemp(join(tmpdir(), 'sanaga-restoring-'));
    shell = new OperatorsShell(
      scratch,
      {
        ...process.env,
        PATH: await pathWithPostgresClients(),
        ...{ PGHOST: '127.0.0.1', PGPORT: String(postgres.port), PGUSER: 'temporal' },
      },
      // Nothing else runs.
      { stop: async () => undefined, start: async () => undefined, up: async () => undefined },
    );
    await shell.follow('docker-compose run --rm --no-deps -T records-database');
    const lost = openRecords();
    await record(lost, before);
    await lost.statements.publish('run-1', DAY, statementOf);
    events = await lost.events({ after: 0 }, 10);
    await shell.follow(commandsWith(/pg_dump/));
    await record(lost, since);
    cursor = (await lost.events({ after: 0 }, 10)).at(-1)?.position ?? 0;
    await lost.close();
    // What has been recorded since then is lost.
    await shell.follow(commandsWith(/pg_restore/));
    await shell.follow(commandsWith(/setval/));
    records = openRecords();
  });
  afterAll(async () => {
    await records?.close();
    await shell?.close();
    await postgres?.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  it('have every payment, event and statement of the backup', async () => {
    for (const { id, result } of before) {
      const record = await records.find(id);
      expect(record?.content?.payment).toEqual((await result()).payment);
    }
    await expect(records.has(idOf(3))).resolves.toBe(false);
    expect(await records.events({ after: 0 }, 10)).toEqual(events);
    expect(await records.statements.find(DAY, 1)).toEqual(JSON.parse(JSON.stringify(statementOf(1))));
  });

  it('are brought up to date from Temporal, and who reads on from a cursor misses nothing', async () => {
    await record(records, [...before, ...since, paid(5, now - 1_000)]);
    const read = await records.events({ after: cursor }, 10);
    expect(read.map(({ paymentId }) => paymentId).sort()).toEqual([idOf(3), idOf(4), idOf(5)]);
    expect(await records.events({ after: 0 }, 10)).toEqual([...events, ...read]);
    expect((await records.statements.publish('run-2', DAY, statementOf)).version).toBe(2);
  });
});
