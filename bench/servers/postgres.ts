import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';
import { findOnPath, isExecutableFile } from '../../stack/temporal/executables.js';

/** A PostgreSQL server with a database cluster of its own. Its only user may do everything, without a password. */
export interface Postgres {
  readonly port: number;
  readonly user: string;
  readonly pid: number;
  /** `postgresql://…/database` */
  url(database: string): string;
  /** The first column of a query's first row. @throws Error of psql */
  query(database: string, sql: string): Promise<string>;
  /** Bytes of these databases, indexes included. */
  size(databases: readonly string[]): Promise<number>;
  stop(): Promise<void>;
}

const VERSION = '15';
/** Where Debian keeps PostgreSQL's programs, which aren't on PATH. */
const DEBIAN = `/usr/lib/postgresql/${VERSION}/bin`;
export const POSTGRES_ADVICE = `Install it: apt-get install postgresql-${VERSION}`;

/** The folder of PostgreSQL's programs; `undefined` when it isn't installed. */
export async function findPostgres(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  if (await isExecutableFile(join(DEBIAN, 'postgres'))) return DEBIAN;
  const found = await findOnPath('postgres', env);
  return found === undefined ? undefined : join(found, '..');
}

/**
 * What differs from PostgreSQL's defaults: room for the connections of every system, and memory for a small server instead
 * of a tiny one. Nothing that would make it less durable.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
};

const USER = 'bench';
const COMMAND_LIMIT_MS = 120_000;
const STOP_GRACE_MS = 5_000;

/** @throws Error when PostgreSQL isn't installed, or doesn't come up; the message says why. */
export async function startPostgres(): Promise<Postgres> {
  const bin = await findPostgres();
  if (bin === undefined) throw new Error(`PostgreSQL is not installed. ${POSTGRES_ADVICE}`);
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-bench-postgres-'));
  const as = await otherUser();
  if (as !== undefined) await chown(folder, as.uid, as.gid);
  const command = (name: string, args: readonly string[]) =>
    as === undefined
      ? { file: join(bin, name), args }
      : {
          file: 'setpriv',
          args: [`--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups', join(bin, name), ...args],
        };
  const run = async (name: string, args: readonly string[]): Promise<string> => {
    const { file, args: all } = command(name, args);
    const outcome = await runCommand(file, all, {
      env: process.env,
      // The new user may not be allowed into ours.
      cwd: folder,
      timeLimitMs: COMMAND_LIMIT_MS,
    });
    if (outcome.kind === 'succeeded') return outcome.output;
    throw new Error(`${name} ${outcome.reason}: ${lastLine(outcome.output)}`);
  };

  const data = join(folder, 'data');
  await run('initdb', [
    '--pgdata',
    data,
    '--username',
    USER,
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--no-sync',
  ]);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const { file, args } = command('postgres', ['-D', data, ...settings]);
  const server = await startChild({ name: 'postgres', file, args, env: process.env });
  const url = (database: string) => `postgresql://${USER}@127.0.0.1:${port}/${database}`;
  const query = async (database: string, sql: string) =>
    (
      await run('psql', ['--no-psqlrc', '-qtAX', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-c', sql])
    ).trim();
  await untilReady(server, async () => (await query('postgres', 'select 1')) === '1');
  return {
    ...{ port, user: USER, pid: server.pid, url, query },
    async size(databases) {
      const sizes = databases.map((name) => `pg_database_size('${name}')`);
      return Number(await query('postgres', `select ${sizes.join(' + ')}`));
    },
    async stop() {
      // A fast shutdown: it doesn't wait for clients that are still connected.
      process.kill(server.pid, 'SIGINT');
      await Promise.race([server.ended, pause(STOP_GRACE_MS, undefined, { ref: false })]);
      await server.stop(STOP_GRACE_MS);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root: it runs as the user of its package then, or as nobody. */
async function otherUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const [, , uid, gid] =
    lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as');
  }
  return { uid: Number(uid), gid: Number(gid) };
}
