import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  buildTemporalServer,
  deployedDynamicConfig,
  startTemporalOnPostgres,
  type TemporalOnPostgres,
} from '../../bench/servers/temporal-on-postgres.js';
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
import { commandsOf, type OperatorsShell, type Services } from '../support/runbook.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/*
 * The runbook's chapter, from the backup to the last payment, with its own commands, and deploy/backup.sh. PostgreSQL
 * is backed up while payments run, and restored to a moment since then, after everything was lost.
 */

const commandsWith = (pattern: RegExp) => commandsOf(pattern, 'Restoring a backup');

const PHONE = '677000000';
const orders = {
  /** The number that the runbook erases. Its payments take five seconds. */
  erased: { path: '/v1/payouts', body: { amount: 600, phone: '677000205' } },
  before: { path: '/v1/payouts', body: { amount: 700, phone: PHONE } },
  unsentPayout: { path: '/v1/payouts', body: { amount: 800, phone: PHONE } },
  unsentDirect: { path: '/v1/collections', body: { method: 'direct', amount: 900, phone: PHONE } },
  since: { path: '/v1/payouts', body: { amount: 1_000, phone: PHONE } },
  paidSince: { path: '/v1/collections', body: { method: 'link', amount: 500 } },
  open: { path: '/v1/collections', body: { method: 'link', amount: 500 } },
  held: {
    path: '/v1/payouts',
    body: { amount: 650, phone: PHONE, sendAt: new Date(Date.now() + 6 * 60_000).toISOString() },
  },
};
type Name = keyof typeof orders;

const answerSchema = z.looseObject({
  ...{ id: z.string().optional(), status: z.string().or(z.int()).optional() },
  ...{ code: z.string().optional(), link: z.string().optional() },
});
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
    if (names.includes('postgres')) await postgres.start();
    if (names.includes('backup')) await backups.start(postgres);
    if (names.includes('temporal')) temporal = await temporal.startAgain();
    for (const name of ['worker', 'api'] as const) {
      if (names.includes(name)) await running.stack.restart(name);
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

/** Lets a second pass, so that all before it and nothing after it is of that moment. */
async function momentBetween(): Promise<string> {
  const second = Math.ceil(Date.now() / 1_000) * 1_000;
  while (Date.now() <= second) await pause(second + 50 - Date.now());
  return `${new Date(second).toISOString().slice(0, 19).replace('T', ' ')}+00`;
}

beforeAll(async () => {
  const programs = await buildTemporalServer(() => undefined);
  scratch = await operatorsFolder('restoring');
  backups = await Backups.make();
  postgres = await startComposedPostgres(backups);
  const dynamicConfig = await deployedDynamicConfig(PROJECT);
  const owned = { ...postgres, user: 'temporal' };
  temporal = await startTemporalOnPostgres(programs, owned, join(scratch, 'temporal.log'), dynamicConfig);
  shell = await openOperatorsShell(scratch, { postgres, temporal, backups }, services);
  running = await bringUp(
    { DATABASE_URL: composedBookUrl(postgres), PROVIDER_TIMEOUT: '5s', AMBIGUOUS_GRACE: '30s' },
    { temporalAddress: temporal.target.address },
  );
  await prepareCommands(shell, running);
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
  await Promise.all((['erased', 'before', 'paidSince', 'open', 'held'] as const).map((name) => order(name)));
  await eventsOf(['erased', 'before']);
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
  await shell.follow(commandsWith(/payers erase/));
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

describe('payments restored from a backup, after everything was lost', () => {
  beforeAll(async () => {
    read = await eventsAfter();
    await shell.follow(commandsWith(/temporal-ui temporal$/m));
    const files = await readdir(postgres.data);
    await Promise.all(files.map((file) => rm(join(postgres.data, file), { recursive: true, force: true })));
    await shell.follow(commandsWith(/--target=/).replace(/^TO=.*$/m, `TO='${moment}'`));
    await shell.follow(commandsWith(/INSERT INTO gaps/));
    await shell.follow(commandsWith(/payers erase/));
    await shell.follow(commandsWith(/temporal-ui worker api/));
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
      expect(await ask('POST', path, body, name)).toMatchObject({ status: 200, body: { id, status: 'SUCCESSFUL' } });
      expect(await transactionsOf(name)).toHaveLength(1);
    }
  });

  it('can still be paid, and are found to be paid if they were since', async () => {
    await pay('open');
    for (const name of ['paidSince', 'open'] as const) {
      await ask('POST', `/v1/payments/${idOf(name)}/refresh`);
      await succeeds(name);
      expect(await transactionsOf(name)).toHaveLength(1);
    }
  });

  it('keep their Idempotency-Keys', async () => {
    const id = idOf('before');
    const { path, body } = orders.before;
    const payment = { id, status: 'SUCCESSFUL', final: true };
    expect(await ask('POST', path, body, 'before')).toMatchObject({ status: 200, body: payment });
    expect(await ask('POST', path, { ...body, amount: 1 + body.amount }, 'before')).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused', paymentId: id },
    });
    expect(await transactionsOf('before')).toHaveLength(1);
  });

  it('are told of to a merchant who reads on from a cursor, under ids that are new', async () => {
    const endedAgain = ['unsentPayout', 'unsentDirect', 'paidSince', 'open'] as const;
    const { data } = await eventsOf(endedAgain, read.nextCursor);
    expect(data.map(({ paymentId }) => paymentId)).toEqual(expect.arrayContaining(endedAgain.map(idOf)));
    expect(data.filter(({ id }) => read.data.some((event) => event.id === id))).toEqual([]);
  });

  it('are without the data of a payer who was erased since', async () => {
    const { data } = await eventsAfter();
    const phones = (name: Name) =>
      data.filter(({ paymentId }) => paymentId === idOf(name)).map((event) => event.data.phone);
    expect(phones('erased')).toEqual([undefined]);
    expect(phones('before')).toEqual(['•••• 000']);
  });

  it('are gone if they began since, and found at the provider when a merchant repeats the request', async () => {
    const id = idOf('since');
    expect((await ask('GET', `/v1/payments/${id}`)).status).toBe(404);
    expect(await order('since')).toBe(id);
    await succeeds('since');
    expect(await transactionsOf('since')).toHaveLength(1);
  });

  it('wait for a person if they were held', async () => {
    const inReview = async () => (await ask('POST', `/v1/payments/${idOf('held')}/refresh`)).body.status === 'REVIEW';
    await eventually(inReview, Boolean, 10 * 60_000);
    expect(await transactionsOf('held')).toEqual([]);
    await shell.follow(commandsOf(/^\s*npx sanaga list --status REVIEW/m, 'The book has gone back'));
  }, 700_000);
});
