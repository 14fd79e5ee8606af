import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { workflowPollers } from '../../src/temporal/connection.js';
import { type StatementSteps, statementsQueue } from '../../src/workflows/messages.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually } from '../support/eventually.js';
import { closeServers } from '../support/local-servers.js';
import { createLonelyWorker } from '../support/payment-worker.js';

const TASK_QUEUE = 'payments';

const nothing = async () => undefined;
const noSteps: StatementSteps = {
  readBalances: nothing,
  readPayments: nothing,
  searchDay: nothing,
  lookUpPayments: nothing,
  comparePayments: nothing,
  followUp: nothing,
  publish: () => Promise.reject(new Error('no statement is made here')),
};

describe('a worker', () => {
  let server: DevServer;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
    server = await startDevServer({
      ui: false,
      report: () => undefined,
      // Polls then stay at the partition that they come to, as many do of several workers.
      dynamicConfig: { 'matching.forwarderMaxOutstandingPolls': '0' },
    });
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await closeServers();
    await server.stop();
  });

  const connect = () => NativeConnection.connect({ address: server.address });
  const create = (connection: NativeConnection) =>
    createLonelyWorker({
      connection,
      taskQueue: TASK_QUEUE,
      workflowBundle: workflowBundle(),
      statementSteps: noSteps,
    });

  it('that is shut down before it runs stops at once, and lets go of its connection', async () => {
    const connection = await connect();
    const worker = await create(connection);
    worker.shutdown();
    await worker.run();
    await connection.close();
  });

  it('lets Temporal choose how many polls it has for tasks of workflows, up to eight', async () => {
    const connection = await connect();
    const make = jest.spyOn(Worker, 'create');
    const worker = await create(connection);
    const made = (await Promise.all(make.mock.results.map(({ value }) => value))) as Worker[];
    worker.shutdown();
    await worker.run();
    await connection.close();

    const payments = made.filter(({ options }) => options.taskQueue === TASK_QUEUE);
    expect(payments.map(({ options }) => options.workflowTaskPollerBehavior)).toEqual([
      expect.objectContaining({ type: 'autoscaling', minimum: 4, maximum: 8 }),
    ]);
  });

  it('of which a part can not be made lets go of its connection, too', async () => {
    const connection = await connect();
    const other = await Worker.create({
      connection,
      taskQueue: statementsQueue(TASK_QUEUE),
      activities: { other: async () => undefined },
    });
    await expect(create(connection)).rejects.toThrow(/task queue/);
    const running = other.run();
    other.shutdown();
    await running;
    await connection.close();
  });

  it('is seen to ask for work, whichever of the queue’s partitions its polls come to, and with a version', async () => {
    const stops: (() => Promise<void>)[] = [];
    const start = async (identity: string, maximum: number, buildId?: string) => {
      const connection = await connect();
      const worker = await Worker.create({
        ...{ connection, identity, taskQueue: 'seen', workflowBundle: workflowBundle() },
        workflowTaskPollerBehavior: { type: 'simple-maximum', maximum },
        ...(buildId !== undefined && {
          workerDeploymentOptions: {
            version: { deploymentName: 'sanaga', buildId },
            useWorkerVersioning: true,
            defaultVersioningBehavior: 'AUTO_UPGRADE',
          },
        }),
      });
      const running = worker.run();
      stops.push(async () => {
        worker.shutdown();
        await running;
        await connection.close();
      });
    };
    const asking = await connect();
    try {
      // The first one's polls are at all partitions. Few of the others' come to the first partition.
      await start('many', 40);
      for (const name of ['one', 'two', 'three']) await start(name, 2);
      await start('versioned', 2, '7');
      const seen = async () => {
        const pollers = await workflowPollers(asking, 'default', 'seen', 'sanaga:7');
        return [...new Set(pollers.map(({ identity }) => identity))].sort();
      };
      const all = ['many', 'one', 'three', 'two', 'versioned'];
      expect(await eventually(seen, ({ length }) => length === all.length)).toEqual(all);
    } finally {
      await Promise.all(stops.map((stop) => stop()));
      await asking.close();
    }
  });
});
