import { NativeConnection } from '@temporalio/worker';
import type { Activities } from '../../../src/activities/activities.js';
import { createPaymentWorker } from '../../../src/payment-worker.js';
import type { WorkerHost } from './worker-host.js';
import { connectionOptions, type WorkerSettings, workerParts } from './worker-settings.js';

/** A worker beside everything else: it can be stopped and started, but not killed. */
export function workerInThisProcess(
  settings: WorkerSettings,
  wrapActivities: (activities: Activities) => Activities,
): WorkerHost {
  let running: { readonly shutdown: () => void; readonly ended: Promise<void> } | undefined;
  return {
    async start() {
      const { options, activities, close } = workerParts(settings);
      const connection = await NativeConnection.connect(connectionOptions(settings));
      const worker = await createPaymentWorker({
        ...options,
        connection,
        activities: wrapActivities(activities),
      });
      running = { shutdown: () => worker.shutdown(), ended: end(worker.run(), connection, close) };
    },
    async stop() {
      running?.shutdown();
      await running?.ended;
      running = undefined;
    },
    kill: () => Promise.resolve(false),
  };
}

async function end(running: Promise<void>, connection: NativeConnection, close: () => void): Promise<void> {
  try {
    await running;
  } finally {
    await connection.close();
    close();
  }
}
