import { setTimeout as pause } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ManualClock } from '../../../sandbox/clock.js';

/** Simulated time stands still: some workflow's task never ends. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

/** Real ms that any sleep may take: a worker that was killed is missed after ten seconds. */
const STALL_MS = 120_000;

/**
 * The time of the time-skipping server, which the sandbox's clock follows. It stands in for the real one everywhere
 * but in limits on how long a connection may take.
 *
 * While nobody sleeps, the server's time goes on with the real one, so it need not be asked; while somebody does, it
 * may jump at any moment.
 */
export class SimulatedTime {
  #known: { readonly time: number; readonly tick: number } | undefined;
  #asking: Promise<number> = Promise.resolve(0);
  #queued: Promise<number> | undefined;

  constructor(
    private readonly env: Pick<TestWorkflowEnvironment, 'currentTimeMs' | 'sleep'>,
    private readonly clock: ManualClock,
  ) {}

  /** Brings the sandbox's clock up to the server's time, and gives it: ms since the epoch. */
  async now(): Promise<number> {
    const time =
      this.#known === undefined
        ? await this.#ask()
        : Math.floor(this.#known.time + performance.now() - this.#known.tick);
    this.clock.advanceTo(time);
    return this.clock.now();
  }

  /**
   * Lets time pass until `time`.
   *
   * @throws StalledError when it doesn't.
   */
  async sleepUntil(time: number): Promise<void> {
    const left = time - (await this.now());
    if (left <= 0) return;
    this.#known = undefined;
    await orStall(this.env.sleep(left), time);
    const now = await this.env.currentTimeMs();
    this.#known = { time: now, tick: performance.now() };
    this.clock.advanceTo(now);
  }

  /** An answer that is under way may be older than the question: all who ask meanwhile share the next one. */
  #ask(): Promise<number> {
    this.#queued ??= this.#asking
      .catch(() => 0)
      .then(() => {
        this.#queued = undefined;
        this.#asking = this.env.currentTimeMs();
        return this.#asking;
      });
    return this.#queued;
  }
}

async function orStall(sleep: Promise<void>, time: number): Promise<void> {
  const woken = new AbortController();
  const stall = pause(STALL_MS, true, { signal: woken.signal }).catch(() => false);
  try {
    const isStalled = await Promise.race([sleep.then(() => false), stall]);
    if (isStalled) throw new StalledError(`time does not get to ${new Date(time).toISOString()}`);
  } finally {
    woken.abort();
  }
}
