import { copyFile, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  buildTemporalServer,
  deployedDynamicConfig,
  startTemporalOnPostgres,
  type TemporalOnPostgres,
  type TemporalPrograms,
} from '../../bench/servers/temporal-on-postgres.js';
import type { PaymentAnswer } from '../../stack/demo/merchant.js';
import { atCheckout } from '../../stack/demo/payer.js';
import type { Postgres } from '../../stack/postgres/postgres.js';
import { Backups } from '../support/backups.js';
import { PROJECT } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import {
  composedBookUrl,
  openOperatorsShell,
  operatorsFolder,
  prepareCommands,
  startComposedPostgres,
} from '../support/operated-stack.js';
import { readPage } from '../support/pages.js';
import { commandsOf, type OperatorsShell, type Services } from '../support/runbook.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/*
 * docs/operations/upgrading.md, followed command by command while payments are under way. Temporal's versions are real
 * ones. PostgreSQL's are of one version, since Debian and npm have no second one with its client programs: the other
 * volume is another cluster, which to pgBackRest is another PostgreSQL.
 */

const page = await readPage('docs/operations/upgrading.md');
const commandsIn = (chapter: string, pattern: RegExp) => commandsOf(pattern, chapter, page);
const TEMPORAL = "Temporal's server";
const MINOR = 'PostgreSQL: a minor version';
const MAJOR = 'PostgreSQL: a major version';

const PHONE = '677000000';
const STOP_MS = 10_000;
const LIMIT_MS = 120_000;

let scratch: string;
let backups: Backups;
let postgres: Postgres;
/** The clusters in docker-compose.yml's volumes, by their names. */
const clusters = new Map<string, Postgres>();
let temporal: TemporalOnPostgres;
/** The versions that docker-compose.yml has named, by their number. */
const versions = new Map<string, TemporalPrograms>();
let running: RunningStack;
let shell: OperatorsShell;

/** What docker-compose.yml says at present. */
async function composed() {
  const text = await readFile(join(scratch, 'docker-compose.yml'), 'utf8');
  const of = (pattern: RegExp) => pattern.exec(text)?.[1] ?? '';
  return {
    server: of(/image: temporalio\/server:([\d.]+)/),
    tools: of(/image: temporalio\/admin-tools:([\d.]+)/),
    postgres: of(/image: sanaga-postgres:([\d.]+)/),
    volume: of(/- (\S+):\/var\/lib\/postgresql\/data$/m),
    volumes: text.slice(text.search(/^volumes:$/m)),
  };
}

const isUp = { postgres: '', backup: false, temporal: '', worker: true, api: true };

/** Puts a version's schema tool on the PATH of the shell. */
async function useTools(version: string): Promise<void> {
  const { sqlTool } = await programsOf(version);
  await rm(join(scratch, 'temporal-sql-tool'), { force: true });
  await symlink(sqlTool, join(scratch, 'temporal-sql-tool'));
}

async function programsOf(version: string): Promise<TemporalPrograms> {
  const programs = versions.get(version) ?? (await buildTemporalServer(() => undefined, version));
  versions.set(version, programs);
  return programs;
}

/** As the image does at the first start of a volume. */
async function startVolume(port?: number): Promise<Postgres> {
  const cluster = await startComposedPostgres(backups, port);
  await cluster.query('postgres', 'CREATE DATABASE temporal OWNER temporal');
  return cluster;
}

