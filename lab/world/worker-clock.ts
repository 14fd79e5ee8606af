import { setInterval as every } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';
import { retryUntilClosed } from '../../src/temporal/connection.js';

/** Between two looks at the server's time, in real ms. */
const LOOK_MS = 100;

/**
 * The time-skipping server's time in a worker. It may jump at any moment but while a task is under way: each activity
 * asks for it first, and what a worker does beside its tasks may lag a moment behind.
 */
export class WorkerClock {
  #known = { time: 0, tick: 0 };
  readonly #stop = new AbortController();

  private constructor(
    private readonly connection: Connection,
    private readonly server: NonNullable<Connection['testService']>,
  ) {}

  static async on(address: string): Promise<WorkerClock> {
    const options = {
      address,
      // A look that waits to be made again would otherwise be made on the closed connection, and end the process.
      interceptors: retryUntilClosed(),
      [InternalConnectionOptionsSymbol]: { supportsTestService: true },
    };
    const connection = await Connection.connect(options);
    if (connection.testService === undefined) throw new Error('only the test server has a time of its own');
    const clock = new WorkerClock(connection, connection.testService);
    await clock.look();
    void clock.#follow();
    return clock;
  }

  /** ms since the epoch, as far as it is known. */
  readonly now = (): number => Math.floor(this.#known.time + performance.now() - this.#known.tick);

  /** Asks the server. */
  async look(): Promise<void> {
    const { time } = await this.server.getCurrentTime({});
    const ms = Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6);
    this.#known = { time: Math.max(ms, this.now()), tick: performance.now() };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.connection.close();
  }

  async #follow(): Promise<void> {
    try {
      for await (const _ of every(LOOK_MS, undefined, { signal: this.#stop.signal })) await this.look();
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }
}
