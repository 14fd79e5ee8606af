import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import { isGrpcServiceError, type OperatorService, type WorkflowService } from '@temporalio/client';
// A CommonJS package whose named exports Node can't detect.
import proto, { type temporal } from '@temporalio/proto';
import { paymentSearchAttributes } from './search-attributes.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const { Duration } = proto.google.protobuf;

const DAY_MS = 24 * 60 * 60 * 1_000;

const serverTypes = {
  BOOL: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  INT: IndexedValueType.INDEXED_VALUE_TYPE_INT,
} as const;

/** Sanaga's search attributes with their types, as the operator service takes them. */
export const searchAttributeTypes: Readonly<Record<string, temporal.api.enums.v1.IndexedValueType>> =
  Object.fromEntries(Object.values(paymentSearchAttributes).map(({ name, type }) => [name, serverTypes[type]]));

/** Thrown when the namespace has one of our search attributes with another type. */
export class SearchAttributeTypeError extends Error {
  override readonly name = 'SearchAttributeTypeError';
}

/** The part of a connection that registering needs; both a client's and a test environment's connection have it. */
interface OperatorConnection {
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
}

/**
 * Registers those of Sanaga's search attributes that the namespace doesn't have yet, and returns their names. It may be
 * called again, and from several processes at once.
 *
 * @throws SearchAttributeTypeError when the namespace has one of them with another type.
 * @throws ServiceError of gRPC when the server is away or does not let this client register (Temporal Cloud does not).
 */
export async function registerSearchAttributes(connection: OperatorConnection, namespace: string): Promise<string[]> {
  const missing = await findMissing(connection, namespace);
  if (missing.length === 0) return [];

  const searchAttributes = Object.fromEntries(missing.map((key) => [key.name, serverTypes[key.type]]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process may have registered them in the meantime; some servers answer that with an error.
    const stillMissing = await findMissing(connection, namespace);
    if (stillMissing.length > 0) throw error;
  }

  // A server may ignore an addition whose name is taken, even by another type, so check again.
  const left = await findMissing(connection, namespace);
  if (left.length > 0) {
    throw new Error(
      `namespace ${namespace} took the search attributes ${left.map(({ name }) => name).join(', ')} but does not list them`,
    );
  }
  return missing.map(({ name }) => name);
}

async function findMissing(connection: OperatorConnection, namespace: string) {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.values(paymentSearchAttributes).filter((key) => {
    const existing = customAttributes[key.name];
    if (existing === undefined) return true;
    if (existing === serverTypes[key.type]) return false;
    throw new SearchAttributeTypeError(
      `search attribute ${key.name} of namespace ${namespace} has the type ${IndexedValueType[existing]}, ` +
        `but Sanaga needs ${key.type}: remove it or use another namespace (TEMPORAL_NAMESPACE)`,
    );
  });
}

/**
 * How long namespaces keep ended payments at least, in days. For so long, they can wait to be recorded. Without
 * records, an Idempotency-Key holds exactly as long as Temporal keeps the workflow, so this is also how long a merchant
 * may repeat a request without paying twice.
 */
export const RETENTION_DAYS = 30;

/**
 * Raises the namespace's retention to at least `days`. A longer retention stays as it is: an operator chose it.
 *
 * @throws ServiceError of gRPC when the server is away or refuses.
 */
export async function ensureRetention(
  connection: { readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'updateNamespace'> },
  namespace: string,
  days: number = RETENTION_DAYS,
): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (retentionOf(config) >= days * DAY_MS) return;

  await connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: Duration.fromObject({ seconds: (days * DAY_MS) / 1_000 }) },
  });
}

/** How long one attempt to check a namespace and set it up may take, in ms. */
const SETUP_LIMIT_MS = 10_000;

/** How long to wait for Temporal to take search attributes that it lists, and how long between two questions, in ms. */
const TAKEN_LIMIT_MS = 5_000;
const TAKEN_PAUSE_MS = 500;

/** In ms. */
function retentionOf(config: temporal.api.namespace.v1.INamespaceConfig | null | undefined): number {
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
}

