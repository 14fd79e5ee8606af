import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import { isGrpcServiceError, type OperatorService, type WorkflowService } from '@temporalio/client';
// A CommonJS package whose named exports Node can't detect.
import proto, { type temporal } from '@temporalio/proto';
import { paymentSearchAttributes } from './search-attributes.js';
import { RETENTION_DAYS, type SetupGap } from './setup-gaps.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const { Duration } = proto.google.protobuf;

const DAY_MS = 24 * 60 * 60 * 1_000;

const serverTypes = {
  BOOL: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
  INT: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  DOUBLE: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
  DATETIME: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
} as const;

/** Sanaga's search attributes with their types, as the operator service takes them. */
export const searchAttributeTypes: Readonly<Record<string, temporal.api.enums.v1.IndexedValueType>> =
  Object.fromEntries(Object.values(paymentSearchAttributes).map(({ name, type }) => [name, serverTypes[type]]));

/** The same, as Temporal's command line names them. */
const attributes = Object.entries(searchAttributeTypes).map(([name, type]) => ({ name, type: nameOf(type) }));

/** The part of a connection that checking needs; both a client's and a worker's connection have it. */
interface CheckedConnection {
  readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'countWorkflowExecutions' | 'getClusterInfo'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes'>;
}

/** The part of a connection that setting up needs. */
export interface SetupConnection extends CheckedConnection {
  readonly workflowService: CheckedConnection['workflowService'] & Pick<WorkflowService, 'updateNamespace'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
  withDeadline<T>(deadline: number, calls: () => Promise<T>): Promise<T>;
}

/**
 * Finds what payments need and a namespace lacks. Makes two calls to Temporal, few enough for readiness probes.
 *
 * Both matter for money: Idempotency-Keys hold until Temporal deletes the ended payment unrecorded, and a payment that
 * can't set a search attribute fails the same workflow task again and again, and repeats all that the task does.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer, or when one of its services doesn't know a new namespace
 *   yet.
 */
export async function findSetupGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  const described = await describe(connection, namespace);
  if (described === undefined) return [{ kind: 'namespace' }, ...attributes.map(toMissing)];
  const days = Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0) / (DAY_MS / 1_000);
  return [
    ...(days < RETENTION_DAYS ? [{ kind: 'retention', days } as const] : []),
    ...(await attributeGaps(connection, namespace)),
  ];
}

/** The gaps of a namespace after it was set up, and Temporal's messages where it refused a change. */
export interface SetupResult {
  readonly gaps: readonly SetupGap[];
  readonly refusals: readonly string[];
}

/** Time limit for one attempt to check a namespace and set it up, in ms. */
const SETUP_LIMIT_MS = 10_000;

/**
 * Adds search attributes that a namespace lacks and lengthens its retention, as far as this client may. It never makes
 * the namespace itself. It may be called again, and from several processes at once. It waits some seconds for Temporal
 * to take search attributes that it lists already, which were added a moment ago; until then it would refuse payments.
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

  // An attribute of another type suggests that the namespace is used for something else: leave it alone. So does one
  // that can't be added, because others have taken the room.
  const isOthers = has('type') || has('room');
  const refused =
    has('missing') && !isOthers ? await failureOf(() => addAttributes(connection, namespace, before)) : undefined;
  const isOurs =
    !isOthers && (refused?.code !== grpc.INVALID_ARGUMENT || (await attributeGaps(connection, namespace)).length === 0);
  const unkept = has('retention') && isOurs ? await failureOf(() => raiseRetention(connection, namespace)) : undefined;
  const failures = [refused, unkept].filter((failure) => failure !== undefined);
  // Another process may have made the same change in the meantime, which some servers answer with an error.
  const gaps = await findSetupGaps(connection, namespace);
  if (gaps.length === 0) return { gaps, refusals: [] };
  const temporary = failures.find(({ code }) => !REFUSED.includes(code));
  if (temporary !== undefined) throw temporary;
  return { gaps, refusals: failures.map(({ details }) => details) };
}

async function failureOf(change: () => Promise<unknown>) {
  try {
    await change();
    return undefined;
  } catch (error) {
    if (isGrpcServiceError(error)) return error;
    throw error;
  }
}

function raiseRetention({ workflowService }: SetupConnection, namespace: string): Promise<unknown> {
  const retention = Duration.fromObject({ seconds: (RETENTION_DAYS * DAY_MS) / 1_000 });
  return workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: retention } });
}

function addAttributes(
  { operatorService }: SetupConnection,
  namespace: string,
  gaps: readonly SetupGap[],
): Promise<unknown> {
  const missing = gaps.flatMap((gap) => (gap.kind === 'missing' ? [gap.name] : []));
  const searchAttributes = Object.fromEntries(
    Object.entries(searchAttributeTypes).filter(([name]) => missing.includes(name)),
  );
  return operatorService.addSearchAttributes({ namespace, searchAttributes });
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

type Attribute = (typeof attributes)[number];

const toMissing = (attribute: Attribute): SetupGap => ({ kind: 'missing', ...attribute });

/** `INDEXED_VALUE_TYPE_KEYWORD_LIST` → `KeywordList` */
function nameOf(type: number): string {
  const words = (IndexedValueType[type] ?? '').replace('INDEXED_VALUE_TYPE_', '').toLowerCase().split('_');
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

async function attributeGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const gaps = attributes.flatMap((attribute): SetupGap[] => {
      const existing = customAttributes[attribute.name];
      if (existing === undefined) return [toMissing(attribute)];
      const actual = nameOf(existing);
      return actual === attribute.type ? [] : [{ kind: 'type', ...attribute, actual }];
    });
    const crowded = crowdedTypes(gaps, customAttributes);
    return crowded.length > 0 && (await isInSql(connection)) ? [...gaps, ...crowded] : gaps;
  } catch (error) {
    // An authorizer may deny the operator service to ordinary clients.
    if (isGrpc(error, [grpc.PERMISSION_DENIED, grpc.UNIMPLEMENTED])) return await gapsByQuery(connection, namespace);
    throw error;
  }
}

