import { answers, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { workerPolls } from '../../stack/processes/stack.js';
import { countEvents, startEmbeddedTemporal } from '../servers/temporal.js';
import { installPeer, peerSettings, peerTarget, startPeer } from './peer.js';
import { Started, type System } from './system.js';

const NAME = 'temporal-textbook';
const TASK_QUEUE = 'payments';
const STOP_GRACE_MS = 10_000;

/**
 * The flow as Temporal's samples would write it, on the same embedded Temporal, with the same settings of the worker.
 */
export const temporalTextbook: System = {
  name: NAME,
  missing: async () => undefined,
  prepare: (report) => installPeer(NAME, report),
  start: (context) =>
    Started.while(async (started) => {
      const temporal = await startEmbeddedTemporal(context.folder, context.report);
      started.add(temporal.stop);
      const port = await freePort();
      const start = async (program: string) => {
        const child = await startPeer(context, NAME, program, {
          ...peerSettings(context, port),
          ...temporal.env,
          TEMPORAL_TASK_QUEUE: TASK_QUEUE,
        });
        started.add(() => child.stop(STOP_GRACE_MS));
        return child;
      };
      const worker = await start('worker');
      const api = await start('api');
      await untilReady(worker, workerPolls(temporal.target, TASK_QUEUE, worker.pid));
      await untilReady(api, () => answers(`http://127.0.0.1:${port}/readyz`));
      return {
        target: peerTarget(port),
        processes: { api: api.pid, worker: worker.pid, ...temporal.processes },
        bytes: temporal.bytes,
        events: (payments) => countEvents(temporal.target, payments),
        stop: () => started.stop(),
      };
    }),
};
