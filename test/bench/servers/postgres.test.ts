import { cpSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startPostgres } from '../../../bench/servers/postgres.js';
import { describePostgres, findPostgres } from '../../../bench/servers/postgres-programs.js';

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
