import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { lazyConnection } from '../../src/temporal/connection.js';
import { searchAttributeTypes } from '../../src/temporal/namespace.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

const namespace = 'shared';

/** Search attributes of somebody else's workflows. */
const { INDEXED_VALUE_TYPE_DOUBLE, INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;
const THEIRS = { TheirName: INDEXED_VALUE_TYPE_KEYWORD, TheirNumber: INDEXED_VALUE_TYPE_DOUBLE };

describe('a namespace that Sanaga shares', () => {
  let server: DevServer;
  let connection: Connection;
  let running: RunningStack | undefined;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    connection = lazyConnection(server);
    const workflowExecutionRetentionPeriod = msToTs(30 * 24 * 60 * 60_000);
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const add = () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes: THEIRS });
    await eventually(
      () =>
        add().then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    running = await bringUp({ TEMPORAL_NAMESPACE: namespace }, { temporalAddress: server.address });
  });

  afterAll(async () => {
    await running?.stop();
    await connection.close();
    await server.stop();
  });

  it('takes payments beside search attributes of others, and shows what was paid', async () => {
    const { merchant, call } = running as RunningStack;
    const created = await merchant.create('/v1/collections', { method: 'link', amount: 2_500 }, 'order-1');
    const { id } = created;
    await atCheckout(created.link ?? '', { action: 'pay', phone: '677000000' });
    const paid = { id, status: 'SUCCESSFUL', amountPaid: 2_500 };
    await merchant.waitUntil(id, ({ final }) => final, { limitMs: 40_000 });
    expect(await (await call('GET', `/v1/payments/${id}`)).json()).toMatchObject(paid);
    const list = async () => (await (await call('GET', '/v1/payments?status=SUCCESSFUL')).json()) as { data: object[] };
    expect(await eventually(list, ({ data }) => data.length > 0)).toMatchObject({ data: [paid] });
    const query = `PaymentStatus = 'SUCCESSFUL' AND PaymentKind = 'collection' AND WorkflowId = '${id}'`;
    expect(Number((await connection.workflowService.countWorkflowExecutions({ namespace, query })).count)).toBe(1);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(customAttributes).toEqual({ ...THEIRS, ...searchAttributeTypes });
  });
});
