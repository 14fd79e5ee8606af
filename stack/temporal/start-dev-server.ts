import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DAY_MS } from '../../src/payments/words/time.js';
import { DEFAULT_NAMESPACE, lazyConnection, probeTemporal } from '../../src/temporal/connection.js';
import { setUpNamespace } from '../../src/temporal/namespace.js';
import { describeGaps, RETENTION_DAYS } from '../../src/temporal/setup-gaps.js';
import { type Child, startChild, untilReady } from '../processes/child.js';
import { freePort, isPortFree } from '../processes/ports.js';
import { type FindTemporalOptions, findTemporal } from './temporal-cli.js';

const STOP_GRACE_MS = 5_000;

/** A dev server that this process has started. */
export interface DevServer {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  readonly pid: number;
  /** Resolves when the server has ended, for whatever reason, with how: "code 1", say, or "SIGKILL". */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, then SIGKILL if it is still running 5 s later. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface StartDevServerOptions {
  readonly report: (line: string) => void;
  /** A SQLite file, created if it doesn't exist. Without it, everything is kept in memory. */
  readonly databaseFile?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: a free one. */
  readonly uiPort?: number;
  /** `true` to serve a Web UI. Default: true. */
  readonly ui?: boolean;
  /** Address that decrypts payloads for the Web UI. Default: none. */
  readonly codecEndpoint?: string | undefined;
  /** Port that serves its metrics at `/metrics`. Default: none. */
  readonly metricsPort?: number;
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cacheFolder?: string;
  /** Time limit for the server's start, in ms. Default: a minute. */
  readonly startLimitMs?: number;
  /** More of the server's dynamic configuration: its keys, with values in JSON. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  readonly find?: (options: FindTemporalOptions) => ReturnType<typeof findTemporal>;
}

/**
 * Starts Temporal's dev server on 127.0.0.1 and sets it up for payments: it has Sanaga's search attributes and keeps
 * ended workflows for 30 days. It never outlives this process.
 *
 * @throws NothingWorkedError when no Temporal CLI can be found.
 * @throws Error with the end of the server's log when it doesn't come up; Error when a given port is taken.
 */
export async function startDevServer({
  report,
  databaseFile,
  port,
  uiPort,
  ui = true,
  codecEndpoint,
  metricsPort,
  namespace = DEFAULT_NAMESPACE,
  env = process.env,
  cacheFolder: folder,
  startLimitMs = 60_000,
  dynamicConfig = {},
  find = findTemporal,
}: StartDevServerOptions): Promise<DevServer> {
  for (const wanted of [port, uiPort]) {
    // Otherwise the server that listens there would answer in place of this one.
    if (wanted !== undefined && !(await isPortFree(wanted))) {
      throw new Error(`temporal: port ${wanted} of 127.0.0.1 is taken: choose another, or stop what listens there`);
    }
  }
  const executable = await find({ report, env, ...(folder !== undefined && { folder }) });

  const file = databaseFile === undefined ? undefined : resolve(databaseFile);
  if (file !== undefined) await mkdir(dirname(file), { recursive: true });
  const ports = { port: port ?? (await freePort()), ...(ui && { uiPort: uiPort ?? (await freePort()) }) };
  const args = devServerArguments({
    ...ports,
    namespace,
    dynamicConfig,
    ...(ui && codecEndpoint !== undefined && { codecEndpoint }),
    ...(metricsPort !== undefined && { metricsPort }),
    ...(file !== undefined && { databaseFile: file }),
  });

  const server = await startChild({
    name: 'temporal',
    file: executable.path,
    args,
    env: withoutTemporalSettings(env),
  });
  const address = `127.0.0.1:${ports.port}`;
  try {
    await prepare(server, { address, namespace, file }, startLimitMs);
  } catch (error) {
    await server.stop(STOP_GRACE_MS);
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
    stop: () => server.stop(STOP_GRACE_MS),
    kill: server.kill,
  };
}

async function prepare(
  server: Child,
  target: { address: string; namespace: string; file: string | undefined },
  startLimitMs: number,
): Promise<void> {
  const connection = lazyConnection(target);
  try {
    const probe = () => probeTemporal(connection, target.namespace).then(() => true);
    await untilReady(server, probe, startLimitMs);
    const { namespace } = target;
    const { gaps } = await setUpNamespace(connection, namespace);
    if (gaps.length === 0) {
      // The server's own default is a day.
      const config = { workflowExecutionRetentionTtl: msToTs(RETENTION_DAYS * DAY_MS) };
      await connection.workflowService.updateNamespace({ namespace, config });
      return;
    }
    const anew =
      target.file && ` Another version made it. To begin anew, delete ${dirname(target.file)} with its payments.`;
    throw new Error(`${describeGaps(namespace, gaps)}${anew ?? ''}`);
  } finally {
    await connection.close();
  }
}

/** The TEMPORAL_… settings are for clients, but some of them would change what the CLI does. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** Settings for the dev server's command line. Ports are on 127.0.0.1. */
interface DevServerSettings {
  readonly port: number;
  /** Without it, there is no Web UI. */
  readonly uiPort?: number;
  readonly codecEndpoint?: string;
  readonly metricsPort?: number;
  readonly namespace: string;
  /** Without it, everything is kept in memory. */
  readonly databaseFile?: string;
  readonly dynamicConfig?: Readonly<Record<string, string>>;
}

/**
 * Number of times a second that the dev server's only history shard looks for new tasks. With its default of 20, every
 * step of a payment waits up to 50 ms.
 */
const POLLS_PER_SECOND = 2_000;

/**
 * Whatever the server has answered must be on the disk. SQLite's defaults promise that, too; these are set so that no
 * build of the CLI promises less. With the write-ahead log, a transaction waits for the disk once rather than several
 * times.
 */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=FULL'] as const;

const POLLING = Object.fromEntries(
  ['transferProcessor', 'timerProcessor', 'visibilityProcessor'].map((name) => [
    `history.${name}MaxPollRPS`,
    String(POLLS_PER_SECOND),
  ]),
);

/**
 * As deploy/temporal-dynamic-config.yaml has it: by default it keeps 128,000 workflows in memory for an hour, which are
 * 10 GB.
 */
const CACHE = {
  'history.hostLevelCacheMaxSize': '5000',
  'history.enableHostLevelEventsCache': 'true',
  'history.eventsHostLevelCacheMaxSizeBytes': '16777216',
};

/** As there: with one partition to wait in, no task waits for much longer than the others. */
const QUEUES = { 'matching.numTaskqueueWritePartitions': '1' };

/** The arguments of `temporal`. */
export function devServerArguments(settings: DevServerSettings): string[] {
  const { port, uiPort, codecEndpoint, metricsPort, namespace, databaseFile, dynamicConfig = {} } = settings;
  const pragmas = PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]);
  return [
    ...['server', 'start-dev'],
    ...['--ip', '127.0.0.1'],
    ...['--port', String(port)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(codecEndpoint === undefined ? [] : ['--ui-codec-endpoint', codecEndpoint]),
    ...(metricsPort === undefined ? [] : ['--metrics-port', String(metricsPort)]),
    ...['--namespace', namespace],
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile, ...pragmas]),
    ...['--log-level', 'error'],
    ...Object.entries({ ...POLLING, ...CACHE, ...QUEUES, ...dynamicConfig }).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${value}`,
    ]),
  ];
}
