import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Child, type ChildOptions, OUTLIVES_MS, startChild, untilReady } from '../processes/child.js';
import { isAlive } from '../processes/lock.js';
import { lastLine, runCommand } from '../processes/run-command.js';
import { ask } from './postgres.js';
import { findPostgres, linkPackaged, POSTGRES_ADVICE, packagedPostgres } from './postgres-programs.js';
import { asUserInRootsFolders, type Command, otherUser, type User } from './postgres-user.js';

export interface BookOptions extends Pick<ChildOptions, 'logFile' | 'appendLog'> {
  /** Folder of its files. They are made if it isn't there, or is empty. */
  readonly folder: string;
  /** The address that its clients are given, with its port, its database, the role that owns that, and its password. */
  readonly url: string;
}

const INITDB_LIMIT_MS = 120_000;

/** Nobody reaches it from another machine, or by a socket that has no password. */
const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };

/**
 * Starts PostgreSQL with the book of a stack on one machine, and waits until it answers. No other process may start one
 * on this folder.
 *
 * @throws Error when there is no PostgreSQL for this machine, or it doesn't come up; the message says why.
 */
export async function startBook({ folder, url, logFile, appendLog }: BookOptions): Promise<Child> {
  const { port } = new URL(url);
  const bin = await findPrograms();
  if (!existsSync(join(folder, 'PG_VERSION'))) await makeCluster(folder, bin, url);
  const user = await handOver(folder);
  await forgetKilled(folder);
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [file, args] = asUserInRootsFolders(user, [join(bin, 'postgres'), ['-D', folder, ...settings]]);
  const deadline = Date.now() + OUTLIVES_MS;
  for (let isFirst = true; ; isFirst = false) {
    const child = await startChild({
      ...{ name: 'book', file, args, logFile, appendLog: appendLog || !isFirst, env: environment() },
      // A fast shutdown: it doesn't wait for clients that are still connected.
      stopSignal: 'SIGINT',
    });
    try {
      await untilReady(child, async () => (await ask(url, 'select 1')) === '1');
      return child;
    } catch (error) {
      await child.kill();
      // The processes of a server that was killed end at once, unless they are at work.
      if (Date.now() > deadline || !(await child.logTail()).includes('shared memory block')) throw error;
      await pause(RETRY_MS);
    }
  }
}

const RETRY_MS = 100;

/** It gets none of the settings, which hold secrets: others may run as its user, and read them. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, TZ, SystemRoot } = process.env;
  return { PATH, TZ, SystemRoot };
}

/** The folder of PostgreSQL's programs. */
async function findPrograms(): Promise<string> {
  const found = packagedPostgres() ?? (await findPostgres());
  if (found === undefined) throw new Error(`PostgreSQL is not installed. ${POSTGRES_ADVICE}`);
  return found.kind === 'installed' ? found.bin : await linkPackaged(found.folder);
}

/**
 * Makes a database cluster with the database of this address, which is empty, and the role that owns that and nothing
 * else. The folder appears at once and whole, so that one that is there can be used.
 */
async function makeCluster(folder: string, bin: string, url: string): Promise<void> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const prefix = `${basename(folder)}.new-`;
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, force: true });
  }
  const draft = await mkdtemp(join(parent, prefix));
  const passwordFile = `${draft}-password`;
  try {
    // Nobody knows the superuser's: it could run programs, with the right to enter any folder.
    await writeFile(passwordFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    const who = ['--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
    // The same wherever it is made.
    const how = ['--encoding', 'UTF8', '--no-locale'];
    const initdb: Command = [join(bin, 'initdb'), ['--pgdata', draft, ...who, ...how]];
    const user = await handOver(draft);
    await run(asUserInRootsFolders(user, initdb));
    const alone = ['--single', '-c', 'exit_on_error=on', '-D', draft, 'postgres'];
    await run(asUserInRootsFolders(user, [join(bin, 'postgres'), alone]), databaseOf(url));
    await rename(draft, folder);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

/** SQL, a line a statement, that makes the role and the database of an address. */
function databaseOf(url: string): string {
  const { username, password, pathname } = new URL(url);
  const role = pg.escapeIdentifier(username);
  return `CREATE ROLE ${role} LOGIN PASSWORD ${pg.escapeLiteral(password)}
CREATE DATABASE ${pg.escapeIdentifier(pathname.slice(1))} OWNER ${role}
`;
}

/**
 * Who PostgreSQL runs as: where this process is root's, the folder's owner, or if that is root, another user, whose
 * folder it becomes with all that is in it.
 */
async function handOver(folder: string): Promise<User | undefined> {
  await chmod(folder, 0o700);
  const other = await otherUser();
  if (other === undefined) return undefined;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) return { uid, gid };
  await run(['chown', ['-R', `${other.uid}:${other.gid}`, folder]]);
  return other;
}

async function run([file, args]: Command, input?: string): Promise<void> {
  const options = { env: environment(), timeLimitMs: INITDB_LIMIT_MS, ...(input !== undefined && { input }) };
  const outcome = await runCommand(file, args, options);
  if (outcome.kind === 'failed') throw new Error(`book: ${file} ${outcome.reason}: ${lastLine(outcome.output)}`);
}

/**
 * Takes away the note of a server that was killed. It names a process id, which PostgreSQL takes for a server's even if
 * another process has it by now, as in a container that was started again. A server whose parent was killed may still
 * be stopping, and is waited for; whatever has its id after that is none.
 */
async function forgetKilled(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid');
  const deadline = Date.now() + OUTLIVES_MS;
  const holder = async () => Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  while (isAlive(await holder()) && Date.now() < deadline) await pause(RETRY_MS);
  await rm(file, { force: true });
}
