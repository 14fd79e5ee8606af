import type { PaymentProcess } from '../../stack/processes/stack.js';
import { type ChaosContext, wait } from '../chaos/context.js';
import { Counts } from '../counts.js';
import { isEndAcknowledged } from '../people/observed-payment.js';
import type { PlannedKill, PlannedOutage } from '../plan/server-faults.js';
import { addFaults, readFaults } from '../world/provider-books.js';
import { chaosFaultRules } from './provider-faults.js';

/** A process that is killed: one of a payment's, or the records' database. */
type Target = PaymentProcess | 'records';

/** Updates sent just before Temporal is killed, at most one for each open payment, and their head start in ms. */
const UPDATES = 12;
const UNDER_WAY_MS = 25;

/** Tries to start a process. */
const MAX_TRIES = 3;

/**
 * Kills processes as planned, and starts each again, as a supervisor would. A process that ends by itself is
 * reported, and started again as well.
 */
export class Killer {
  /** Kills of each process. */
  readonly kills: Record<PaymentProcess, number> = { worker: 0, api: 0, sandbox: 0, temporal: 0 };
  /**
   * The provider's faults, the records' outages, and the updates that were under way when Temporal was killed, by kind.
   */
  readonly faults = new Counts();
  /** Processes that ended by themselves, and how. */
  readonly collapses: string[] = [];
  readonly #killed = new Set<number | undefined>();
  readonly #queues = new Map<Target, Promise<void>>();
  #lives = 0;

  constructor(private readonly context: ChaosContext) {}

  /** Watches the processes, and activates the faults of the first sandbox process. */
  async start(): Promise<void> {
    for (const name of ['temporal', 'sandbox', 'worker', 'api'] as const) this.#watch(name);
    if (this.context.stack.recordsUrl !== undefined) this.#watch('records');
    await this.#orderFaults();
  }

  /** Kills, and takes the records away, as planned; resolves when every process is up again. */
  async run(kills: readonly PlannedKill[], outages: readonly PlannedOutage[] = []): Promise<void> {
    const begun = performance.now();
    const plan = [
      ...kills.map(({ target, at, downMs }) => ({ target, at, act: () => this.#kill(target, downMs) })),
      ...outages.map((outage) => ({
        target: 'records' as const,
        at: outage.at,
        act: () => this.#withhold(outage),
      })),
    ];
    for (const { target, at, act } of plan.sort((one, other) => one.at - other.at)) {
      await wait(begun + at - performance.now(), this.context);
      this.#queue(target, act);
    }
    await this.settled();
  }

  /** Resolves when every process that was to be started again is up. */
  async settled(): Promise<void> {
    await Promise.all(this.#queues.values());
  }

  /** Adds the faults that the present sandbox process has counted. */
  async countFaults(): Promise<void> {
    const counts = await readFaults(this.context.stack.sandboxUrl).catch(() => ({}));
    this.faults.addAll(Object.entries(counts));
  }

  /** Does one thing after the other to a process. */
  #queue(target: Target, act: () => Promise<void>): void {
    const queue = (this.#queues.get(target) ?? Promise.resolve()).then(act);
    this.#queues.set(target, queue);
    // settled() rejects with it; until then it must not be an unhandled rejection.
    queue.catch(() => undefined);
  }

  async #kill(target: PaymentProcess, downMs: number): Promise<void> {
    const { stack, report } = this.context;
    if (target === 'sandbox') await this.countFaults();
    const underWay = target === 'temporal' ? await this.#askForUpdates() : 0;
    this.#killed.add(this.#processOf(target).pid);
    await stack.kill(target);
    if (underWay > 0) this.faults.add('updateUnderWay', underWay);
    this.kills[target]++;
    report(`killed ${target}, away for ${downMs} ms`);
    await wait(downMs, this.context);
    await this.#startAgain(target);
  }

  /**
   * Has open payments ask the provider, all at once: an update that Temporal has in memory alone while its workflow
   * task runs.
   *
   * @returns how many of them are not answered yet
   */
  async #askForUpdates(): Promise<number> {
    const { records, api } = this.context;
    const open = records.filter((record) => record.taken && !isEndAcknowledged(record)).slice(-UPDATES);
    let answered = 0;
    for (const { planned } of open) {
      void api.post('operator', `/v1/payments/${planned.id}/refresh`).finally(() => {
        answered += 1;
      });
    }
    await wait(open.length === 0 ? 0 : UNDER_WAY_MS, this.context);
    return open.length - answered;
  }

  /** Kills the records' database, or lets it stand still with its connections open. */
  async #withhold({ kind, forMs }: PlannedOutage): Promise<void> {
    const { stack, report } = this.context;
    const { pid } = stack.part('records');
    this.faults.add(kind);
    if (kind === 'recordsAway') {
      this.#killed.add(pid);
      await stack.kill('records');
      report(`killed records, away for ${forMs} ms`);
      await wait(forMs, this.context);
      await this.#startAgain('records');
      return;
    }
    process.kill(pid, 'SIGSTOP');
    report(`records answer nothing for ${forMs} ms`);
    try {
      await wait(forMs, this.context);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  async #startAgain(target: Target): Promise<void> {
    const { stack, report, over } = this.context;
    for (let tries = 1; ; tries++) {
      over.throwIfAborted();
      try {
        if (target === 'temporal') await stack.restartTemporal();
        else await stack.restart(target);
        break;
      } catch (error) {
        const failure = `${target} didn't start: ${error instanceof Error ? error.message : error}`;
        // What has ended by itself before may be why.
        if (tries === MAX_TRIES) throw new Error([...this.collapses, failure].join('\n'), { cause: error });
        report(failure);
      }
    }
    this.#watch(target);
    if (target === 'sandbox') await this.#orderFaults();
  }

  #watch(target: Target): void {
    const { pid, ended } = this.#processOf(target);
    void ended.then((how) => {
      if (this.#killed.has(pid) || this.context.over.aborted) return;
      this.collapses.push(`${target} ended by itself with ${how}`);
      this.#queue(target, () => this.#startAgain(target));
    });
  }

  #processOf(target: Target) {
    const { stack } = this.context;
    return target === 'temporal' ? stack.temporal : stack.part(target);
  }

  async #orderFaults(): Promise<void> {
    const { seed, stack } = this.context;
    await addFaults(stack.sandboxUrl, chaosFaultRules(seed, this.#lives++));
  }
}
