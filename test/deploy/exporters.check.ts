import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { type Postgres, startPostgres } from '../../stack/postgres/postgres.js';
import { type Child, startChild } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { findOnPath } from '../../stack/temporal/executables.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { built } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { samplesOf } from '../support/metrics-page.js';
import { alerts } from '../support/monitoring.js';
import { pathWithPostgresClients } from '../support/postgres-clients.js';

/*
 * What the alerts on PostgreSQL, the machine and Temporal's server go by, on the pages of the programs that show it:
 * Debian's exporters, and the server of Temporal's command line. An alert on a metric that nobody shows never fires.
 */

/** The metrics that these alerts name, with the words of the one label that an error has. */
const [, group = ''] = alerts.split('- name: sanaga-platform');
const platform = group.replaceAll(/\{[^}]*\}/g, '');
const named = new Set(
  [...platform.matchAll(/\b((?:pg|node|postgres|service|persistence|approximate)_\w+)(?=[{[) ]|$)/gm)].map(
    ([name]) => name,
  ),
);

/** Nothing of this kind happens here, and Temporal shows a counter only once it has counted something. */
const UNSEEN = ['service_error_with_type'];

const children: Child[] = [];
let folder: string;
let postgres: Postgres;
let temporal: DevServer;
let connection: Connection;
const pages: Record<string, () => Promise<string>> = {};

async function startExporter(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const file = await findOnPath(name, process.env);
  if (file === undefined) throw new Error(`${name} is not installed. Install it: apt-get install ${name}`);
  const address = `127.0.0.1:${await freePort()}`;
  const given = [`--web.listen-address=${address}`, ...args];
  children.push(await startChild({ name, file, args: given, env: { ...process.env, ...env } }));
  pages[name] = () => got(`http://${address}/metrics`).text();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-exporters-'));
  await writeFile(join(folder, 'backup.prom'), 'postgres_backup_timestamp_seconds{type="full"} 1\n');
  postgres = await startPostgres();
  await postgres.query('postgres', 'CREATE ROLE temporal SUPERUSER LOGIN');
  const { port } = postgres;
  const roles = await runCommand('sh', [built('deploy/book-database.sh')], {
    env: {
      ...{ ...process.env, PATH: await pathWithPostgresClients() },
      ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'temporal', PGPASSWORD: 'ignored' },
      ...{ BOOK_PASSWORD: 'one', MONITORING_PASSWORD: 'two' },
    },
    timeLimitMs: 60_000,
  });
  expect(roles).toMatchObject({ kind: 'succeeded' });
  await startExporter('prometheus-postgres-exporter', [], {
    DATA_SOURCE_URI: `127.0.0.1:${port}/postgres?sslmode=disable`,
    ...{ DATA_SOURCE_USER: 'monitoring', DATA_SOURCE_PASS: 'two' },
  });
  const collectors = ['--collector.disable-defaults', '--collector.filesystem', '--collector.textfile'];
  await startExporter('prometheus-node-exporter', [...collectors, `--collector.textfile.directory=${folder}`]);
  const metricsPort = await freePort();
  temporal = await startDevServer({ report: () => undefined, ui: false, metricsPort });
  pages.temporal = () => got(`http://127.0.0.1:${metricsPort}/metrics`).text();
  connection = await Connection.connect({ address: temporal.address });
  // A task that no worker takes.
  await new Client({ connection }).workflow.start('payOut', { taskQueue: 'payments', workflowId: 'nobody-takes-it' });
}, 300_000);
afterAll(async () => {
  await connection?.close();
  await temporal?.stop();
  for (const child of children) await child.stop(5_000);
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function shown(): Promise<Set<string>> {
  const texts = await Promise.all(Object.values(pages).map((page) => page().catch(() => '')));
  return new Set(texts.flatMap((text) => text.split('\n')).flatMap((line) => /^[a-z]\w*/.exec(line) ?? []));
}

describe('the alerts on what Sanaga runs on', () => {
  it('go by metrics that there are', async () => {
    expect(named.size).toBeGreaterThan(8);
    const missing = async () => {
      const names = await shown();
      return [...named].filter((name) => !names.has(name) && !UNSEEN.includes(name));
    };
    expect(await eventually(missing, (names) => names.length === 0, 90_000).catch(missing)).toEqual([]);
  });

  it('name a task queue, and see that a task waits in it', async () => {
    const waiting = async () =>
      samplesOf((await pages.temporal?.()) ?? '')
        .filter(
          ({ name, labels }) =>
            name === 'approximate_backlog_count' &&
            labels.taskqueue === 'payments' &&
            labels.namespace !== 'temporal_system',
        )
        .reduce((total, { value }) => total + value, 0);
    expect(await eventually(waiting, (tasks) => tasks > 0, 120_000)).toBe(1);
  });

  it('see connections and the limit of these as a role that may do nothing else', async () => {
    const samples = samplesOf((await pages['prometheus-postgres-exporter']?.()) ?? '');
    const find = (name: string) => samples.filter((sample) => sample.name === name);
    expect(find('pg_up').map(({ value }) => value)).toEqual([1]);
    expect(find('pg_settings_max_connections')).toHaveLength(1);
    expect(await postgres.query('postgres', "SELECT rolsuper FROM pg_roles WHERE rolname = 'monitoring'")).toBe('f');
    expect(await postgres.query('postgres', "SELECT has_database_privilege('monitoring', 'book', 'CONNECT')")).toBe(
      'f',
    );
  });
});
