import { randomInt } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { parse } from 'yaml';
import {
  DEFAULT_NAMESPACE,
  lazyConnection,
  plainTargetEnvironment,
  type TemporalTarget,
} from '../../src/temporal/connection.js';
import { findSetupGaps, setUpNamespace } from '../../src/temporal/namespace.js';
import { RETENTION_DAYS, type SetupGap } from '../../src/temporal/setup-gaps.js';
import type { Postgres } from '../../stack/postgres/postgres.js';
import { startChild, untilReady } from '../../stack/processes/child.js';
import { buildWithGo } from '../../stack/processes/go-programs.js';
import { isPortFree } from '../../stack/processes/ports.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';

/** The version of the embedded server, and of docker-compose.yml. */
export const TEMPORAL_VERSION = '1.29.1';
const MODULE = 'go.temporal.io/server';

export interface TemporalPrograms {
  readonly server: string;
  readonly sqlTool: string;
}

/** Builds Temporal's server and its schema tool. @throws Error as {@link buildWithGo} does. */
export async function buildTemporalServer(
  report: (line: string) => void,
  version = TEMPORAL_VERSION,
): Promise<TemporalPrograms> {
  const [server = '', sqlTool = ''] = await buildWithGo({
    name: 'temporal-server',
    version,
    packages: ['server', 'tools/sql'].map((name) => `${MODULE}/cmd/${name}`),
    env: process.env,
    report,
  });
  return { server, sqlTool };
}

const DATABASES = { temporal: 'temporal', visibility: 'temporal_visibility' } as const;
export const TEMPORAL_DATABASES = Object.values(DATABASES);

/** As docker-compose.yml has them. */
const SHARDS = 512;
const PLUGIN = 'postgres12_pgx';
const SCHEMA_LIMIT_MS = 120_000;
const PROBE_LIMIT_MS = 2_000;
const STOP_GRACE_MS = 5_000;

/** Settings that Temporal's server reads apart, by their names. */
export type DynamicConfig = Readonly<Record<string, readonly { readonly value: unknown }[]>>;

/** Reads the dynamic configuration that docker-compose.yml uses. */
export async function deployedDynamicConfig(project: string): Promise<DynamicConfig> {
  return parse(await readFile(join(project, 'deploy/temporal-dynamic-config.yaml'), 'utf8'));
}

/** A Temporal server of all four services in one process. */
export interface TemporalOnPostgres {
  readonly pid: number;
  readonly target: TemporalTarget;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
  /**
   * Starts another at the same address once this one is stopped, on what its databases have by then.
   *
   * @param server another version's program
   */
  startAgain(server?: string): Promise<TemporalOnPostgres>;
}

/** Makes Temporal's two databases, starts a server on them, and sets its namespace up for payments. */
export async function startTemporalOnPostgres(
  { server, sqlTool }: TemporalPrograms,
  postgres: Postgres,
  logFile: string,
  dynamicConfig: DynamicConfig,
): Promise<TemporalOnPostgres> {
  await makeDatabases(sqlTool, postgres);
  const ports = {
    frontend: await servicePorts(),
    matching: await servicePorts(),
    history: await servicePorts(),
    worker: await servicePorts(),
  };
  const target = { address: `127.0.0.1:${ports.frontend.grpc}`, namespace: DEFAULT_NAMESPACE };
  const start = async (
    file: string,
    gapsOf: (connection: Connection, namespace: string) => Promise<readonly SetupGap[]>,
  ): Promise<TemporalOnPostgres> => {
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-bench-temporal-'));
    await mkdir(join(folder, 'config'));
    const dynamic = join(folder, 'dynamic.yaml');
    // YAML is a superset of JSON.
    await writeFile(dynamic, JSON.stringify(dynamicConfig));
    const config = {
      ...serverConfig(postgres, ports),
      dynamicConfigClient: { filepath: dynamic, pollInterval: '60s' },
    };
    await writeFile(join(folder, 'config', 'bench.yaml'), JSON.stringify(config));
    const child = await startChild({
      name: 'temporal server',
      file,
      args: ['--root', folder, '--config', 'config', '--env', 'bench', '--allow-no-auth', 'start'],
      env: process.env,
      logFile,
    });
    const stop = async () => {
      await child.stop(STOP_GRACE_MS);
      await rm(folder, { recursive: true, force: true });
    };
    const connection = lazyConnection(target);
    try {
      await untilReady(child, () =>
        connection.withDeadline(
          Date.now() + PROBE_LIMIT_MS,
          async () => (await gapsOf(connection, target.namespace)).length === 0,
        ),
      );
    } catch (error) {
      await stop();
      throw error;
    } finally {
      await connection.close();
    }
    const env = plainTargetEnvironment(target);
    return { pid: child.pid, target, env, stop, startAgain: (other = file) => start(other, findSetupGaps) };
  };
  return await start(server, makeNamespace);
}

