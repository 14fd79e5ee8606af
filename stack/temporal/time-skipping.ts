import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { DEFAULT_NAMESPACE, lazyConnection, retryUntilClosed } from '../../src/temporal/connection.js';
import { searchAttributeTypes } from '../../src/temporal/namespace.js';
import { type Child, startChild, untilReady } from '../processes/child.js';
import { freePort } from '../processes/ports.js';
import { type FindTestServerOptions, findTestServer } from './test-server.js';

export interface StartTimeSkippingOptions extends FindTestServerOptions {
  /** Time limit for the server's start, in ms. Default: a minute. */
  readonly startLimitMs?: number;
}

/**
 * Starts Temporal's time-skipping test server with Sanaga's search attributes. End it with `teardown()`; it never
 * outlives this process.
 *
 * `result()` of the environment's own client skips time while it waits. Wait for one result at a time with it: two at
 * once confuse the server's count of time locks. To wait for several, use a plain `Client` on `environment.connection`,
 * and `environment.sleep` to move time on.
 *
 * The server may be a Java program, and it listens on every address of the machine: use it for tests only.
 *
 * @throws NothingWorkedError when no test server can be found.
 * @throws Error with the end of the server's log when it doesn't start. It is stopped then.
 */
export async function startTimeSkippingEnvironment({
  startLimitMs = 60_000,
  ...options
}: StartTimeSkippingOptions): Promise<TestWorkflowEnvironment> {
  const file = await findTestServer(options);
  const port = await freePort();
  const { env = process.env } = options;
  const server = await startChild({ name: 'test server', file, args: [String(port)], env });
  try {
    const address = `127.0.0.1:${port}`;
    await prepare(server, address, startLimitMs);
    return await TimeSkippingEnvironment.on(address, startLimitMs, server.kill);
  } catch (error) {
    await server.kill();
    throw error;
  }
}

/**
 * The connection, which answers that no workflow is found: the test server has no index to ask. What is listed and not
 * found there is tried on a real server.
 */
export function withEmptyIndex<Any extends Pick<Connection, 'workflowService'>>(connection: Any): Any {
  const nothing = proto.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse.create();
  connection.workflowService.listWorkflowExecutions = async () => nothing;
  return connection;
}

/**
 * The test server ends a connection that pings it while it is busy with one call. The SDK would then make the call
 * again, and a sleep that is made twice confuses the server's count of time locks: time stands still.
 */
const NO_PINGS = { 'grpc.keepalive_time_ms': 2 ** 31 - 1 };

/** Time limit for the server to say whether it is ready, in ms. */
const PROBE_LIMIT_MS = 2_000;

async function prepare(server: Child, address: string, startLimitMs: number): Promise<void> {
  const connection = lazyConnection({ address, namespace: DEFAULT_NAMESPACE });
  const probe = () => connection.workflowService.getSystemInfo({}).then(() => true);
  try {
    await untilReady(server, () => connection.withDeadline(Date.now() + PROBE_LIMIT_MS, probe), startLimitMs);
    // A new test server has none, and can't list them: there is nothing to compare with.
    await connection.operatorService.addSearchAttributes({
      namespace: DEFAULT_NAMESPACE,
      searchAttributes: searchAttributeTypes,
    });
  } finally {
    await connection.close();
  }
}

/**
 * An environment on a server that we have started. The SDK would start one itself, but gives up on it after 5 s, which
 * isn't always enough on a busy machine, and then leaves it running.
 */
class TimeSkippingEnvironment extends TestWorkflowEnvironment {
  readonly #stopServer: () => Promise<void>;

  private constructor(
    address: string,
    connection: Connection,
    nativeConnection: NativeConnection,
    stopServer: () => Promise<void>,
  ) {
    super(
      Runtime.instance(),
      { server: { type: 'existing' }, client: {}, plugins: [] },
      true,
      'existing',
      connection,
      nativeConnection,
      DEFAULT_NAMESPACE,
      address,
    );
    this.#stopServer = stopServer;
  }

  static async on(
    address: string,
    connectTimeout: number,
    stopServer: () => Promise<void>,
  ): Promise<TimeSkippingEnvironment> {
    const options = { address, [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
    const connection = await Connection.connect({
      ...options,
      connectTimeout,
      interceptors: retryUntilClosed(),
      channelArgs: NO_PINGS,
    });
    return new TimeSkippingEnvironment(
      address,
      withEmptyIndex(connection),
      withEmptyIndex(await NativeConnection.connect(options)),
      stopServer,
    );
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    await this.#stopServer();
  }
}
