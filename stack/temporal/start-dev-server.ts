import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DEFAULT_NAMESPACE, lazyConnection } from '../../src/temporal/connection.js';
import { ensureRetention, registerSearchAttributes } from '../../src/temporal/namespace.js';
import { devServerArguments } from './dev-server-arguments.js';
import { type FindTemporalOptions, findTemporal } from './find-temporal.js';
import { freePort, isPortFree } from './free-port.js';
import { type ServerProcess, startServerProcess } from './server-process.js';
import { untilTemporalAnswers } from './until-temporal-answers.js';

/** A dev server that this process has started and must stop. */
export interface DevServer {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  readonly pid: number;
  /** Resolves when the server has ended, by `stop` or on its own, with how it ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface StartDevServerOptions {
  readonly report: (line: string) => void;
  /** SQLite file that outlives the server; made when missing. In memory without it. */
  readonly databaseFile?: string;
  /** A free one is picked when not given. */
  readonly port?: number;
  /** A free one is picked when not given. */
  readonly uiPort?: number;
  /** The Web UI; on unless `false`. */
  readonly ui?: boolean;
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cacheFolder?: string;
  /** How long the server may take until it answers, in ms. */
  readonly startLimit?: number;
  readonly find?: (options: FindTemporalOptions) => ReturnType<typeof findTemporal>;
}

/**
 * Starts Temporal's dev server on 127.0.0.1, ready for payments: it answers, has Sanaga's search attributes, and keeps
 * ended workflows for 30 days. It ends with this process at the latest.
 *
 * @throws NothingWorkedError when there is no Temporal CLI to be had.
 * @throws Error with the end of the server's log when it does not come up, or when a given port is taken.
 */
export async function startDevServer({
  report,
  databaseFile,
  port,
  uiPort,
  ui = true,
  namespace = DEFAULT_NAMESPACE,
  env = process.env,
  cacheFolder: folder,
  startLimit = 60_000,
  find = findTemporal,
}: StartDevServerOptions): Promise<DevServer> {
  for (const wanted of [port, uiPort]) {
    // Otherwise another server on that port would answer in the place of ours.
    if (wanted !== undefined && !(await isPortFree(wanted))) {
      throw new Error(
        `temporal: port ${wanted} of 127.0.0.1 is taken, choose another or stop what listens there`,
      );
    }
  }
  const executable = await find({ report, env, ...(folder !== undefined && { folder }) });

  const file = databaseFile === undefined ? undefined : resolve(databaseFile);
  if (file !== undefined) await mkdir(dirname(file), { recursive: true });
  const ports = { port: port ?? (await freePort()), ...(ui && { uiPort: uiPort ?? (await freePort()) }) };
  const args = devServerArguments({ ...ports, namespace, ...(file !== undefined && { databaseFile: file }) });

  const server = await startServerProcess(executable.path, args, withoutTemporalSettings(env));
  const address = `127.0.0.1:${ports.port}`;
  try {
    await prepare(server, { address, namespace }, startLimit);
  } catch (error) {
    await server.stop();
    throw error;
  }

  const uiUrl = ports.uiPort === undefined ? undefined : `http://127.0.0.1:${ports.uiPort}`;
  report(`temporal: dev server at ${address}${uiUrl === undefined ? '' : `, Web UI at ${uiUrl}`}`);
  return {
    address,
    namespace,
    ...(uiUrl !== undefined && { uiUrl }),
    pid: server.pid,
    ended: server.ended,
    stop: async () => await server.stop(),
    kill: server.kill,
  };
}

async function prepare(
  server: ServerProcess,
  target: { address: string; namespace: string },
  startLimit: number,
): Promise<void> {
  const connection = lazyConnection(target);
  try {
    await untilTemporalAnswers(connection, target.namespace, { server, limit: startLimit });
    await registerSearchAttributes(connection, target.namespace);
    await ensureRetention(connection, target.namespace);
  } finally {
    await connection.close();
  }
}

/** TEMPORAL_… settings are for clients; some of them would change what the CLI does here. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
