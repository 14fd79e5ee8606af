import { answers, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { workerPolls } from '../../stack/processes/stack.js';
import { countEvents, startEmbeddedTemporal } from '../servers/temporal.js';
import { peerSettings, peerTarget, startPeer } from './peer.js';
import { Started, type System, type SystemContext } from './system.js';

const TASK_QUEUE = 'payments';
const STOP_GRACE_MS = 10_000;

/**
 * The flow as Temporal's samples would write it, on the same embedded Temporal, with the same settings of the worker.
 */
export const temporalTextbook: System = {
  name: 'temporal-textbook',
  missing: async () => undefined,
  prepare: async () => undefined,
  start: (context) => startTemporal(context, 'textbook'),
};

/**
 * The least that a payment costs on the same Temporal, without the call stacks that the SDK keeps and Sanaga's worker
 * doesn't.
 */
export const temporalFloor: System = {
  name: 'temporal-floor',
  missing: async () => undefined,
  prepare: async () => undefined,
  start: (context) => startTemporal(context, 'floor', { NODE_OPTIONS: '--stack-trace-limit=0' }),
};

function startTemporal(context: SystemContext, name: 'textbook' | 'floor', env: NodeJS.ProcessEnv = {}) {
  return Started.while(async (started) => {
    const temporal = await startEmbeddedTemporal(context.folder, context.report);
    started.add(temporal.stop);
    const port = await freePort();
    const start = async (program: string) => {
      const child = await startPeer(context, 'temporal', program, {
        ...peerSettings(context, port),
        ...temporal.env,
        ...env,
        TEMPORAL_TASK_QUEUE: TASK_QUEUE,
        WORKFLOWS: `${name}-workflows`,
      });
      started.add(() => child.stop(STOP_GRACE_MS));
      return child;
    };
    const worker = await start('worker');
    const api = await start(`${name}-api`);
    await untilReady(worker, workerPolls(temporal.target, TASK_QUEUE, worker.pid));
    await untilReady(api, () => answers(`http://127.0.0.1:${port}/readyz`));
    return {
      target: peerTarget(port),
      processes: { api: api.pid, worker: worker.pid, ...temporal.processes },
      bytes: temporal.bytes,
      events: (payments) => countEvents(temporal.target, payments),
      stop: () => started.stop(),
    };
  });
}
