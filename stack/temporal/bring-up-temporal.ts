import { withTemporalApiKey } from '../../src/settings/secret-files.js';
import {
  lazyConnection,
  loadTemporalTarget,
  plainTargetEnvironment,
  type TemporalTarget,
} from '../../src/temporal/connection.js';
import { setUpNamespace } from '../../src/temporal/namespace.js';
import { describeGaps, howToSetUp, type SetupGap } from '../../src/temporal/setup-gaps.js';
import { type StartDevServerOptions, startDevServer } from './start-dev-server.js';

/** A Temporal server that is set up for payments: an embedded one, or one that was already running. */
export interface TemporalServer {
  readonly kind: 'embedded' | 'external';
  /** For `connectClient` and `connectWorker`. */
  readonly target: TemporalTarget;
  /** Environment with which a child process finds this server. */
  readonly env: Readonly<Record<string, string>>;
  readonly uiUrl?: string;
  /** The process id of the embedded server. */
  readonly pid?: number;
  /** Resolves when the embedded server has ended, with how; for an external one, never. */
  readonly ended: Promise<string>;
  /** Stops the embedded server; an external one is left alone. */
  stop(): Promise<void>;
  /** Kills the embedded server with SIGKILL; an external one is left alone. */
  kill(): Promise<void>;
}

/**
 * Uses the Temporal server at TEMPORAL_ADDRESS if that is set, or starts an embedded dev server, and sets it up for
 * payments.
 *
 * @throws Error when the server at TEMPORAL_ADDRESS doesn't answer; Error with the commands to run when its namespace
 * isn't set up for payments and this process may not change it; and what `startDevServer` throws.
 */
export async function bringUpTemporal(options: StartDevServerOptions): Promise<TemporalServer> {
  const { env = process.env, report } = options;
  if (env.TEMPORAL_ADDRESS !== undefined && env.TEMPORAL_ADDRESS !== '') {
    return await useExternal(env, report);
  }

  const namespace = options.namespace ?? env.TEMPORAL_NAMESPACE;
  const server = await startDevServer({ ...options, ...(namespace && { namespace }) });
  const target = { address: server.address, namespace: server.namespace };
  const { uiUrl } = server;
  return {
    kind: 'embedded',
    target,
    env: { ...plainTargetEnvironment(target), ...(uiUrl !== undefined && { TEMPORAL_UI_URL: uiUrl }) },
    ...(uiUrl !== undefined && { uiUrl }),
    pid: server.pid,
    ended: server.ended,
    stop: server.stop,
    kill: server.kill,
  };
}

async function useExternal(env: NodeJS.ProcessEnv, report: (line: string) => void): Promise<TemporalServer> {
  const target = loadTemporalTarget(withTemporalApiKey(env));
  report(`temporal: using ${target.address}, namespace ${target.namespace}, because TEMPORAL_ADDRESS is set`);

  const gaps = await prepareExternal(target);
  if (gaps.length > 0) {
    const { address, namespace } = target;
    throw new Error(
      [
        `temporal: ${describeGaps(namespace, gaps)}`,
        ...howToSetUp(namespace, gaps),
        `Or unset TEMPORAL_ADDRESS, which is ${address}, to use an embedded server.`,
      ].join('\n'),
    );
  }

  const uiUrl = env.TEMPORAL_UI_URL;
  return {
    kind: 'external',
    target,
    env: { TEMPORAL_ADDRESS: target.address, TEMPORAL_NAMESPACE: target.namespace },
    ...(uiUrl && { uiUrl }),
    ended: new Promise(() => undefined),
    stop: async () => undefined,
    kill: async () => undefined,
  };
}

async function prepareExternal(target: TemporalTarget): Promise<readonly SetupGap[]> {
  const connection = lazyConnection(target);
  try {
    return (await setUpNamespace(connection, target.namespace)).gaps;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `temporal: ${target.address} does not answer for the namespace ${target.namespace}: ${reason}. ` +
        'Correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or unset TEMPORAL_ADDRESS to use an embedded server',
      { cause: error },
    );
  } finally {
    await connection.close();
  }
}
