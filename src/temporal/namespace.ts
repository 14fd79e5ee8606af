import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import { isGrpcServiceError, type OperatorService, type WorkflowService } from '@temporalio/client';
// A CommonJS package whose named exports Node can't detect.
import proto, { type temporal } from '@temporalio/proto';
import { paymentSearchAttributes } from './search-attributes.js';
import type { SetupGap } from './setup-gaps.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** Sanaga's search attributes with their types, as the operator service takes them: all are keywords. */
export const searchAttributeTypes: Readonly<Record<string, temporal.api.enums.v1.IndexedValueType>> =
  Object.fromEntries(
    Object.values(paymentSearchAttributes).map(({ name }) => [name, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
  );

/** The same, as Temporal's command line names them. */
const attributes = Object.keys(searchAttributeTypes).map((name) => ({ name, type: 'Keyword' }));

/** The part of a connection that checking needs; both a client's and a worker's connection have it. */
interface CheckedConnection {
  readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'countWorkflowExecutions' | 'getClusterInfo'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes'>;
}

/** The part of a connection that setting up needs. */
export interface SetupConnection extends CheckedConnection {
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
  withDeadline<T>(deadline: number, calls: () => Promise<T>): Promise<T>;
}

/**
 * Finds what payments need and a namespace lacks. Makes two calls to Temporal, few enough for readiness probes.
 *
 * A payment that can't set a search attribute fails the same workflow task again and again, and repeats all that the
 * task does.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer, or when one of its services doesn't know a new namespace
 *   yet.
 */
export async function findSetupGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  if (!(await exists(connection, namespace))) return [{ kind: 'namespace' }, ...attributes.map(toMissing)];
  return await attributeGaps(connection, namespace);
}

/** The gaps of a namespace after it was set up, and Temporal's messages where it refused a change. */
export interface SetupResult {
  readonly gaps: readonly SetupGap[];
  readonly refusals: readonly string[];
}

/** Time limit for one attempt to check a namespace and set it up, in ms. */
const SETUP_LIMIT_MS = 10_000;

/**
 * Adds search attributes that a namespace lacks, if this client may. It never makes the namespace itself. It may be
 * called again, and from several processes at once. It waits some seconds for Temporal to take search attributes that
 * it lists already, which were added a moment ago; until then it would refuse payments.
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
  // Of another type, an attribute suggests that the namespace is used for something else: it is left alone. So is one
  // in which others have taken the room.
  if (before.some(({ kind }) => kind !== 'missing') || before.length === 0) return { gaps: before, refusals: [] };
  const refused = await failureOf(() => addAttributes(connection, namespace, before));
  // Another process may have made the same change in the meantime, which some servers answer with an error.
  const gaps = await findSetupGaps(connection, namespace);
  if (gaps.length === 0 || refused === undefined) return { gaps, refusals: [] };
  if (!REFUSED.includes(refused.code)) throw refused;
  return { gaps, refusals: [refused.details] };
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

async function exists({ workflowService }: CheckedConnection, namespace: string): Promise<boolean> {
  try {
    await workflowService.describeNamespace({ namespace });
    return true;
  } catch (error) {
    if (isGrpc(error, [grpc.NOT_FOUND])) return false;
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
    const crowded = crowdedBy(gaps, customAttributes);
    return crowded.length > 0 && (await isInSql(connection)) ? [...gaps, ...crowded] : gaps;
  } catch (error) {
    // An authorizer may deny the operator service to ordinary clients.
    if (isGrpc(error, [grpc.PERMISSION_DENIED, grpc.UNIMPLEMENTED])) return await gapsByQuery(connection, namespace);
    throw error;
  }
}

/** How many keywords Temporal's visibility in an SQL database has room for, in a namespace. */
const ROOM = 10;

/** Finds whether an SQL database has no room for all that Sanaga needs, beside those of others. */
function crowdedBy(gaps: readonly SetupGap[], existing: Readonly<Record<string, number>>): SetupGap[] {
  if (gaps.length === 0) return [];
  const others = Object.keys(existing).filter(
    (name) => !(name in searchAttributeTypes) && existing[name] === IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  );
  return attributes.length + others.length > ROOM ? [{ kind: 'room', type: 'Keyword', others: others.toSorted() }] : [];
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

/** Reports whether Temporal accepts these search attributes: it refuses a query that names an unknown one. */
async function takes(
  { workflowService }: CheckedConnection,
  namespace: string,
  asked: readonly Attribute[],
): Promise<boolean> {
  const query = asked.map(({ name }) => `${name} = '0'`).join(' AND ');
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