/** Something that payments need and a namespace lacks; types are named as in Temporal's command line. */
export type SetupGap =
  /** There is no such namespace. */
  | { readonly kind: 'namespace' }
  /** It keeps ended workflows for this many days, fewer than {@link RETENTION_DAYS}. */
  | { readonly kind: 'retention'; readonly days: number }
  /** It has no such search attribute. */
  | { readonly kind: 'missing'; readonly name: string; readonly type: string }
  /** It has the search attribute with another type. */
  | { readonly kind: 'type'; readonly name: string; readonly type: string; readonly actual: string };

/** The part of a connection that checking needs; both a client's and a worker's connection have it. */
interface CheckedConnection {
  readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'countWorkflowExecutions'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes'>;
}

/** The part of a connection that setting up needs. */
export interface SetupConnection extends CheckedConnection {
  readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'countWorkflowExecutions' | 'updateNamespace'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
  withDeadline<T>(deadline: number, calls: () => Promise<T>): Promise<T>;
}

/**
 * What a namespace lacks; empty when it has all that payments need. Makes two calls to Temporal, few enough for
 * readiness probes.
 *
 * Both matter for money: Idempotency-Keys hold until Temporal deletes the ended payment unrecorded, and a payment that
 * can't set a search attribute fails the same workflow task again and again, and repeats all that the task does.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer, or when one of its services doesn't know a new namespace
 *   yet.
 */
export async function findSetupGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  const described = await describe(connection, namespace);
  if (described === undefined) return [{ kind: 'namespace' }, ...allMissing()];
  const days = retentionOf(described.config) / DAY_MS;
  return [
    ...(days < RETENTION_DAYS ? [{ kind: 'retention', days } as const] : []),
    ...(await attributeGaps(connection, namespace)),
  ];
}

/** What a namespace still lacks after it was set up, and Temporal's messages where it refused a change. */
export interface SetupResult {
  readonly gaps: readonly SetupGap[];
  readonly refusals: readonly string[];
}

/**
 * Adds what a namespace lacks, as far as this client may: search attributes and a longer retention, never the namespace
 * itself. It may be called again, and from several processes at once. It waits some seconds for Temporal to take search
 * attributes that it lists already, which were added a moment ago; until then it would refuse payments.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer.
 */
export async function setUpNamespace(connection: SetupConnection, namespace: string): Promise<SetupResult> {
  return await connection.withDeadline(Date.now() + SETUP_LIMIT_MS, async () => {
    const result = await closeGaps(connection, namespace);
    if (result.gaps.length === 0) await untilTaken(connection, namespace);
    return result;
  });
}

async function closeGaps(connection: SetupConnection, namespace: string): Promise<SetupResult> {
  const before = await findSetupGaps(connection, namespace);
  const has = (kind: SetupGap['kind']) => before.some((gap) => gap.kind === kind);
  if (before.length === 0 || has('namespace')) return { gaps: before, refusals: [] };

  const refusals: string[] = [];
  const attempt = async (change: () => Promise<unknown>) => {
    try {
      await change();
    } catch (error) {
      if (!isGrpcServiceError(error) || !REFUSED.includes(error.code)) throw error;
      refusals.push(error.details);
    }
  };
  if (has('retention')) await attempt(() => ensureRetention(connection, namespace));
  // If one has another type, the namespace is probably used for something else: leave it alone.
  if (has('missing') && !has('type')) await attempt(() => registerSearchAttributes(connection, namespace));
  return { gaps: await findSetupGaps(connection, namespace), refusals };
}

/** What a namespace lacks, in a sentence. */
export function describeGaps(namespace: string, gaps: readonly SetupGap[]): string {
  // A namespace that isn't there lacks everything else as well.
  const [first] = gaps;
  const said = first?.kind === 'namespace' ? [first] : gaps;
  return `The Temporal namespace ${namespace} ${said.map(describeGap).join(', ')}.`;
}

/** The commands of Temporal's command line that close the gaps. */
export function setupCommands(namespace: string, gaps: readonly SetupGap[]): string[] {
  const command = (what: string, options: string) => `temporal operator ${what} --namespace ${namespace} ${options}`;
  const commandsFor = (gap: SetupGap): string[] => {
    switch (gap.kind) {
      case 'namespace':
        return [command('namespace create', `--retention ${RETENTION_DAYS}d`)];
      case 'retention':
        return [command('namespace update', `--retention ${RETENTION_DAYS}d`)];
      case 'missing':
        return [command('search-attribute create', `--name ${gap.name} --type ${gap.type}`)];
      case 'type':
        return [
          command('search-attribute remove', `--name ${gap.name}`),
          command('search-attribute create', `--name ${gap.name} --type ${gap.type}`),
        ];
    }
  };
  return gaps.flatMap(commandsFor);
}

