import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { cacheFolder } from '../temporal/executables.js';

/** PostgreSQL in WebAssembly, for the records of a stack on one machine: nothing has to be installed. */

/** Clients of the API, the worker and a person together. */
const MAX_CONNECTIONS = 50;

export interface PGliteServer {
  stop(): Promise<void>;
}

/**
 * Serves a PGlite database on a port of 127.0.0.1.
 *
 * @param folder where its data is; without it, in memory
 */
export async function startPGliteServer(port: number, folder?: string): Promise<PGliteServer> {
  const isNew = folder === undefined || !existsSync(join(folder, 'PG_VERSION'));
  const db = await PGlite.create({
    ...(folder !== undefined && { dataDir: folder }),
    ...(isNew && { loadDataDir: await emptyDatabase() }),
  });
  const server = new PGLiteSocketServer({
    db: withWholeQueries(db),
    host: '127.0.0.1',
    port,
    maxConnections: MAX_CONNECTIONS,
  });
  await server.start();
  return {
    async stop() {
      await server.stop();
      await db.close();
    },
  };
}

/**
 * Loads the files of an empty database. Making them takes seconds, and loading them a tenth of that: they are made once
 * for this machine, and kept in the cache folder.
 */
async function emptyDatabase(): Promise<Blob> {
  const file = join(cacheFolder(), `pglite-${await packageVersion()}.tar`);
  const kept = await readFile(file).catch(() => undefined);
  if (kept !== undefined) return new Blob([kept]);
  const db = await PGlite.create();
  const made = await db.dumpDataDir('none');
  await db.close();
  // It takes none to serve a database: a folder that can't be written to only costs time.
  await keep(file, made).catch(() => undefined);
  return made;
}

/** Two processes may do so at once: neither may read half a file. */
async function keep(file: string, content: Blob): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(draft, content.stream());
  await rename(draft, file);
}

async function packageVersion(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(main), '../package.json'), 'utf8'));
  return version;
}

/**
 * The messages of an extended query before its Sync: Parse, Bind, Describe, Execute, Close and Flush.
 */
const WITHIN_QUERY = new Set([...'PBDECH'].map((type) => type.charCodeAt(0)));

/**
 * The server sends PGlite, which knows one session alone, one message of a client after another's, and stays with one
 * client during a transaction. Queries with parameters are several messages: it has to stay with a client during these
 * as well, or one client's query would get another's parameters.
 */
function withWholeQueries(db: PGlite): PGlite {
  let isWithinQuery = false;
  const overrides: Partial<PGlite> = {
    isInTransaction: () => isWithinQuery || db.isInTransaction(),
    execProtocolRawStream(message, options) {
      isWithinQuery = WITHIN_QUERY.has(message[0] ?? 0);
      return db.execProtocolRawStream(message, options);
    },
    // The server takes back what a client has left behind.
    exec(query, options) {
      isWithinQuery = false;
      return db.exec(query, options);
    },
  };
  return new Proxy(db, {
    get(target, name) {
      if (name in overrides) return Reflect.get(overrides, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
