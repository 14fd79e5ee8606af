import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';
import { copyPackaged, findPostgres, POSTGRES_ADVICE, type PostgresPrograms } from './postgres-programs.js';

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
const STOP_GRACE_MS = 5_000;

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

/** @param folder an empty one, which is removed when the server is stopped */
async function startIn(folder: string, programs: PostgresPrograms, options: PostgresOptions): Promise<Postgres> {
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
  const command = (name: string, args: readonly string[]): readonly [string, readonly string[]] => {
    const program = join(bin, name);
    return as === undefined
      ? [program, args]
      : ['setpriv', [`--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups', program, ...args]];
  };

  const data = join(folder, 'data');
  const initial = ['--pgdata', data, '--username', USER, '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'];
  await run(...command('initdb', initial));
  const port = options.port ?? (await freePort());
  const settings = Object.entries({ ...SETTINGS, ...options.settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const [file, args] = command('postgres', ['-D', data, ...settings]);
  const url = (database: string) => `postgresql://${USER}@127.0.0.1:${port}/${database}`;
  const query = (database: string, sql: string) => ask(url(database), sql);
  const start = async () => {
    const started = await startChild({ name: 'postgres', file, args, env: { ...process.env, ...options.env?.(data) } });
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
  const halt = async () => {
    if (!runs) return;
    runs = false;
    // A fast shutdown: it doesn't wait for clients that are still connected.
    process.kill(server.pid, 'SIGINT');
    await Promise.race([server.ended, pause(STOP_GRACE_MS, undefined, { ref: false })]);
    await server.stop(STOP_GRACE_MS);
  };
  return {
    ...{ port, user: USER, url, query, data, halt },
    get pid() {
      return server.pid;
    },
    async start() {
      server = await start();
      runs = true;
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
async function ask(url: string, sql: string): Promise<string> {
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

/** PostgreSQL refuses to run as root: it runs as the user of its package then, or as nobody. */
async function otherUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const [, , uid, gid] = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as');
  }
  return { uid: Number(uid), gid: Number(gid) };
}