function describeGap(gap: SetupGap): string {
  switch (gap.kind) {
    case 'namespace':
      return "doesn't exist";
    case 'retention': {
      const days = Math.floor(gap.days * 10) / 10;
      return `keeps ended payments for ${days} ${days === 1 ? 'day' : 'days'} instead of ${RETENTION_DAYS}`;
    }
    case 'missing':
      return `has no search attribute ${gap.name} (${gap.type})`;
    case 'type':
      return `has the search attribute ${gap.name} as ${gap.actual} instead of ${gap.type}`;
  }
}

/** Status codes of lasting refusals. Any other may be temporary. */
const REFUSED: readonly grpc[] = [
  grpc.INVALID_ARGUMENT,
  grpc.NOT_FOUND,
  grpc.ALREADY_EXISTS,
  grpc.PERMISSION_DENIED,
  grpc.FAILED_PRECONDITION,
  grpc.UNIMPLEMENTED,
  grpc.UNAUTHENTICATED,
];

function isGrpc(error: unknown, codes: readonly grpc[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/** `undefined` when there is no such namespace. */
async function describe({ workflowService }: CheckedConnection, namespace: string) {
  try {
    return await workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (isGrpc(error, [grpc.NOT_FOUND])) return undefined;
    throw error;
  }
}

/** Our search attributes and their types, as Temporal's command line names them. */
const attributes = Object.entries(searchAttributeTypes).map(([name, type]) => ({ name, type: nameOf(type) }));

const allMissing = (): SetupGap[] => attributes.map((attribute) => ({ kind: 'missing', ...attribute }));

/** `INDEXED_VALUE_TYPE_KEYWORD_LIST` → `KeywordList` */
function nameOf(type: number): string {
  const words = (IndexedValueType[type] ?? '').replace('INDEXED_VALUE_TYPE_', '').toLowerCase().split('_');
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

async function attributeGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return attributes.flatMap((attribute): SetupGap[] => {
      const existing = customAttributes[attribute.name];
      if (existing === undefined) return [{ kind: 'missing', ...attribute }];
      const actual = nameOf(existing);
      return actual === attribute.type ? [] : [{ kind: 'type', ...attribute, actual }];
    });
  } catch (error) {
    // An authorizer may deny the operator service to ordinary clients.
    if (isGrpc(error, [grpc.PERMISSION_DENIED, grpc.UNIMPLEMENTED])) return await gapsByQuery(connection, namespace);
    throw error;
  }
}

/** Finds missing attributes by queries. One call when none is missing. */
async function gapsByQuery(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  if (await takes(connection, namespace, attributes)) return [];
  const gaps: SetupGap[] = [];
  for (const attribute of attributes) {
    if (!(await takes(connection, namespace, [attribute]))) gaps.push({ kind: 'missing', ...attribute });
  }
  return gaps;
}

/** A value of each type. Elasticsearch refuses one of another type. */
const VALUES: Readonly<Record<string, string>> = { Bool: 'false', Int: '0', Keyword: "'0'" };

/** Whether Temporal takes these search attributes: a query that names one that it doesn't know is refused. */
async function takes(
  { workflowService }: CheckedConnection,
  namespace: string,
  asked: typeof attributes,
): Promise<boolean> {
  const query = asked.map(({ name, type }) => `${name} = ${VALUES[type]}`).join(' AND ');
  try {
    await workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (isGrpc(error, [grpc.INVALID_ARGUMENT])) return false;
    throw error;
  }
}

/**
 * Resolves when Temporal takes the search attributes, after {@link TAKEN_LIMIT_MS} at the latest, or when it doesn't
 * say. A payment that comes too early all the same is refused as unavailable, and not begun.
 */
async function untilTaken(connection: CheckedConnection, namespace: string): Promise<void> {
  const end = Date.now() + TAKEN_LIMIT_MS;
  try {
    while (!(await takes(connection, namespace, attributes)) && Date.now() < end) await pause(TAKEN_PAUSE_MS);
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
  }
}
