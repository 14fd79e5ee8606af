import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Connection } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto from '@temporalio/proto';
import type { WorkerHost } from './worker.js';
import { NAMESPACE, TASK_QUEUE } from './worker-parts.js';

/** One worker after the other: when one has ended, the next one gets its tasks. */
export class WorkerSuccession implements WorkerHost {
  readonly #handed = new Set<string>();
  readonly #handOvers: AbortController[] = [];

  constructor(
    private readonly host: WorkerHost,
    private readonly wire: Pick<TemporalWire, 'queues'>,
    private readonly connection: Connection,
  ) {}

  async start(): Promise<void> {
    await this.host.start();
  }

  async stop(): Promise<void> {
    await this.host.stop();
    this.#handOverTasks();
  }

  async kill(): Promise<boolean> {
    const isDead = await this.host.kill();
    if (isDead) this.#handOverTasks();
    return isDead;
  }

  /** Starts another worker in place of one that has failed. */
  async replace(): Promise<void> {
    this.#handOverTasks();
    await this.host.start();
  }

  /** Stops handing tasks over. */
  close(): void {
    for (const handOver of this.#handOvers) handOver.abort();
  }

  #handOverTasks(): void {
    for (const queue of this.wire.queues) {
      if (this.#handed.has(queue)) continue;
      this.#handed.add(queue);
      const handOver = new AbortController();
      this.#handOvers.push(handOver);
      void returnOrphanedTasks(this.connection, queue, handOver.signal);
    }
  }
}

const { TaskQueueKind, WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** Time limit for one poll for tasks, in real ms. */
const POLL_MS = 60_000;

/**
 * Gives the workflow tasks of a worker that is gone back to the others. A real server does so after ten seconds, by
 * itself; the test server leaves a task for ever on the queue of the worker that had the workflow in its memory.
 * Runs until the signal is aborted, for a workflow may sleep for days before its next task.
 */
async function returnOrphanedTasks(connection: Connection, queue: string, signal: AbortSignal): Promise<void> {
  const { workflowService } = connection;
  const taskQueue = { name: queue, kind: TaskQueueKind.TASK_QUEUE_KIND_STICKY, normalName: TASK_QUEUE };
  const common = { namespace: NAMESPACE, identity: 'orphaned-tasks' };
  while (!signal.aborted) {
    try {
      const task = await pollUntil(signal, (end) =>
        connection.withAbortSignal(end, () =>
          connection.withDeadline(Date.now() + POLL_MS, () =>
            workflowService.pollWorkflowTaskQueue({ ...common, taskQueue }),
          ),
        ),
      );
      const { taskToken } = task;
      if (taskToken === undefined || taskToken === null || taskToken.length === 0) continue;
      await workflowService.respondWorkflowTaskFailed({
        ...common,
        taskToken,
        cause: WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
      });
    } catch {
      // The poll or the task has timed out: poll again.
    }
  }
}

/** Each call gets a signal of its own, as the client never removes its listener. */
async function pollUntil<Task>(signal: AbortSignal, poll: (end: AbortSignal) => Promise<Task>): Promise<Task> {
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await poll(end.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** A worker's identity (process id and host) with the digits that it puts behind it to name a queue of its own. */
const QUEUE = new RegExp(`\\d+@${hostname().replace(/\W/g, '\\$&')}-[0-9a-f]{32}`);
const HOST = `@${hostname()}-`;
/** Room for a process id before, and the digits behind. */
const [BEFORE, BEHIND] = [10, 32];

/**
 * The wire between workers and Temporal. It carries every byte as it is, and looks for one thing: the names of the
 * sticky queues of workers, which can't be asked for.
 */
export class TemporalWire {
  /** The queues that were asked for tasks so far. */
  readonly queues = new Set<string>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(host: string, port: number) {
    this.#server = createServer((worker) => {
      const temporal = connect({ host, port, noDelay: true });
      worker.setNoDelay(true);
      this.#pipe(worker, temporal);
      this.#pipe(temporal, worker);
      worker.on('data', (bytes: Buffer) => this.#findQueues(bytes));
    });
  }

  /** @param address `host:port` of the server */
  static async to(address: string): Promise<TemporalWire> {
    const [host = '', port] = address.split(':');
    const wire = new TemporalWire(host, Number(port));
    wire.#server.listen(0, '127.0.0.1');
    await once(wire.#server, 'listening');
    return wire;
  }

  /** Address for workers: `host:port`. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the wire is not connected');
    return `127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #pipe(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }

  #findQueues(bytes: Buffer): void {
    for (let at = bytes.indexOf(HOST); at >= 0; at = bytes.indexOf(HOST, at + 1)) {
      const around = bytes.toString('latin1', Math.max(0, at - BEFORE), at + HOST.length + BEHIND);
      const [queue] = QUEUE.exec(around) ?? [];
      if (queue !== undefined) this.queues.add(queue);
    }
  }
}
