import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { startPostgres } from '../../bench/servers/postgres.js';
import { freePort } from '../../stack/processes/ports.js';
import { startPGliteServer } from '../../stack/records/pglite-server.js';

/** A database server for the records. */
export interface RecordsServer {
  /** A new, empty database. */
  create(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** The servers that records are tried on: the embedded one, and PostgreSQL. */
export const recordsServers = { PGlite: startEmbedded, PostgreSQL: startPostgreSQL };

export async function startPostgreSQL(): Promise<RecordsServer> {
  const postgres = await startPostgres();
  return {
    async create(name) {
      await postgres.query('postgres', `CREATE DATABASE ${name}`);
      return postgres.url(name);
    },
    stop: () => postgres.stop(),
  };
}

/** Its one database can't be created anew: each is a server of its own. */
async function startEmbedded(): Promise<RecordsServer> {
  const servers: { stop(): Promise<void> }[] = [];
  return {
    async create() {
      const port = await freePort();
      servers.push(await startPGliteServer(port));
      return `postgres://postgres@127.0.0.1:${port}/postgres`;
    },
    async stop() {
      for (const server of servers) await server.stop();
    },
  };
}

/** A server that takes connections and answers nothing. */
export async function startHanging(): Promise<{ readonly port: number; stop(): void }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
