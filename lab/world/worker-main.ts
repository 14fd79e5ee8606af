import { runProcess } from '../../src/process/run-process.js';
import { createPaymentWorker } from '../../src/worker/payment-worker.js';
import { connectWorker, quietRuntime, workerParts, workerSettingsSchema } from './worker.js';

/** A worker in a process of its own, so that it can be killed. Its settings are its one argument, as JSON. */
await runProcess(async (stop) => {
  const settings = workerSettingsSchema.parse(JSON.parse(process.argv[2] ?? ''));
  quietRuntime();
  const connection = await connectWorker(settings);
  const { options, activities, close } = workerParts(settings, connection);
  try {
    const worker = await createPaymentWorker({ ...options, connection, activities });
    stop.addEventListener('abort', () => worker.shutdown(), { once: true });
    process.on('disconnect', () => process.exit(1));
    process.send?.('ready');
    if (!stop.aborted) await worker.run();
  } finally {
    await connection.close();
    close();
  }
  process.disconnect?.();
});
