import * as grpc from '@grpc/grpc-js';
import {
  Client,
  type ClientOptions,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  ServiceError,
  type TLSConfig,
} from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
// A CommonJS package whose named exports Node can't detect.
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { dataConverterOf, type Encryption } from './encryption.js';

const { DescribeTaskQueueMode, TaskQueueType } = proto.temporal.api.enums.v1;

/** The namespace that Temporal creates by itself, used when none is set. */
export const DEFAULT_NAMESPACE = 'default';

const DEFAULT_ADDRESS = '127.0.0.1:7233';

/** Address, namespace and credentials of a Temporal server. */
export interface TemporalTarget {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly tls?: TLSConfig | boolean;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

/**
 * Reads Temporal's address as Temporal's own tools do: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
 * TEMPORAL_TLS…, and the configuration file with its profiles. Without any of them, 127.0.0.1:7233 and `default`.
 *
 * @throws Error when the configuration file or a certificate that it names cannot be read.
 */
export function loadTemporalTarget(env: NodeJS.ProcessEnv): TemporalTarget {
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    // `TEMPORAL_ADDRESS=` in a .env file means "not set", never the empty address.
    const says = value !== undefined && (value !== '' || meaningfulWhenEmpty.has(name));
    if (says) overrideEnvVars[name] = value;
  }

  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const { address, tls, apiKey, metadata } = connectionOptions;
  return {
    address: address ?? DEFAULT_ADDRESS,
    namespace: namespace ?? DEFAULT_NAMESPACE,
    ...(tls !== undefined && tls !== null && { tls }),
    ...(typeof apiKey === 'string' && apiKey !== '' && { apiKey }),
    ...(metadata !== undefined && { metadata: textOnly(metadata) }),
  };
}

/** Empty values of these turn off the machine's own configuration file. */
const meaningfulWhenEmpty = new Set(['TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE']);

/**
 * The environment with which a child process connects to exactly this server, without TLS or credentials, regardless of
 * the machine's Temporal configuration file.
 */
export function plainTargetEnvironment(target: Pick<TemporalTarget, 'address' | 'namespace'>) {
  return {
    TEMPORAL_ADDRESS: target.address,
    TEMPORAL_NAMESPACE: target.namespace,
    TEMPORAL_TLS: 'false',
    TEMPORAL_API_KEY: '',
    TEMPORAL_API_KEY_FILE: '',
    TEMPORAL_CONFIG_FILE: '',
    TEMPORAL_PROFILE: '',
  };
}

function textOnly(metadata: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(metadata);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Three tries take about half a second: enough for a lost connection, too few to keep a merchant waiting. */
const MAX_ATTEMPTS = 3;

/** Time limit for a probe of the server, in ms. */
const PROBE_LIMIT_MS = 2_000;

/** First and longest pause before a lost connection is tried again, in ms. gRPC's own maximum is two minutes. */
const RECONNECT_MS = { first: 100, max: 2_000 };

/**
 * Largest answer that is accepted, in bytes: far above what Temporal has of one payment, and small enough for a process
 * to hold many. gRPC's own limit is 4 MiB; the SDK means to raise it, and misspells the option.
 */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * A client for the API. It connects at its first call, so the process can start while Temporal is down. A call then
 * fails within about a second with gRPC's UNAVAILABLE (`isGrpcServiceError(error.cause ?? error)`, code 14) instead of
 * after the SDK's ten tries, so that the API can answer 503 at once. The client reconnects within two seconds of
 * Temporal's return. It doesn't notice a server that drops packets silently: give calls a deadline with
 * `connection.withDeadline`.
 */
export function connectClient(
  target: TemporalTarget,
  encryption: Encryption,
  options: Omit<ClientOptions, 'connection' | 'namespace' | 'dataConverter'> = {},
  maxAnswerBytes?: number,
): Client & { readonly connection: Connection } {
  const connection = lazyConnection(target, maxAnswerBytes);
  const dataConverter = dataConverterOf(encryption);
  const client = new Client({ ...options, connection, namespace: target.namespace, dataConverter });
  return Object.assign(client, { connection });
}

/** The connection of {@link connectClient} without a client. */
export function lazyConnection(
  { namespace: _, ...credentials }: TemporalTarget,
  maxAnswerBytes = MAX_ANSWER_BYTES,
): Connection {
  return Connection.lazy({
    ...credentials,
    connectTimeout: PROBE_LIMIT_MS,
    interceptors: retryUntilClosed({ maxAttempts: MAX_ATTEMPTS }),
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.first,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.max,
      'grpc.max_receive_message_length': maxAnswerBytes,
    },
  });
}

/**
 * The SDK's retries of failed calls, until the connection is closed. A retry comes from a timer. On a closed connection
 * gRPC throws there, where nobody can catch it, and the process would end; here, the call fails with CANCELLED instead.
 */
