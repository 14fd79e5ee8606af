import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

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
  const db = await (folder === undefined ? createInMemory() : PGlite.create(folder));
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

/** What a new database consists of. To load it takes a fifth of the time of making it. */
let empty: Promise<Blob> | undefined;

async function createInMemory(): Promise<PGlite> {
  if (empty !== undefined) return await PGlite.create({ loadDataDir: await empty });
  const first = PGlite.create();
  empty = first.then((db) => db.dumpDataDir('none'));
  await empty;
  return await first;
}

/** The messages of which an extended query consists before its Sync: Parse, Bind, Describe, Execute, Close and Flush. */
const WITHIN_QUERY = new Set([...'PBDECH'].map((type) => type.charCodeAt(0)));

/**
 * The server sends PGlite, which knows one session alone, one message of a client after another's, and stays with one client during
 * a transaction. Queries with parameters are several messages: it has to stay with a client during these as well, or one
 * client's query would get another's parameters.
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
