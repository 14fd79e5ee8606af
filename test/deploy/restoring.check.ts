import { chmod, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { type Postgres, startPostgres } from '../../bench/servers/postgres.js';
import {
  buildTemporalServer,
  deployedDynamicConfig,
  startTemporalOnPostgres,
  type TemporalOnPostgres,
} from '../../bench/servers/temporal-on-postgres.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { Backups } from '../support/backups.js';
import { PROJECT } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { pathWithPostgresClients } from '../support/postgres-clients.js';
import { commandsOf, OperatorsShell, type Services } from '../support/runbook.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/*
 * The runbook's chapter, from the backup to the last payment, with its own commands, and deploy/backup.sh. PostgreSQL
 * is backed up while payments run, and restored twice to a moment since then: while the records are whole, and after
 * everything was lost.
 */

const commandsWith = (pattern: RegExp) => commandsOf(pattern, 'Restoring a backup');

const PHONE = '677000000';
const orders = {
  /** The number that the runbook erases. Its payments take five seconds. */
  erased: { path: '/v1/payouts', body: { amount: 600, phone: '677000205' } },
  forgotten: { path: '/v1/payouts', body: { amount: 700, phone: PHONE } },
  unsentPayout: { path: '/v1/payouts', body: { amount: 800, phone: PHONE } },
  unsentDirect: { path: '/v1/collections', body: { method: 'direct', amount: 900, phone: PHONE } },
  since: { path: '/v1/payouts', body: { amount: 1_000, phone: PHONE } },
  paidSince: { path: '/v1/collections', body: { method: 'link', amount: 500 } },
  openFirst: { path: '/v1/collections', body: { method: 'link', amount: 500 } },
  openSecond: { path: '/v1/collections', body: { method: 'link', amount: 500 } },
};
type Name = keyof typeof orders;

const answerSchema = z.looseObject({
  ...{ id: z.string().optional(), status: z.string().or(z.int()).optional() },
  ...{ code: z.string().optional(), link: z.string().optional() },
});
const listSchema = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
const eventsSchema = z.object({
  data: z.array(
    z.looseObject({
      ...{ id: z.string(), paymentId: z.string() },
      data: z.looseObject({ status: z.string(), phone: z.string().optional() }),
    }),
  ),
  nextCursor: z.string(),
});

const STOP_MS = 10_000;

let postgres: Postgres;
let temporal: TemporalOnPostgres;
let running: RunningStack;
let scratch: string;
let backups: Backups;
/** The moment that is restored. */
let moment: string;
let shell: OperatorsShell;
const ids: Partial<Record<Name, string>> = {};
/** Events that a merchant has read before the databases are lost. */
let read: Awaited<ReturnType<typeof eventsAfter>>;

const idOf = (name: Name) => ids[name] ?? '';

const services: Services = {
  async stop(names) {
    for (const name of names) {
      if (name === 'worker' || name === 'api') await running.stack.part(name).stop(STOP_MS);
      if (name === 'temporal') await temporal.stop();
      if (name === 'backup') await backups.stop();
      if (name === 'postgres') await postgres.halt();
    }
  },
  async start(names) {
    for (const name of ['worker', 'api'] as const) {
      if (names.includes(name)) await running.stack.restart(name);
    }
  },
  async up(names) {
    const [, restoredAt] = /^TEMPORAL_RESTORED_AT=(.*)$/m.exec(await readFile(join(scratch, '.env'), 'utf8')) ?? [];
    if (names.includes('postgres')) await postgres.start();
    if (names.includes('backup')) await backups.start(postgres);
    if (names.includes('temporal')) temporal = await temporal.startAgain();
    for (const name of ['worker', 'api'] as const) {
      if (names.includes(name)) await running.stack.restart(name, { TEMPORAL_RESTORED_AT: restoredAt });
    }
  },
};

async function ask(method: 'GET' | 'POST', path: string, body?: unknown, key?: string) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const response = await running.call(method, path, body, headers);
  return { status: response.status, body: answerSchema.parse(await response.json()) };
}

/** An order whose Idempotency-Key is its name here. */
async function order(name: Name): Promise<string> {
  const { path, body } = orders[name];
  const { status, body: payment } = await ask('POST', path, body, name);
  if (payment.id === undefined) throw new Error(`${name} was answered ${status}: ${payment.code}`);
  ids[name] = payment.id;
  return payment.id;
}

async function pay(name: Name): Promise<void> {
  const { body } = await ask('GET', `/v1/payments/${idOf(name)}`);
  await atCheckout(body.link ?? '', { action: 'pay', phone: PHONE });
}

async function succeeds(name: Name): Promise<void> {
  const isFinal = ({ final }: { readonly final: boolean }) => final;
  const { status } = await running.merchant.waitUntil(idOf(name), isFinal, { limitMs: 30_000 });
  expect(status).toBe('SUCCESSFUL');
}

const transactionsOf = (name: Name) => running.transactionsOf(idOf(name));

