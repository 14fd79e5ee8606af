import type { OperatorService } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto, { type temporal } from '@temporalio/proto';
import { paymentSearchAttributes } from './search-attributes.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const serverTypes = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  INT: IndexedValueType.INDEXED_VALUE_TYPE_INT,
} as const;

/** Sanaga's search attributes with their types, as the operator service takes them. */
export const searchAttributeTypes: Readonly<Record<string, temporal.api.enums.v1.IndexedValueType>> =
  Object.fromEntries(
    Object.values(paymentSearchAttributes).map(({ name, type }) => [name, serverTypes[type]]),
  );

/** A search attribute exists on the server under our name, but with a type that payments cannot be stored in. */
export class SearchAttributeTypeError extends Error {
  override readonly name = 'SearchAttributeTypeError';
}

/** What registering needs of a connection; a client's and a test environment's connection both have it. */
export interface OperatorConnection {
  readonly operatorService: Pick<OperatorService, 'listSearchAttributes' | 'addSearchAttributes'>;
}

/**
 * Registers those of Sanaga's search attributes that the namespace does not have yet, and returns their names.
 * Calling it again, or from two processes at once, does no harm.
 *
 * @throws SearchAttributeTypeError when the namespace has one of them with another type.
 * @throws ServiceError of gRPC when the server is away or does not let this client register (Temporal Cloud does not).
 */
export async function registerSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<string[]> {
  const missing = await findMissing(connection, namespace);
  if (missing.length === 0) return [];

  const searchAttributes = Object.fromEntries(missing.map((key) => [key.name, serverTypes[key.type]]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process may have registered them between our look and our call; some servers answer that with an error.
    const stillMissing = await findMissing(connection, namespace);
    if (stillMissing.length > 0) throw error;
  }

  // A server may ignore an addition whose name is taken, even by another type, so only a second look proves it.
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