const up = {
  async postgres() {
    const { postgres: version, volume, volumes } = await composed();
    expect(volumes).toContain(`\n  ${volume}:\n`);
    if (isUp.postgres === `${version} ${volume}`) return;
    if (isUp.postgres !== '') await postgres.halt();
    const kept = clusters.get(volume);
    if (kept === undefined) {
      postgres = await startVolume(postgres.port);
      clusters.set(volume, postgres);
    } else {
      postgres = kept;
      await postgres.start();
    }
    isUp.postgres = `${version} ${volume}`;
    await shell.follow(`export PGBACKREST_PG1_PATH=${postgres.data}`);
  },
  async backup() {
    if (isUp.backup) await backups.stop();
    await backups.start(postgres);
    isUp.backup = true;
    await eventually(
      async () => (await backups.logTail()) ?? '',
      (log) => /check command end: completed successfully/.test(log),
      LIMIT_MS,
    );
  },
  async temporal() {
    const { server } = await composed();
    if (isUp.temporal === server) return;
    if (isUp.temporal !== '') await temporal.stop();
    temporal = await temporal.startAgain((await programsOf(server)).server);
    isUp.temporal = server;
  },
  async worker() {
    if (!isUp.worker) await running.stack.restart('worker');
    isUp.worker = true;
  },
  async api() {
    if (!isUp.api) await running.stack.restart('api');
    isUp.api = true;
  },
};

const services: Services = {
  async stop(names) {
    for (const name of names) {
      if (name === 'worker' || name === 'api') {
        await running.stack.part(name).stop(STOP_MS);
        isUp[name] = false;
      }
      if (name === 'temporal' && isUp.temporal !== '') {
        await temporal.stop();
        isUp.temporal = '';
      }
      if (name === 'backup' && isUp.backup) {
        await backups.stop();
        isUp.backup = false;
      }
      if (name === 'postgres') {
        await postgres.halt();
        isUp.postgres = '';
      }
    }
  },
  start: () => Promise.reject(new Error('the page starts nothing')),
  async up(names) {
    for (const [name, start] of Object.entries(up)) if (names.length === 0 || names.includes(name)) await start();
  },
};

let orders = 0;
const link = () => running.merchant.create('/v1/collections', { method: 'link', amount: 500 }, `order-${++orders}`);
const payout = (more: object = {}) =>
  running.merchant.create('/v1/payouts', { amount: 600, phone: PHONE, ...more }, `order-${++orders}`);

async function succeeds(id: string): Promise<void> {
  // Else it waits for its next question, since the API may not have been there when the provider told the outcome.
  await running.call('POST', `/v1/payments/${id}/refresh`);
  const { status } = await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: LIMIT_MS });
  expect([id, status]).toEqual([id, 'SUCCESSFUL']);
  expect(await running.transactionsOf(id)).toHaveLength(1);
}

async function pay({ id, link: url }: PaymentAnswer): Promise<void> {
  await atCheckout(url ?? '', { action: 'pay', phone: PHONE });
  await succeeds(id);
}

/** Payments before, during and after what is done, each of which moves money once. */
async function through(act: () => Promise<unknown>): Promise<void> {
  const open = await link();
  const dated = await payout({ sendAt: new Date(Date.now() + 5_000).toISOString() });
  const sent = await payout();
  await act();
  await eventually(
    async () => (await fetch(`${running.stack.apiUrl}/readyz`)).status,
    (status) => status === 200,
    LIMIT_MS,
  );
  for (const { id } of [sent, dated, await payout()]) await succeeds(id);
  await pay(open);
  await pay(await link());
}

beforeAll(async () => {
  scratch = await operatorsFolder('upgrading');
  for (const name of ['docker-compose.yml', 'Dockerfile']) await copyFile(join(PROJECT, name), join(scratch, name));
  const { server, postgres: version, volume } = await composed();
  await useTools(server);
  backups = await Backups.make();
  postgres = await startVolume();
  clusters.set(volume, postgres);
  isUp.postgres = `${version} ${volume}`;
  temporal = await startTemporalOnPostgres(
    await programsOf(server),
    { ...postgres, user: 'temporal' },
    join(scratch, 'temporal.log'),
    await deployedDynamicConfig(PROJECT),
  );
  isUp.temporal = server;
  shell = await openOperatorsShell(scratch, { postgres, temporal, backups }, services);
  running = await bringUp({ DATABASE_URL: composedBookUrl(postgres) }, { temporalAddress: temporal.target.address });
  await up.backup();
  await eventually(
    () => backups.madeAt(),
    (second) => second > 0,
    LIMIT_MS,
  );
  await prepareCommands(shell, running);
  await shell.follow(`export TEMPORAL_TASK_QUEUE=${running.taskQueue}
    npm() { [ "$*" = 'run pin' ]; }`);
}, 1_800_000);
afterAll(async () => {
  await shell?.close();
  await running?.stop();
  await temporal?.stop();
  await backups?.stop();
  for (const cluster of clusters.values()) await cluster.stop();
  await backups?.remove();
  await rm(scratch, { recursive: true, force: true });
});

