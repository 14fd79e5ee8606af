import { runProcess } from '../../src/process/run-process.js';
import { quietRuntime, runSimulatedWorker } from './worker.js';
import { workerSettingsSchema } from './worker-parts.js';

/** A worker in a process of its own, so that it can be killed. Its settings are its one argument, as JSON. */
await runProcess(async (stop) => {
  const settings = workerSettingsSchema.parse(JSON.parse(process.argv[2] ?? ''));
  quietRuntime();
  process.on('disconnect', () => process.exit(1));
  await runSimulatedWorker(settings, stop, { onReady: () => process.send?.('ready') });
  process.disconnect?.();
});
