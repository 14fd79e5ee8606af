import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { freePort } from '../../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../../stack/records/pglite-server.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

let scratch: ScratchFolder;
let cacheHome: string | undefined;
const running: PGliteServer[] = [];

/** One for all tests: to make a database takes ten seconds. */
beforeAll(async () => {
  scratch = await makeScratchFolder();
  cacheHome = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = join(scratch.path, 'cache');
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(async () => {
  if (cacheHome === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = cacheHome;
  await scratch.remove();
});

/** Starts the database, and does something with it. */
async function withDatabase<T>(folder: string | undefined, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const port = await freePort();
  const server = await startPGliteServer(port, folder);
  running.push(server);
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
    await running.pop()?.stop();
  }
}

const create = (client: pg.Client) => client.query('CREATE TABLE notes AS SELECT 1 AS number');
const count = async (client: pg.Client) => (await client.query('SELECT number FROM notes')).rowCount;

describe('the embedded database', () => {
  it('keeps what is in its folder', async () => {
    const folder = join(scratch.path, 'data');
    await withDatabase(folder, create);
    expect(await withDatabase(folder, count)).toBe(1);
  });

  it('is made once for the machine, and begins empty each time', async () => {
    await withDatabase(undefined, create);
    expect(await readdir(join(scratch.path, 'cache/sanaga'))).toEqual([expect.stringMatching(/^pglite-[\d.]+\.tar$/)]);
    await expect(withDatabase(undefined, count)).rejects.toThrow('relation "notes" does not exist');
    await expect(withDatabase(join(scratch.path, 'other'), count)).rejects.toThrow('does not exist');
  });
});