/** Makes the namespace. Returns its remaining gaps: not every service knows a new namespace at once. */
async function makeNamespace(connection: Connection, namespace: string): Promise<readonly SetupGap[]> {
  const workflowExecutionRetentionPeriod = proto.google.protobuf.Duration.fromObject({
    seconds: RETENTION_DAYS * 24 * 60 * 60,
  });
  await connection.workflowService
    .registerNamespace({ namespace, workflowExecutionRetentionPeriod })
    .catch(() => undefined);
  return (await setUpNamespace(connection, namespace)).gaps;
}

async function makeDatabases(sqlTool: string, { port, user }: Postgres): Promise<void> {
  const at = ['--plugin', PLUGIN, '--endpoint', '127.0.0.1', '--port', String(port), '--user', user];
  const run = async (database: string, ...args: string[]) => {
    const outcome = await runCommand(sqlTool, [...at, '--database', database, ...args], {
      env: process.env,
      timeLimitMs: SCHEMA_LIMIT_MS,
    });
    if (outcome.kind === 'failed') throw new Error(`${sqlTool} ${outcome.reason}: ${lastLine(outcome.output)}`);
  };
  for (const [part, database] of Object.entries(DATABASES)) {
    await run(database, 'create');
    await run(database, 'setup-schema', '-v', '0.0');
    await run(database, 'update-schema', '--schema-name', `postgresql/v12/${part}`);
  }
}

interface ServicePorts {
  readonly grpc: number;
  readonly membership: number;
}

async function servicePorts(): Promise<ServicePorts> {
  return { grpc: await lowPort(), membership: await lowPort() };
}

/** PostgreSQL's schema keeps a service's port in 16 bits with a sign. */
const PORTS = { min: 20_000, max: 32_767 } as const;

async function lowPort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.min, PORTS.max + 1);
    if (await isPortFree(port)) return port;
  }
}

/** Of each of the server's four parts, with each of its two databases. */
export const MAX_CONNECTIONS = 20;

/** Returns the configuration that the server's image makes from docker-compose.yml, with everything on 127.0.0.1. */
function serverConfig({ port, user }: Postgres, ports: Readonly<Record<string, ServicePorts>>) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: PLUGIN,
      databaseName,
      connectAddr: `127.0.0.1:${port}`,
      connectProtocol: 'tcp',
      user,
      password: '',
      maxConns: MAX_CONNECTIONS,
      maxIdleConns: MAX_CONNECTIONS,
      maxConnLifetime: '1h',
    },
  });
  const { frontend } = ports;
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: SHARDS,
      datastores: { default: store(DATABASES.temporal), visibility: store(DATABASES.visibility) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      Object.entries(ports).map(([name, { grpc, membership }]) => [
        name,
        { rpc: { grpcPort: grpc, membershipPort: membership, bindOnIP: '127.0.0.1' } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${frontend?.grpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
  };
}
