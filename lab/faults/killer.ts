import type { StackProcess } from '../../stack/processes/stack.js';
import { type ChaosContext, wait } from '../chaos/context.js';
import { Counts } from '../counts.js';
import type { PlannedKill } from '../plan/server-faults.js';
import { orderFaults, readFaults } from '../world/provider-books.js';
import { chaosFaultRules } from './provider-faults.js';

/** Tries to start a process again. */
const MAX_TRIES = 3;

/**
 * Kills processes as planned, and starts each again, as a supervisor would. A process that dies by itself is told of,
 * and started again as well.
 */
export class Killer {
  /** Deaths by our hand, by process. */
  readonly kills: Record<StackProcess, number> = { worker: 0, api: 0, sandbox: 0, temporal: 0 };
  /** Faults of the provider's own. */
  readonly faults = new Counts();
  /** Deaths by no hand of ours, with how they came. */
  readonly collapses: string[] = [];
  readonly #killed = new Set<number | undefined>();
  readonly #queues = new Map<StackProcess, Promise<void>>();
  #lives = 0;

  constructor(private readonly context: ChaosContext) {}

  /** Watches over the processes, and puts the first provider's faults in force. */
  async start(): Promise<void> {
    for (const name of ['temporal', 'sandbox', 'worker', 'api'] as const) this.#watch(name);
    await this.#orderFaults();
  }

  /** Resolves when all that were planned are dead and up again. */
  async run(plan: readonly PlannedKill[]): Promise<void> {
    const begun = performance.now();
    for (const { target, at, downMs } of plan) {
      await wait(begun + at - performance.now(), this.context);
      this.#queue(target, () => this.#kill(target, downMs));
    }
    await this.settled();
  }

  /** Resolves when every process that was to be started again is up. */
  async settled(): Promise<void> {
    await Promise.all(this.#queues.values());
  }

  /** Takes down the faults that the provider's present process has counted. */
  async countFaults(): Promise<void> {
    const counts = await readFaults(this.context.stack.sandboxUrl).catch(() => ({}));
    this.faults.addAll(Object.entries(counts));
  }

  /** What happens to one process happens one after the other. */
  #queue(target: StackProcess, act: () => Promise<void>): void {
    const queue = (this.#queues.get(target) ?? Promise.resolve()).then(act);
    this.#queues.set(target, queue);
    // Whoever waits for the queues hears of it; until then it mustn't end us.
    queue.catch(() => undefined);
  }

  async #kill(target: StackProcess, downMs: number): Promise<void> {
    const { stack, report } = this.context;
    if (target === 'sandbox') await this.countFaults();
    this.#killed.add(this.#processOf(target).pid);
    await stack.kill(target);
    this.kills[target]++;
    report(`killed ${target}, away for ${downMs} ms`);
    await wait(downMs, this.context);
    await this.#startAgain(target);
  }

  async #startAgain(target: StackProcess): Promise<void> {
    const { stack, report, over } = this.context;
    for (let tries = 1; ; tries++) {
      over.throwIfAborted();
      try {
        if (target === 'temporal') await stack.restartTemporal();
        else await stack.restart(target);
        break;
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        report(`${target} did not start: ${error instanceof Error ? error.message : error}`);
      }
    }
    this.#watch(target);
    if (target === 'sandbox') await this.#orderFaults();
  }

  #watch(target: StackProcess): void {
    const { pid, ended } = this.#processOf(target);
    void ended.then((how) => {
      if (this.#killed.has(pid) || this.context.over.aborted) return;
      this.collapses.push(`${target} ended by itself with ${how}`);
      this.#queue(target, () => this.#startAgain(target));
    });
  }

  #processOf(target: StackProcess) {
    const { stack } = this.context;
    return target === 'temporal' ? stack.temporal : stack.part(target);
  }

  async #orderFaults(): Promise<void> {
    const { seed, stack } = this.context;
    await orderFaults(stack.sandboxUrl, chaosFaultRules(seed, this.#lives++));
  }
}
