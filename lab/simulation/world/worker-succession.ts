import type { Connection } from '@temporalio/client';
import { returnOrphanedTasks } from './orphaned-tasks.js';
import type { TemporalWire } from './temporal-wire.js';
import type { WorkerHost } from './worker-host.js';

/** One worker after the other: when one has ended, what it leaves behind goes to the next. */
export class WorkerSuccession implements WorkerHost {
  readonly #buried = new Set<string>();
  readonly #burials: AbortController[] = [];

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
    this.#bury();
  }

  async kill(): Promise<boolean> {
    const isDead = await this.host.kill();
    if (isDead) this.#bury();
    return isDead;
  }

  /** Nothing is passed on any more. */
  close(): void {
    for (const burial of this.#burials) burial.abort();
  }

  #bury(): void {
    for (const queue of this.wire.queues) {
      if (this.#buried.has(queue)) continue;
      this.#buried.add(queue);
      const burial = new AbortController();
      this.#burials.push(burial);
      void returnOrphanedTasks(this.connection, queue, burial.signal);
    }
  }
}