/** @param cursor without it, from the first event on */
async function eventsAfter(cursor?: string) {
  const query = cursor === undefined ? '' : `?cursor=${cursor}`;
  return eventsSchema.parse(await (await running.call('GET', `/v1/events${query}`)).json());
}

/** The events after a cursor, once these payments have some. */
function eventsOf(names: readonly Name[], cursor?: string) {
  return eventually(
    () => eventsAfter(cursor),
    ({ data }) => names.every((name) => data.some(({ paymentId }) => paymentId === idOf(name))),
    30_000,
  );
}

async function isInTemporal(name: Name): Promise<boolean> {
  try {
    await running.client.workflow.getHandle(idOf(name)).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Has Temporal delete a payment, as it does when its retention is over. */
async function forget(name: Name): Promise<void> {
  await running.client.workflowService.deleteWorkflowExecution({
    namespace: temporal.target.namespace,
    workflowExecution: { workflowId: idOf(name) },
  });
  await eventually(
    () => isInTemporal(name),
    (isThere) => !isThere,
  );
}

/** Lets a second pass, so that all before it and nothing after it is of that moment. */
async function momentBetween(): Promise<string> {
  const second = Math.ceil(Date.now() / 1_000) * 1_000;
  while (Date.now() <= second) await pause(second + 50 - Date.now());
  return `${new Date(second).toISOString().slice(0, 19).replace('T', ' ')}+00`;
}

beforeAll(async () => {
  const programs = await buildTemporalServer(() => undefined);
  const { path } = await findTemporal({ report: () => undefined });
  scratch = await mkdtemp(join(tmpdir(), 'sanaga-restoring-'));
  await chmod(scratch, 0o755);
  await symlink(path, join(scratch, 'temporal'));
  backups = await Backups.make();
  postgres = await startPostgres(undefined, {
    settings: await backups.settings(),
    env: (data) => backups.variables(data),
  });
  await postgres.query('postgres', 'CREATE ROLE temporal SUPERUSER LOGIN');
  const dynamicConfig = {
    ...(await deployedDynamicConfig(PROJECT)),
    // Otherwise it takes a minute to delete a payment.
    'history.transferProcessorEnsureCloseBeforeDelete': [{ value: false }],
  };
  const owned = { ...postgres, user: 'temporal' };
  temporal = await startTemporalOnPostgres(programs, owned, join(scratch, 'temporal.log'), dynamicConfig);
  const recordsUrl = `postgresql://sanaga@127.0.0.1:${postgres.port}/records`;
  const env = {
    ...process.env,
    ...{ PATH: `${scratch}:${await pathWithPostgresClients()}`, ...temporal.env, RECORDS_URL: recordsUrl },
    ...{ PGHOST: '127.0.0.1', PGPORT: String(postgres.port), PGUSER: 'temporal' },
    ...backups.variablesOf(postgres),
  };
  shell = new OperatorsShell(scratch, env, services);
  await shell.follow('docker-compose run --rm --no-deps -T records-database');
  running = await bringUp({ RECORDS_URL: recordsUrl }, { temporalAddress: temporal.target.address });
  await shell.follow(commandsOf(/^ask\(\)/m));
  await shell.follow(commandsOf(/^temporal\(\)/m));
  const { apiKey, encryptionKeys } = running.secrets;
  await shell.follow(
    `export SANAGA_URL=${running.stack.apiUrl} SANAGA_API_KEY=${apiKey} ENCRYPTION_KEYS=${encryptionKeys}`,
  );
}, 1_200_000);
afterAll(async () => {
  await shell?.close();
  await running?.stop();
  await temporal?.stop();
  await backups?.stop();
  await postgres?.stop();
  await backups?.remove();
  await rm(scratch, { recursive: true, force: true });
});

/** A backup while payments run, a moment after it, and what happened before and since. */
beforeAll(async () => {
  await backups.start(postgres);
  await Promise.all(
    (['erased', 'forgotten', 'paidSince', 'openFirst', 'openSecond'] as const).map((name) => order(name)),
  );
  await eventsOf(['erased', 'forgotten']);
  await forget('forgotten');
  await eventually(
    () => backups.madeAt(),
    (second) => second > 0,
    120_000,
  ).catch(async (error) => {
    throw new Error(`no backup was taken: ${await backups.logTail()}`, { cause: error });
  });
  // What is ordered while no worker runs has yet to be sent.
  await services.stop(['worker']);
  await Promise.all([order('unsentPayout'), order('unsentDirect')]);

  moment = await momentBetween();
  await services.start(['worker']);
  await pay('paidSince');
  await order('since');
  const since = ['unsentPayout', 'unsentDirect', 'since', 'paidSince'] as const;
  await Promise.all(since.map((name) => succeeds(name)));
  await shell.follow(commandsWith(/records erase/));
  read = await eventsOf(since);
  // As a minute later, by itself.
  await postgres.query('postgres', 'SELECT pg_switch_wal()');
  const archived = `SELECT last_archived_time > '${moment}' FROM pg_stat_archiver`;
  await eventually(
    () => postgres.query('postgres', archived),
    (isArchived) => isArchived === 't',
    60_000,
  );
}, 360_000);

describe.each([
  { what: 'while the records are whole', isWhole: true, open: 'openFirst' },
  { what: 'after everything was lost', isWhole: false, open: 'openSecond' },
] as const)('payments restored from a backup, $what', ({ isWhole, open }) => {
  beforeAll(async () => {
    read = await eventsAfter();
    await shell.follow(commandsWith(/temporal-ui temporal$/m));
    if (isWhole) {
      await shell.follow(commandsWith(/pg_dump/));
      await postgres.query('postgres', 'DROP DATABASE temporal WITH (FORCE)');
    } else {
      const files = await readdir(postgres.data);
      await Promise.all(files.map((file) => rm(join(postgres.data, file), { recursive: true, force: true })));
    }
    const restore = commandsWith(/--target=/).replace(/^TO=.*$/m, `TO='${moment}'`);
    // Once more to the same moment.
    await shell.follow(isWhole ? restore : restore.replace(' restore\n', ' --target-timeline=current restore\n'));
    await shell.follow(commandsWith(isWhole ? /pg_restore/ : /setval/));
    await shell.follow(commandsWith(/records erase/));
    await shell.follow(commandsWith(/TEMPORAL_RESTORED_AT/));
  }, 240_000);

  it('are backed up again, encrypted, with the log since then', async () => {
    expect(await shell.follow(commandsWith(/pgbackrest info/))).toMatch(/status: ok\s+cipher: aes-256-cbc/);
    await shell.follow('docker-compose exec -T backup pgbackrest check');
  });

  it('are found if they were sent since, and are not sent again', async () => {
    for (const name of ['unsentPayout', 'unsentDirect'] as const) {
      const id = idOf(name);
      await succeeds(name);
      const { path, body } = orders[name];
      expect(await ask('POST', path, body, name)).toMatchObject({
        status: 200,
        body: { id, status: 'SUCCESSFUL' },
      });
      expect(await transactionsOf(name)).toHaveLength(1);
    }
    const inReview = await (await running.call('GET', '/v1/payments?status=REVIEW')).json();
    expect(listSchema.parse(inReview).data).toEqual([]);
  });

  it('can still be paid, and are found to be paid if they were since', async () => {
    await pay(open);
    for (const name of ['paidSince', 'openFirst', open] as const) {
      await ask('POST', `/v1/payments/${idOf(name)}/refresh`);
      await succeeds(name);
      expect(await transactionsOf(name)).toHaveLength(1);
    }
  });

  it.each(isWhole ? (['forgotten', 'since'] as const) : (['forgotten'] as const))(
    'can be read if the records alone have them, and their Idempotency-Keys hold: %s',
    async (name) => {
      expect(await isInTemporal(name)).toBe(false);
      const id = idOf(name);
      const payment = { id, status: 'SUCCESSFUL', final: true };
      expect(await ask('GET', `/v1/payments/${id}`)).toMatchObject({ status: 200, body: payment });
      const { path, body } = orders[name];
      expect(await ask('POST', path, body, name)).toMatchObject({ status: 200, body: payment });
      const other = await ask('POST', path, { ...body, amount: 1 + body.amount }, name);
      expect(other).toMatchObject({
        status: 409,
        body: { code: 'idempotency_key_reused', paymentId: id },
      });
      expect(await transactionsOf(name)).toHaveLength(1);
    },
  );

  it('are told of to a merchant who reads on from a cursor', async () => {
    const endedAgain = ['unsentPayout', 'unsentDirect', 'paidSince', 'openFirst'] as const;
    const { data } = await eventsOf(isWhole ? [open] : [...endedAgain, open], read.nextCursor);
    const told = data.map(({ paymentId }) => paymentId).sort();
    if (isWhole) {
      expect(told).toEqual([idOf(open)]);
      return;
    }
    expect(told).toEqual([...endedAgain, open].map(idOf).sort());
    const again = data.filter(({ id }) => read.data.some((event) => event.id === id));
    expect(again.map(({ paymentId }) => paymentId).sort()).toEqual(endedAgain.map(idOf).sort());
  });

  it('are without the data of a payer who was erased since', async () => {
    const { data } = await eventsAfter();
    const phones = (name: Name) =>
      data.filter(({ paymentId }) => paymentId === idOf(name)).map((event) => event.data.phone);
    expect(phones('erased')).toEqual([undefined]);
    expect(phones('forgotten')).toEqual(['•••• 000']);
  });

  if (isWhole) {
    it('keep the outcome in the records that they had', async () => {
      const { data } = await eventsAfter();
      const outcome = data.find(({ paymentId }) => paymentId === idOf('unsentPayout'));
      expect(outcome?.data.status).toBe('SUCCESSFUL');
    });
  } else {
    it('are gone if they began since, and found at the provider when a merchant repeats the request', async () => {
      const id = idOf('since');
      expect((await ask('GET', `/v1/payments/${id}`)).status).toBe(404);
      expect(await order('since')).toBe(id);
      await succeeds('since');
      expect(await transactionsOf('since')).toHaveLength(1);
    });
  }
});