export function retryUntilClosed(options?: Parameters<typeof defaultGrpcRetryOptions>[0]): grpc.Interceptor[] {
  const usual = defaultGrpcRetryOptions(options);
  const retryableDecider: typeof usual.retryableDecider = (attempt, status) =>
    !isTooLarge(status) && usual.retryableDecider(attempt, status);
  return [makeGrpcRetryInterceptor({ ...usual, retryableDecider }), failWhenClosed];
}

/** Words of gRPC's implementations for a message that is too large: other failures share its code. */
const TOO_LARGE = /larger than max|too large/i;

/** Reports whether a call failed because its answer or its request is too large. It fails so each time. */
function isTooLarge({ code, details }: Pick<grpc.StatusObject, 'code' | 'details'>): boolean {
  return code === grpc.status.RESOURCE_EXHAUSTED && TOO_LARGE.test(details);
}

const failWhenClosed: grpc.Interceptor = (options, nextCall) => {
  try {
    return new grpc.InterceptingCall(nextCall(options));
  } catch (error) {
    return new grpc.InterceptingCall(failedCall(error instanceof Error ? error.message : String(error)));
  }
};

/** A call that ends as soon as it is started. */
function failedCall(details: string): ConstructorParameters<typeof grpc.InterceptingCall>[0] {
  const status = { code: grpc.status.CANCELLED, details, metadata: new grpc.Metadata() };
  const ignore = () => undefined;
  return {
    start(_metadata, listener) {
      process.nextTick(() => {
        // A message comes before every status, even that of a failure: the retries rely on it.
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.(status);
      });
    },
    sendMessage: ignore,
    sendMessageWithContext: ignore,
    startRead: ignore,
    halfClose: ignore,
    cancelWithStatus: ignore,
    getPeer: () => 'none',
    getAuthContext: () => null,
  };
}

/**
 * Makes a call to Temporal that ends when `stop` is aborted, for a signal that outlives the call. The SDK's own
 * `withAbortSignal` leaves a listener on the signal, which keeps the call with its whole answer in memory as long as
 * the signal lives.
 */
export async function endingWith<T>(
  client: Pick<Client, 'withAbortSignal'>,
  stop: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort();
  stop.addEventListener('abort', end, { once: true });
  try {
    return await client.withAbortSignal(ending.signal, call);
  } finally {
    stop.removeEventListener('abort', end);
  }
}

/**
 * Connects a worker to Temporal, at once: without Temporal a worker has nothing to do.
 *
 * @throws TransportError when the server is away.
 */
export async function connectWorker({ namespace: _, ...credentials }: TemporalTarget): Promise<NativeConnection> {
  // Loaded only here: the API imports this file too, and doesn't need the worker's native library.
  const worker = await import('@temporalio/worker');
  return await worker.NativeConnection.connect(credentials);
}

/**
 * Resolves when Temporal answers for the namespace. For readiness probes: it asks the server each time.
 *
 * @throws ServiceError of gRPC when it does not answer within 2 s or does not know the namespace.
 */
export async function probeTemporal(connection: Connection, namespace: string): Promise<void> {
  await connection.withDeadline(Date.now() + PROBE_LIMIT_MS, async () => {
    await connection.workflowService.describeNamespace({ namespace });
  });
}

/** Returns the gRPC error that an error is or was caused by. A worker's connection throws it unwrapped. */
export function grpcErrorOf(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  const { cause } = error instanceof ServiceError ? error : { cause: error };
  return isGrpcServiceError(cause) ? cause : undefined;
}

type TypeInfo = proto.temporal.api.taskqueue.v1.ITaskQueueTypeInfo;

/**
 * Lists the workers that have lately asked a task queue for workflow tasks, as every worker does.
 *
 * @param version of the workers that are looked for, as `deployment:build id`. Workers of other versions may be missing
 */
export async function workflowPollers(
  { workflowService }: Pick<Connection, 'workflowService'>,
  namespace: string,
  taskQueue: string,
  version?: string,
) {
  const taskQueueType = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;
  const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
  // By default, Temporal lists only pollers seen at the queue's first partition, so it may miss some of
  // several workers. In its "enhanced" mode, which not every server has, it lists those of all partitions, but only of
  // the versions in the request.
  const enhanced = {
    ...request,
    apiMode: DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
    taskQueueTypes: [taskQueueType],
    reportPollers: true,
    versions: { unversioned: true, buildIds: version === undefined ? [] : [version] },
  };
  const [first, all] = await Promise.all([
    workflowService.describeTaskQueue(request),
    workflowService.describeTaskQueue(enhanced).catch(() => undefined),
  ]);
  const ofVersions = Object.values(all?.versionsInfo ?? {})
    // A field that a server leaves out is null, though its type doesn't say so.
    .flatMap((version): (TypeInfo | null)[] => Object.values(version?.typesInfo ?? {}))
    .flatMap((info) => info?.pollers ?? []);
  return [...first.pollers, ...ofVersions];
}