describe('upgrading', () => {
  /** Under way from before the first of it until after the last. */
  let oldest: PaymentAnswer;

  beforeAll(async () => {
    oldest = await link();
    await payout({ sendAt: new Date(Date.now() + 24 * 3_600_000).toISOString() });
    expect(await shell.follow(commandsIn('Before', /replay/))).toMatch(/^Replayed: [1-9].* Failed: 0\./m);
  });

  it('Temporal goes up one minor version, and back', async () => {
    const { server } = await composed();
    await shell.follow(commandsIn(TEMPORAL, /npm run pin/));
    const next = (await composed()).server;
    expect(Number(next.split('.')[1])).toBe(1 + Number(server.split('.')[1]));
    await useTools((await composed()).tools);
    await through(() => shell.follow(commandsIn(TEMPORAL, /^docker-compose run/)));
    await through(() => shell.follow(commandsIn(TEMPORAL, /readyz/)));
    expect(isUp.temporal).toBe(next);
    await through(() => shell.follow(commandsIn(TEMPORAL, /^cp before/)));
    expect(isUp.temporal).toBe(server);
    // As any later `docker-compose up` does: the older tools leave the schema alone.
    await useTools(server);
    await through(() => shell.follow('docker-compose run --rm --no-deps -T temporal-schema\ndocker-compose up -d'));
  });

  it('PostgreSQL restarts with the next minor version, and its indexes are made anew', async () => {
    await shell.follow(commandsIn(MINOR, /npm run pin/));
    const [before, after] = (await shell.follow(commandsIn(MINOR, /ldd/))).trim().split('\n');
    expect(after).toBe(before);
    await through(() => shell.follow(commandsIn(MINOR, /^docker-compose up -d --no-deps postgres backup\n$/)));
    expect(isUp.postgres).toBe('16.15 postgres');
    await through(() => shell.follow(commandsIn(MINOR, /reindexdb/)));
  });

  /** The page's steps, up to the replay. */
  async function replace(): Promise<void> {
    await shell.follow(commandsIn(MAJOR, /pg_dump/));
    await shell.follow(commandsIn(MAJOR, /npm run pin/));
    await shell.follow(commandsIn(MAJOR, /pg_restore/));
    await shell.follow(commandsIn(MAJOR, /--type=full/));
    expect(await shell.follow(commandsIn(MAJOR, /diff replayed/))).toMatch(/^nothing is missing$/m);
    expect(isUp).toEqual({ ...isUp, postgres: '17.10 postgres-17', worker: false, api: false });
  }

  it('PostgreSQL is replaced by another one, and put back before a worker runs', async () => {
    await through(async () => {
      await replace();
      await shell.follow(commandsIn(MAJOR, /^cp before/m));
    });
    expect(isUp.postgres).toBe('16.14 postgres');
    await clusters.get('postgres-17')?.stop();
    clusters.delete('postgres-17');
  });

  it('PostgreSQL is replaced by another one, with all payments, and backed up', async () => {
    await through(async () => {
      await replace();
      await shell.follow('docker-compose up -d');
    });
    expect(await shell.follow('docker-compose exec -T backup pgbackrest info')).toMatch(/status: ok/);
    await shell.follow('docker-compose exec -T backup pgbackrest check');
    await pay(oldest);
  });
});