/** How many search attributes of a type Temporal's visibility in an SQL database has room for, in a namespace. */
const roomFor = (type: string): number => (type === 'Keyword' ? 10 : 3);

/** Finds the types of which an SQL database has no room for all that Sanaga needs, beside those of others. */
function crowdedTypes(gaps: readonly SetupGap[], existing: Readonly<Record<string, number>>): SetupGap[] {
  const lacking = gaps.flatMap((gap) => (gap.kind === 'missing' || gap.kind === 'type' ? [gap.type] : []));
  return [...new Set(lacking)].flatMap((type): SetupGap[] => {
    const ours = attributes.filter((attribute) => attribute.type === type).length;
    const others = Object.keys(existing).filter(
      (name) => !(name in searchAttributeTypes) && nameOf(existing[name] ?? 0) === type,
    );
    return ours + others.length > roomFor(type) ? [{ kind: 'room', type, others: others.toSorted() }] : [];
  });
}

/** Names of Temporal's plugins for visibility in an SQL database. */
const SQL_STORE = /^(sqlite|mysql|postgres)/;

async function isInSql({ workflowService }: CheckedConnection): Promise<boolean> {
  try {
    const { visibilityStore } = await workflowService.getClusterInfo({});
    return (visibilityStore ?? '').split(',').some((store) => SQL_STORE.test(store));
  } catch (error) {
    // Whoever may not ask learns of it when Temporal refuses another attribute.
    if (isGrpc(error, REFUSED)) return false;
    throw error;
  }
}

/** Finds missing attributes by queries. One call when none is missing. */
async function gapsByQuery(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  if (await takes(connection, namespace, attributes)) return [];
  const gaps: SetupGap[] = [];
  for (const attribute of attributes) {
    if (!(await takes(connection, namespace, [attribute]))) gaps.push(toMissing(attribute));
  }
  return gaps;
}

/** A value of each type. Elasticsearch refuses one of another type. */
const VALUES: Readonly<Record<string, string>> = {
  Bool: 'false',
  Int: '0',
  Double: '0',
  Keyword: "'0'",
  KeywordList: "'0'",
  Datetime: "'2026-01-01T00:00:00Z'",
};

/** Reports whether Temporal accepts these search attributes: it refuses a query that names an unknown one. */
async function takes(
  { workflowService }: CheckedConnection,
  namespace: string,
  asked: readonly Attribute[],
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

/** Time limit for Temporal to accept search attributes that it lists, and the interval between two questions, in ms. */
const TAKEN_LIMIT_MS = 5_000;
const TAKEN_PAUSE_MS = 500;

/**
 * Resolves when Temporal accepts the search attributes, after {@link TAKEN_LIMIT_MS} at the latest, or when it gives no
 * answer. A payment that comes too early all the same is refused as unavailable, and not begun.
 */
async function untilTaken(connection: CheckedConnection, namespace: string): Promise<void> {
  const end = Date.now() + TAKEN_LIMIT_MS;
  try {
    while (!(await takes(connection, namespace, attributes)) && Date.now() < end) await pause(TAKEN_PAUSE_MS);
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
  }
}
