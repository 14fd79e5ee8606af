import { isGrpcServiceError, type OperatorService, type WorkflowService } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto from '@temporalio/proto';
import { ensureRetention, RETENTION_DAYS } from './namespace-retention.js';
import { registerSearchAttributes, searchAttributeTypes } from './register-search-attributes.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** How long one attempt to check a namespace and set it up may take, in ms. */
const SETUP_LIMIT_MS = 10_000;

/** Something that a namespace lacks before payments can live in it; types are named as Temporal's command line does. */
export type SetupGap =
  /** There is no such namespace. */
  | { readonly kind: 'namespace' }
  /** It keeps ended workflows for this many days, fewer than {@link RETENTION_DAYS}. */
  | { readonly kind: 'retention'; readonly days: number }
  /** It has no such search attribute. */
  | { readonly kind: 'missing'; readonly name: string; readonly type: string }
  /** It has the search attribute with another type. */
  | { readonly kind: 'type'; readonly name: string; readonly type: string; readonly actual: string };

/** What checking needs of a connection; a client's and a worker's connection both have it. */
export interface CheckedConnection {
  readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'countWorkflowExecutions'>;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes'>;
}

/** What setting up needs of a connection. */
export interface SetupConnection extends CheckedConnection {
  readonly workflowService: Pick<
    WorkflowService,
    'describeNamespace' | 'countWorkflowExecutions' | 'updateNamespace'
  >;
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
  withDeadline<T>(deadline: number, calls: () => Promise<T>): Promise<T>;
}

/**
 * What a namespace lacks; nothing when payments can live in it. Two calls to Temporal, so that readiness probes may ask.
 *
 * Both matter for money: an Idempotency-Key holds for as long as Temporal keeps the ended payment, and a payment that
 * can't set a search attribute fails the same workflow task again and again, with all that the task does.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer, or when a part of it doesn't know a new namespace yet.
 */
export async function findSetupGaps(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  const described = await describe(connection, namespace);
  if (described === undefined) return [{ kind: 'namespace' }, ...allMissing()];
  const retentionMs = optionalTsToMs(described.config?.workflowExecutionRetentionTtl) ?? 0;
  const days = retentionMs / DAY_MS;
  return [
    ...(days < RETENTION_DAYS ? [{ kind: 'retention', days } as const] : []),
    ...(await attributeGaps(connection, namespace)),
  ];
}

/** What was still lacking after a namespace was set up, and what Temporal said where it refused a change. */
export interface SetupResult {
  readonly gaps: readonly SetupGap[];
  readonly refusals: readonly string[];
}

/**
 * Adds what a namespace lacks, as far as this client may: search attributes and a longer retention, never a namespace.
 * Doing it again, or from several processes at once, does no harm.
 *
 * @throws ServiceError of gRPC when Temporal doesn't answer.
 */
export async function setUpNamespace(connection: SetupConnection, namespace: string): Promise<SetupResult> {
  return await connection.withDeadline(Date.now() + SETUP_LIMIT_MS, async () => {
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
    // One that has another type stands for a namespace that is used for something else: it is left alone.
    if (has('missing') && !has('type')) await attempt(() => registerSearchAttributes(connection, namespace));
    return { gaps: await findSetupGaps(connection, namespace), refusals };
  });
}

/** What a namespace lacks, in a sentence. */
export function describeGaps(namespace: string, gaps: readonly SetupGap[]): string {
  // A namespace that isn't there lacks everything else as well.
  const [first] = gaps;
  const said = first?.kind === 'namespace' ? [first] : gaps;
  return `The Temporal namespace ${namespace} ${said.map(describeGap).join(', ')}.`;
}

/** The commands of Temporal's own tool that close the gaps. */
export function setupCommands(namespace: string, gaps: readonly SetupGap[]): string[] {
  const command = (what: string, options: string) =>
    `temporal operator ${what} --namespace ${namespace} ${options}`;
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

/** Codes of gRPC. */
const [INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED] = [3, 5, 7, 12] as const;

/**
 * Codes with which a change is refused, and will be again: those above, ALREADY_EXISTS, FAILED_PRECONDITION and
 * UNAUTHENTICATED. Every other one may be gone in a moment.
 */
const REFUSED: readonly number[] = [
  ...[INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED],
  ...[6, 9, 16],
];

function isGrpc(error: unknown, codes: readonly number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/** `undefined` when there is no such namespace. */
async function describe({ workflowService }: CheckedConnection, namespace: string) {
  try {
    return await workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (isGrpc(error, [NOT_FOUND])) return undefined;
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
    // An authorizer may keep everything of the operator service from ordinary clients.
    if (isGrpc(error, [PERMISSION_DENIED, UNIMPLEMENTED])) return await gapsByQuery(connection, namespace);
    throw error;
  }
}

/** Finds missing attributes without listing them: a query that names one is refused. One call when all are there. */
async function gapsByQuery(connection: CheckedConnection, namespace: string): Promise<SetupGap[]> {
  const isKnown = async (asked: typeof attributes): Promise<boolean> => {
    const query = asked.map(({ name, type }) => `${name} = ${type === 'Int' ? '0' : "'0'"}`).join(' AND ');
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return true;
    } catch (error) {
      if (isGrpc(error, [INVALID_ARGUMENT])) return false;
      throw error;
    }
  };
  if (await isKnown(attributes)) return [];
  const gaps: SetupGap[] = [];
  for (const attribute of attributes) {
    if (!(await isKnown([attribute]))) gaps.push({ kind: 'missing', ...attribute });
  }
  return gaps;
}
