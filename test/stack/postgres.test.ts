import { cpSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startPostgres } from '../../stack/postgres/postgres.js';
import { describePostgres, findPostgres } from '../../stack/postgres/postgres-programs.js';
import { eventually } from '../support/eventually.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-postgres-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A folder with a program that says that it is this version of PostgreSQL. */
async function install(name: string, version: string): Promise<string> {
  const bin = join(folder, name);
  await mkdir(bin);
  await writeFile(join(bin, 'postgres'), `#!/bin/sh\necho 'postgres (PostgreSQL) ${version} (Debian)'\n`);
  await chmod(join(bin, 'postgres'), 0o755);
  return bin;
}

const packaged = async () => {
  const found = await findPostgres({ PATH: '' }, join(folder, 'none'));
  if (found?.kind !== 'packaged') throw new Error(`npm ci has brought no PostgreSQL: ${JSON.stringify(found)}`);
  return found;
};

describe('PostgreSQL', () => {
  it('is the installed one, in the folder of Debian or on PATH, before the one of npm', async () => {
    const debian = await install('debian', '15.18');
    const PATH = await install('path', '16.14');
    const found = await findPostgres({ PATH }, debian);
    expect(found).toEqual({ kind: 'installed', bin: debian });
    expect(found && (await describePostgres(found))).toBe('PostgreSQL 15.18');
    const onPath = await findPostgres({ PATH }, join(folder, 'none'));
    expect(onPath).toEqual({ kind: 'installed', bin: PATH });
    expect(onPath && (await describePostgres(onPath))).toBe('PostgreSQL 16.14');
    expect(await describePostgres(await packaged())).toMatch(/^PostgreSQL 15\.\d+ of npm$/);
  });

  it('is missing where none is installed and npm has none', async () => {
    expect(await findPostgres({ PATH: '' }, folder, 'sunos-sparc')).toBeUndefined();
  });

  it('of npm runs from a folder that only its owner may read, without the links that a script of npm makes', async () => {
    const { folder: from } = await packaged();
    const bare = join(folder, 'bare');
    cpSync(from, bare, { recursive: true, verbatimSymlinks: true });
    const lib = join(bare, 'native', 'lib');
    for (const name of await readdir(lib)) {
      if ((await lstat(join(lib, name))).isSymbolicLink()) await rm(join(lib, name));
    }
    await chmod(bare, 0o700);
    const postgres = await startPostgres({ kind: 'packaged', folder: bare });
    try {
      expect(await postgres.query('postgres', 'SHOW server_version')).toMatch(/^15\./);
    } finally {
      await postgres.stop();
    }
  });
});

describe('a query', () => {
  it("is answered with the first row's first column, as PostgreSQL writes it", async () => {
    const postgres = await startPostgres();
    try {
      expect(await postgres.query('postgres', 'CREATE DATABASE one')).toBe('');
      expect(await postgres.query('one', 'SELECT 9007199254740993, 2')).toBe('9007199254740993');
      expect(await postgres.query('one', 'SELECT 1 = 1')).toBe('t');
      expect(await postgres.query('one', 'SELECT NULL')).toBe('');
      await expect(postgres.query('one', 'SELECT nothing')).rejects.toThrow('"nothing" does not exist');
      expect(await postgres.size(['postgres', 'one'])).toBeGreaterThan(2_000_000);
    } finally {
      await postgres.stop();
    }
  });
});

describe('a server', () => {
  it('loses nothing that was committed when all of its processes are killed', async () => {
    const postgres = await startPostgres();
    try {
      await postgres.query('postgres', 'CREATE TABLE notes AS SELECT 1 AS number');
      const { pid, ended } = postgres;
      await postgres.kill();
      expect(await ended).toBe('SIGKILL');
      await expect(postgres.query('postgres', 'SELECT 1')).rejects.toThrow();
      await eventually(
        () =>
          postgres.start().then(
            () => true,
            () => false,
          ),
        (isUp) => isUp,
      );
      expect(postgres.pid).not.toBe(pid);
      expect(await postgres.query('postgres', 'SELECT number FROM notes')).toBe('1');
    } finally {
      await postgres.stop();
    }
  });

  it('answers nobody while it is frozen, not even on an open connection, and then goes on', async () => {
    const postgres = await startPostgres();
    const client = new pg.Client(postgres.url('postgres'));
    try {
      await client.connect();
      const thaw = await postgres.freeze();
      let answered = false;
      const asking = client.query('SELECT 1').then(() => {
        answered = true;
      });
      const other = postgres.query('postgres', 'SELECT 2');
      await pause(1_000);
      expect(answered).toBe(false);
      thaw();
      await asking;
      expect(await other).toBe('2');
    } finally {
      await client.end();
      await postgres.stop();
    }
  });

  it('answers none of those who are just connecting when it is frozen', async () => {
    const postgres = await startPostgres();
    try {
      let answered = 0;
      const asking = Array.from({ length: 40 }, async () => {
        await postgres.query('postgres', 'SELECT 1');
        answered++;
      });
      await Promise.race(asking);
      const thaw = await postgres.freeze();
      // What was answered before is on its way.
      await pause(200);
      const before = answered;
      await pause(1_000);
      expect(answered).toBe(before);
      thaw();
      await Promise.all(asking);
    } finally {
      await postgres.stop();
    }
  });
});
