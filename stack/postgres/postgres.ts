import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startChild, untilReady } from '../processes/child.js';
import { signalAll, stopFamily } from '../processes/family.js';
import { freePort } from '../processes/ports.js';
import { lastLine, runCommand } from '../processes/run-command.js';
import { copyPackaged, findPostgres, POSTGRES_ADVICE, type PostgresPrograms } from './postgres-programs.js';
import { asUser, type Command, otherUser } from './postgres-user.js';

/** A PostgreSQL server with a database cluster of its own. Its only user may do everything, without a password. */
export interface Postgres {
  readonly port: number;
  readonly user: string;
  readonly pid: number;
  /** `postgresql://…/database` */
  url(database: string): string;
  /**
   * The first column of a query's first row, as PostgreSQL writes it; empty without a row. @throws Error of PostgreSQL
   */
  query(database: string, sql: string): Promise<string>;
  /** Bytes of these databases, indexes included. */
  size(databases: readonly string[]): Promise<number>;
  /** The folder of its files. */
  readonly data: string;
  /** Stops it, and leaves its files to {@link start}. */
  halt(): Promise<void>;
  start(): Promise<void>;
  /** How the server that was started last has ended, once it has. */
  readonly ended: Promise<string>;
  /** Kills all of its processes, and leaves its files to {@link start}. */
  kill(): Promise<void>;
  /** Lets all of its processes stand still, with their connections open. @returns how to let them go on */
  freeze(): Promise<() => void>;
  stop(): Promise<void>;
}

/** What a server has besides: settings of postgresql.conf, and variables of its environment. */
export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Its port; by default, a free one. */
  readonly port?: number;
  /** @param data the folder of its files */
  readonly env?: (data: string) => Readonly<Record<string, string>>;
}

/**
 * Differences from PostgreSQL's defaults: room for the connections of every system, and memory for a small server
 * instead of a tiny one. None makes it less durable. docker-compose.yml has the same.
 */
export const MEASURED_SETTINGS = { max_connections: '300', shared_buffers: '256MB', max_wal_size: '4GB' };

const SETTINGS = { ...MEASURED_SETTINGS, listen_addresses: '127.0.0.1', unix_socket_directories: '' };

const USER = 'bench';
const COMMAND_LIMIT_MS = 120_000;
const STOP_GRACE_MS = 10_000;

/** @throws Error when there is no PostgreSQL, or it doesn't come up; the message says why. */
export async function startPostgres(programs?: PostgresPrograms, options: PostgresOptions = {}): Promise<Postgres> {
  const found = programs ?? (await findPostgres());
  if (found === undefined) throw new Error(`PostgreSQL is not installed. ${POSTGRES_ADVICE}`);
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-bench-postgres-'));
  try {
    return await startIn(folder, found, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A program with its arguments, to be run as the user that PostgreSQL runs as. */
type Program = (name: string, args: readonly string[]) => Command;

/** Makes an empty database cluster in the folder `data` of this one. @returns how to run PostgreSQL's programs */
async function makeCluster(folder: string, programs: PostgresPrograms): Promise<Program> {
  const bin =
    programs.kind === 'installed' ? programs.bin : await copyPackaged(programs.folder, join(folder, 'programs'));
  const as = await otherUser();
  const run = async (file: string, args: readonly string[]): Promise<void> => {
    const outcome = await runCommand(file, args, {
      env: process.env,
      // The new user may not be allowed into ours.
      cwd: folder,
      timeLimitMs: COMMAND_LIMIT_MS,
    });
    if (outcome.kind === 'failed') throw new Error(`${file} ${outcome.reason}: ${lastLine(outcome.output)}`);
  };
  if (as !== undefined) await run('chown', ['-R', `${as.uid}:${as.gid}`, folder]);
  const command: Program = (name, args) => asUser(as, [join(bin, name), args]);
  const places = ['--pgdata', join(folder, 'data'), '--username', USER];
  await run(...command('initdb', [...places, '--auth', 'trust', '--encoding', 'UTF8', '--no-sync']));
  return command;
}

/** @param folder an empty one, which is removed when the server is stopped */
async function startIn(folder: string, programs: PostgresPrograms, options: PostgresOptions): Promise<Postgres> {
  const command = await makeCluster(folder, programs);
  const data = join(folder, 'data');
  const port = options.port ?? (await freePort());
  const settings = Object.entries({ ...SETTINGS, ...options.settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const [file, args] = command('postgres', ['-D', data, ...settings]);
  const url = (database: string) => `postgresql://${USER}@127.0.0.1:${port}/${database}`;
  const query = (database: string, sql: string) => ask(url(database), sql);
  const start = async () => {
    const started = await startChild({
      name: 'postgres',
      file,
      args,
      env: { ...process.env, ...options.env?.(data) },
      // A fast shutdown: it doesn't wait for clients that are still connected.
      stopSignal: 'SIGINT',
    });
    try {
      await untilReady(started, async () => (await query('postgres', 'select 1')) === '1');
    } catch (error) {
      await started.kill();
      throw error;
    }
    return started;
  };
  let server = await start();
  let runs = true;
  let frozen: readonly number[] = [];
  const thaw = () => {
    signalAll(frozen, 'SIGCONT');
    frozen = [];
  };
  const halt = async () => {
    if (!runs) return;
    runs = false;
    thaw();
    await server.stop(STOP_GRACE_MS);
  };
  return {
    ...{ port, user: USER, url, query, data, halt },
    get pid() {
      return server.pid;
    },
    get ended() {
      return server.ended;
    },
    async start() {
      server = await start();
      runs = true;
    },
    async kill() {
      runs = false;
      frozen = [];
      const stopped = await stopFamily(server.pid);
      await server.kill();
      // Those that live on would keep the memory that the next server needs.
      signalAll(stopped, 'SIGKILL');
    },
    async freeze() {
      frozen = await stopFamily(server.pid);
      return thaw;
    },
    async size(databases) {
      const sizes = databases.map((name) => `pg_database_size('${name}')`);
      return Number(await query('postgres', `select ${sizes.join(' + ')}`));
    },
    async stop() {
      await halt();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The first column of the first row, as PostgreSQL writes it. */
export async function ask(url: string, sql: string): Promise<string> {
  const asWritten = { getTypeParser: () => (value: string) => value };
  const client = new pg.Client({ connectionString: url, types: asWritten });
  // A connection that breaks fails the query, too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<(string | null)[]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0] ?? '';
  } finally {
    await client.end();
  }
}
