import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execa } from 'execa';
import pg from 'pg';
import { ask } from '../../stack/postgres/postgres.js';
import { startBook } from '../../stack/postgres/start-book.js';
import type { Child } from '../../stack/processes/child.js';
import { isAlive } from '../../stack/processes/lock.js';
import { steadyPort } from '../../stack/processes/ports.js';

/** Nobody else may enter it, as in the home of root. */
let state: string;
let folder: string;
let port: number;
const servers: Child[] = [];
const others: ChildProcess[] = [];

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'sanaga-book-'));
  folder = join(state, '.sanaga', 'book');
  port = await steadyPort();
});
afterEach(async () => {
  for (const other of others.splice(0)) other.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop(10_000);
  await rm(state, { recursive: true, force: true });
});

const url = (password = 'its-password') => `postgres://sanaga:${password}@127.0.0.1:${port}/book`;

async function start(): Promise<Child> {
  const server = await startBook({ folder, url: url(), logFile: join(state, 'book.log') });
  servers.push(server);
  return server;
}

const query = (sql: string) => ask(url(), sql);
const numbers = () => query('SELECT number FROM notes');

async function startWithNotes(): Promise<Child> {
  const server = await start();
  await query('CREATE TABLE notes AS SELECT 1 AS number');
  return server;
}

describe('the book of a stack on one machine', () => {
  it('keeps what is in its folder, which only its owner may enter', async () => {
    const server = await startWithNotes();
    await server.stop(10_000);
    expect(await server.ended).toBe('code 0');
    await start();
    expect(await numbers()).toBe('1');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(state, '.sanaga'))).toEqual(['book']);
  });

  it('answers those alone who know its password, on this machine alone', async () => {
    await start();
    const stranger = new pg.Client(url('a-guess'));
    await expect(stranger.connect()).rejects.toThrow('password authentication failed');
    await expect(new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`).connect()).rejects.toThrow();
    expect(await query('SHOW listen_addresses')).toBe('127.0.0.1');
    const [, , , , socketFolder] = (await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n');
    expect(socketFolder).toBe('');
    expect(await readFile(join(folder, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#].*trust/m);
  });

  it('gives them a role that owns its database, and has no right beyond it', async () => {
    await start();
    expect(await query('SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()')).toBe(
      'sanaga',
    );
    const powers = 'rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls';
    expect(await query(`SELECT ${powers} FROM pg_roles WHERE rolname = current_user`)).toBe('f');
    expect(await query('SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole')).toBe('0');
    await expect(query("COPY (SELECT 1) TO PROGRAM 'true'")).rejects.toThrow('pg_execute_server_program');
    await expect(query("SELECT pg_read_file('/etc/passwd')")).rejects.toThrow('permission denied');
  });

  it('has none of the secrets in its environment', async () => {
    process.env.ENCRYPTION_KEYS = 'a-key-of-the-parts';
    try {
      const { pid } = await start();
      const { stdout } = await execa('sh', ['-c', `tr '\\0' '\\n' < /proc/${pid}/environ || ps eww -p ${pid}`]);
      expect(stdout).toContain('PATH=');
      expect(stdout).not.toContain('a-key-of-the-parts');
    } finally {
      delete process.env.ENCRYPTION_KEYS;
    }
  });

  it('starts at once when it was killed, and has lost nothing', async () => {
    const server = await startWithNotes();
    // At work, its process ends only when it looks up.
    const client = new pg.Client(url());
    client.on('error', () => undefined);
    await client.connect();
    const asking = client.query('SELECT count(*) FROM generate_series(1, 3000000)').catch(() => undefined);
    await server.kill();
    await start();
    expect(await numbers()).toBe('1');
    await asking;
    await client.end();
  });

  it('starts where another process has the id of one that was killed', async () => {
    const server = await startWithNotes();
    await server.kill();
    const { uid, gid } = await stat(folder);
    const other = spawn('sleep', ['600'], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) });
    others.push(other);
    await once(other, 'spawn');
    const note = join(folder, 'postmaster.pid');
    const lines = (await readFile(note, 'utf8')).split('\n');
    await writeFile(note, [other.pid, ...lines.slice(1)].join('\n'));
    await start();
    expect(await numbers()).toBe('1');
    expect(isAlive(other.pid ?? 0)).toBe(true);
  });

  it('starts on a copy of its folder, whoever has made it', async () => {
    const server = await startWithNotes();
    await server.stop(10_000);
    const original = folder;
    folder = join(state, 'copy');
    await cp(original, folder, { recursive: true });
    await chmod(folder, 0o755);
    await start();
    expect(await numbers()).toBe('1');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('is made anew where making it was broken off', async () => {
    const left = join(state, '.sanaga', 'book.new-half');
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'PG_VERSION'), '15\n');
    await start();
    expect(await query('SELECT 1')).toBe('1');
    expect(existsSync(left)).toBe(false);
  });
});
