import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, type Connection } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { lazyConnection } from '../../src/temporal/connect.js';
import { ensureRetention } from '../../src/temporal/namespace-retention.js';
import {
  registerSearchAttributes,
  SearchAttributeTypeError,
  searchAttributeTypes,
} from '../../src/temporal/register-search-attributes.js';
import { paymentSearchAttributes as keys } from '../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const DAY = 24 * 60 * 60 * 1_000;
const names = [
  'Merchant',
  'PaymentStatus',
  'PaymentKind',
  'ExternalId',
  'UserId',
  'TransId',
  'Amount',
  'CreatedAt',
];

describe('a namespace that payments are to live in', () => {
  let server: DevServer;
  let connection: Connection;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    connection = lazyConnection(server);
  }, 60_000);

  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  /** A namespace is known everywhere in the server only some time after it was made. */
  async function makeNamespace(namespace: string): Promise<void> {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(60 * DAY),
    });
    for (;;) {
      try {
        await connection.operatorService.listSearchAttributes({ namespace });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  async function customAttributes(namespace: string) {
    return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
  }

  it('gets the missing search attributes, once', async () => {
    await makeNamespace('fresh');
    await connection.operatorService.addSearchAttributes({
      namespace: 'fresh',
      searchAttributes: { UserId: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
    });

    const registered = await registerSearchAttributes(connection, 'fresh');

    expect([...registered].sort()).toEqual(names.filter((name) => name !== 'UserId').sort());
    expect(await customAttributes('fresh')).toEqual(searchAttributeTypes);
    expect(await registerSearchAttributes(connection, 'fresh')).toEqual([]);
  }, 30_000);

  it('may be prepared by several processes at once', async () => {
    await makeNamespace('contested');

    await Promise.all([1, 2, 3, 4].map(async () => await registerSearchAttributes(connection, 'contested')));

    expect(Object.keys(await customAttributes('contested')).sort()).toEqual([...names].sort());
  }, 30_000);

  it('is refused when it has one of them with another type', async () => {
    await makeNamespace('occupied');
    await connection.operatorService.addSearchAttributes({
      namespace: 'occupied',
      searchAttributes: { Amount: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
    });

    const attempt = registerSearchAttributes(connection, 'occupied');

    await expect(attempt).rejects.toThrow(SearchAttributeTypeError);
    await expect(attempt).rejects.toThrow(/Amount of namespace occupied .*KEYWORD.* needs INT/);
  }, 30_000);

  it('keeps ended workflows for 30 days, or longer when an operator said so', async () => {
    await makeNamespace('long');
    const retention = async (namespace: string) => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      return tsToMs(config?.workflowExecutionRetentionTtl) / DAY;
    };

    await ensureRetention(connection, 'long');

    expect(await retention('long')).toBe(60);
    expect(await retention(server.namespace)).toBe(30);
  }, 30_000);

  it('takes a workflow with all of them at once after registration', async () => {
    const client = new Client({ connection, namespace: server.namespace });

    await client.workflow.start('any', {
      workflowId: 'w',
      taskQueue: 'q',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: keys.merchant, value: 'shop' },
        { key: keys.status, value: 'CREATED' },
        { key: keys.kind, value: 'collection' },
        { key: keys.externalId, value: 'order-1' },
        { key: keys.userId, value: 'user-1' },
        { key: keys.transId, value: 'trans-1' },
        { key: keys.amount, value: 100 },
        { key: keys.createdAt, value: 1_795_249_234_191 },
      ]),
    });

    const { typedSearchAttributes } = await client.workflow.getHandle('w').describe();
    expect(typedSearchAttributes.get(keys.amount)).toBe(100);
    expect(typedSearchAttributes.get(keys.transId)).toBe('trans-1');
  }, 30_000);
});
