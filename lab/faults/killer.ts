import { setTimeout as pause } from 'node:timers/promises';
import { type ChaosContext, wait } from '../chaos/context.js';
import type { LostTime } from '../chaos/end.js';
import { Counts } from '../counts.js';
import { isEndAcknowledged } from '../people/observed-payment.js';
import type { KillTarget, PlannedKill, PlannedOutage, PlannedRestore } from '../plan/server-faults.js';
import { addFaults, readFaults } from '../world/provider-books.js';
import { copyPostgres, copyTemporal, type StoreCopy } from '../world/stores.js';
import { chaosFaultRules } from './provider-faults.js';

/** Refreshes asked for just before a store is killed, at most one for each open payment, and their head start in ms. */
const REFRESHES = 12;
const UNDER_WAY_MS = 25;

/** Tries to start a process, and the pause between two, in ms. */
const MAX_TRIES = 3;
const PAUSE_MS = 500;

/**
 * Kills processes as planned, and starts each again, as a supervisor would. A process that ends by itself is
 * reported, and started again as well.
 */
export class Killer {
  /** Kills of each process. */
  readonly kills: Record<KillTarget, number> = { worker: 0, api: 0, sandbox: 0, temporal: 0, book: 0 };
  /** The provider's faults, the book's outages, and both stores' returns to an older copy, by kind. */
  readonly faults = new Counts();
  /** Processes that ended by themselves, and how. */
  readonly collapses: string[] = [];
  readonly #killed = new Set<number | undefined>();
  /** The time that the book has lost, in ms since the epoch, once it was restored. */
  lost: LostTime | undefined;
  readonly #queues = new Map<KillTarget, Promise<void>>();
  readonly #copies = new Map<PlannedRestore['store'], { readonly at: number; readonly copy: StoreCopy }>();
  #lives = 0;

  constructor(private readonly context: ChaosContext) {}

  /** Watches the processes, and activates the faults of the first sandbox process. */
  async start(): Promise<void> {
    for (const name of ['temporal', 'sandbox', 'worker', 'api', 'book'] as const) this.#watch(name);
    await this.#orderFaults();
  }

  /** Kills, takes the book away, and restores stores, as planned; resolves when every process is up again. */
  async run(
    kills: readonly PlannedKill[],
    outages: readonly PlannedOutage[] = [],
    restores: readonly PlannedRestore[] = [],
  ): Promise<void> {
    const begun = performance.now();
    const plan = [
      ...kills.map(({ target, at, downMs }) => ({ target, at, act: () => this.#kill(target, downMs) })),
      ...outages.map((outage) => ({
        target: 'book' as const,
        at: outage.at,
        act: () => this.#withhold(outage),
      })),
      ...restores.flatMap(({ store, copiedAt, restoredAt }) => [
        { target: store, at: copiedAt, act: () => this.#copy(store) },
        { target: store, at: restoredAt, act: () => this.#restore(store) },
      ]),
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
  #queue(target: KillTarget, act: () => Promise<void>): void {
    const queue = (this.#queues.get(target) ?? Promise.resolve()).then(act);
    this.#queues.set(target, queue);
    // settled() rejects with it; until then it must not be an unhandled rejection.
    queue.catch(() => undefined);
  }

  async #kill(target: KillTarget, downMs: number): Promise<void> {
    const { report } = this.context;
    if (target === 'sandbox') await this.countFaults();
    if (target === 'temporal' || target === 'book') await this.#askForRefreshes();
    await this.#end(target);
    this.kills[target]++;
    report(`killed ${target}, away for ${downMs} ms`);
    await wait(downMs, this.context);
    await this.#startAgain(target);
  }

  async #end(target: KillTarget): Promise<void> {
    const { stack, book } = this.context;
    this.#killed.add(this.#processOf(target).pid);
    await (target === 'book' ? book.kill() : stack.kill(target));
  }

  /** Has open payments ask the provider, all at once: messages, turns and bells are then under way. */
  async #askForRefreshes(): Promise<void> {
    const { records, api } = this.context;
    const open = records.filter((record) => record.taken && !isEndAcknowledged(record)).slice(-REFRESHES);
    for (const { planned } of open) void api.post('operator', `/v1/payments/${planned.id}/refresh`);
    await wait(open.length === 0 ? 0 : UNDER_WAY_MS, this.context);
  }

  /** Kills the book's PostgreSQL, or lets it stand still with its connections open. */
  async #withhold({ kind, forMs }: PlannedOutage): Promise<void> {
    const { book, report } = this.context;
    this.faults.add(kind);
    if (kind === 'bookAway') {
      await this.#end('book');
      report(`killed the book, away for ${forMs} ms`);
      await wait(forMs, this.context);
      await this.#startAgain('book');
      return;
    }
    const thaw = await book.freeze();
    report(`the book answers nothing for ${forMs} ms`);
    try {
      await wait(forMs, this.context);
    } finally {
      thaw();
    }
  }

  /** Copies a store's files while it is halted. */
  async #copy(store: PlannedRestore['store']): Promise<void> {
    const { book, temporalFile, report } = this.context;
    // The book is halted in order: what it has committed by now is all in its files.
    if (store === 'book') {
      this.#killed.add(book.pid);
      await book.halt();
    } else await this.#end(store);
    const copy = store === 'book' ? await copyPostgres(book) : await copyTemporal(temporalFile);
    this.#copies.set(store, { at: Date.now(), copy });
    report(`copied the files of ${store}`);
    await this.#startAgain(store);
  }

  /** Puts the older copy in the place of a store's files. */
  async #restore(store: PlannedRestore['store']): Promise<void> {
    const kept = this.#copies.get(store);
    if (kept === undefined) throw new Error(`${store} was never copied`);
    await this.#end(store);
    await kept.copy.restore();
    if (store === 'book') this.lost = { from: kept.at, to: Date.now() };
    this.faults.add(`${store}Restored`);
    this.context.report(`${store} has gone back by ${Math.round((Date.now() - kept.at) / 1_000)} s`);
    await this.#startAgain(store);
  }

  async #startAgain(target: KillTarget): Promise<void> {
    const { stack, book, report, over } = this.context;
    for (let tries = 1; ; tries++) {
      over.throwIfAborted();
      try {
        if (target === 'temporal') await stack.restartTemporal();
        else if (target === 'book') await book.start();
        else await stack.restart(target);
        break;
      } catch (error) {
        const failure = `${target} didn't start: ${error instanceof Error ? error.message : error}`;
        // What has ended by itself before may be why.
        if (tries === MAX_TRIES) throw new Error([...this.collapses, failure].join('\n'), { cause: error });
        report(failure);
        await pause(PAUSE_MS);
      }
    }
    this.#watch(target);
    if (target === 'sandbox') await this.#orderFaults();
  }

  #watch(target: KillTarget): void {
    const { pid, ended } = this.#processOf(target);
    void ended.then((how) => {
      if (this.#killed.has(pid) || this.context.over.aborted) return;
      this.collapses.push(`${target} ended by itself with ${how}`);
      this.#queue(target, () => this.#startAgain(target));
    });
  }

  #processOf(target: KillTarget) {
    const { stack, book } = this.context;
    if (target === 'book') return book;
    return target === 'temporal' ? stack.temporal : stack.part(target);
  }

  async #orderFaults(): Promise<void> {
    const { seed, stack } = this.context;
    await addFaults(stack.sandboxUrl, chaosFaultRules(seed, this.#lives++));
  }
}
