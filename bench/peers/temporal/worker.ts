import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { setting } from '../payment-services.ts';
import * as activities from './activities.ts';

Runtime.install({ logger: new DefaultLogger('WARN') });
const connection = await NativeConnection.connect({ address: setting('TEMPORAL_ADDRESS') });
const worker = await Worker.create({
  connection,
  namespace: setting('TEMPORAL_NAMESPACE'),
  taskQueue: setting('TEMPORAL_TASK_QUEUE'),
  workflowsPath: fileURLToPath(new URL(`./${setting('WORKFLOWS')}.ts`, import.meta.url)),
  activities,
  // The settings that Sanaga's worker has by default.
  maxCachedWorkflows: 500,
  maxConcurrentWorkflowTaskExecutions: 40,
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentLocalActivityExecutions: 100,
  workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 4, maximum: 8 },
});
await worker.run();
await connection.close();
