import { setTimeout as pause } from 'node:timers/promises';
import { type LoadProcess, startLoadProcess } from '../load/load-process.js';
import type { Payer } from '../load/messages.js';
import { load, measure, warmUp, whileRunning } from '../measure.js';
import type { Load } from '../options.js';
import { readMemory, withMemory } from '../servers/memory.js';
import { sanaga, sanagaPostgres } from '../systems/sanaga.js';
import type { RunningSystem, System } from '../systems/system.js';
import { type GrowthFigures, type GrowthPoint, itemAt, withItem } from './figures.js';
import { measureLists } from './lists.js';
import type { GrowthOptions, GrowthSystem } from './options.js';

/** Share of the open payments that is under review; the others wait for their webhook. */
const REVIEW_SHARE = 0.05;
/** Open payments are made this many at a time: more would only wait longer. */
const MAKING_CONCURRENCY = 32;
/** Progress is told after so many. */
const BATCH = 500;
/** Number of batches in a row with failed payments after which the run is given up. */
const MAX_FAILURES = 5;
/** Waiting payments that are paid at the end of each size. */
const MAX_PAID = 100;
const PAYING_CONCURRENCY = 8;
/** Pause before anything is measured while nothing happens, and after a run that failed, in ms. */
const SETTLE_MS = 10_000;

/**
 * Payments that wait are asked after a day, and not meanwhile: with the default, they would be asked some 30 times a
 * day each, and the figures would depend on when they were made.
 */
const settings = { POLL_FIRST: '1d', POLL_MAX: '1d' };

const SYSTEMS: Readonly<Record<GrowthSystem, System>> = {
  sanaga: sanaga({ settings }),
  'sanaga-postgres': sanagaPostgres({ settings }),
};

/** The payers of payments that stay open. */
type OpenPayer = Exclude<Payer, 'pays'>;

export interface GrowthContext {
  readonly report: (line: string) => void;
  readonly stop: AbortSignal;
  /** Called with everything so far, after each measurement. */
  readonly keep: (figures: GrowthFigures) => Promise<void>;
}

/** Payments a second by which times are guessed, before anything was measured: open ones, and whole ones. */
const GUESS = { made: 40, paid: 25 } as const;

/** The measurements that were asked for and are still missing. */
type Plan = Pick<GrowthOptions, 'sizes' | 'loads'>;

function isLacking({ loads }: Plan, { points, sizes }: GrowthFigures, size: number): boolean {
  const hasLoads = loads.every(({ concurrency }) => itemAt(points, { size, concurrency }) !== undefined);
  const known = itemAt(sizes, { size });
  return !hasLoads || known === undefined || (size > 0 && known.paid === undefined);
}

/** Reports whether nothing is left to measure. */
export function isWhole(plan: Plan, before: GrowthFigures): boolean {
  return !plan.sizes.some((size) => isLacking(plan, before, size));
}

/** Describes the payments still to be made, and roughly how long that takes. */
export function estimate(plan: Plan, before: GrowthFigures): string {
  const sizes = plan.sizes.filter((size) => isLacking(plan, before, size));
  const open = Math.max(0, ...sizes);
  const loads = sizes.flatMap((size) =>
    plan.loads.filter(({ concurrency }) => itemAt(before.points, { size, concurrency }) === undefined),
  );
  const others = loads.reduce((sum, { payments, concurrency }) => sum + payments + concurrency, 0);
  const minutes = Math.ceil((open / GUESS.made + others / GUESS.paid) / 60) + sizes.length;
  const counts = `${open.toLocaleString('en-US')} open payments and ${others.toLocaleString('en-US')} paid ones`;
  return `${counts}: about ${minutes} minutes, where ${GUESS.made} open payments or ${GUESS.paid} paid ones are made a second`;
}

/**
 * Measures at each size every concurrency in turn. What `before` has already isn't measured again.
 *
 * @throws Error when the system doesn't start, or open payments can't be made
 */
export async function runGrowth(
  options: GrowthOptions,
  before: GrowthFigures,
  context: GrowthContext,
): Promise<GrowthFigures> {
  const { report, stop } = context;
  const system = SYSTEMS[options.system];
  const missing = await system.missing();
  if (missing !== undefined) throw new Error(`${system.name} can't run here: ${missing}`);
  await system.prepare(report);
  const process = await startLoadProcess(stop);
  try {
    return await whileRunning(system, process, context, (running) =>
      new Growth(process, running, options, before, context).run(),
    );
  } finally {
    process.stop();
  }
}

class Growth {
  #waiting = 0;
  #inReview = 0;

  constructor(
    private readonly process: LoadProcess,
    private readonly running: RunningSystem,
    private readonly options: GrowthOptions,
    private figures: GrowthFigures,
    private readonly context: GrowthContext,
  ) {}

  async run(): Promise<GrowthFigures> {
    const { loads } = this.options;
    const sizes = this.options.sizes.filter((size) => isLacking(this.options, this.figures, size));
    await warmUp(this.process, this.running.target, 'growth', loads, { repeatsRefused: true });
    for (const size of sizes) {
      await this.#measureSize(size);
      for (const each of loads) {
        const isKnown = itemAt(this.figures.points, { size, concurrency: each.concurrency }) !== undefined;
        if (!isKnown) await this.#measureLoad(size, each);
      }
      if (size > 0) await this.#payWaiting(size);
    }
    return this.figures;
  }

  async #measureSize(size: number): Promise<void> {
    const { madePerSecond, unmade } = await this.#grow(size);
    await this.#pause();
    const { running } = this;
    const memory = await readMemory(running.processes);
    const lists = await measureLists(running.target);
    const found = {
      ...{ size, inReview: this.#inReview, madePerSecond, bytes: await running.bytes(), memory },
      ...(unmade.length > 0 && { unmade }),
    };
    await this.#keep({ ...this.figures, sizes: withItem(this.figures.sizes, { ...found, ...lists }) });
    this.context.report(
      `${open(size)}: newest ${lists.newest.p50.toFixed(0)} ms, REVIEW queue ${lists.review.p50.toFixed(0)} ms`,
    );
  }

  /**
   * Makes open payments until there are a given number.
   *
   * @returns how many a second, `undefined` when there were enough; and what was wrong with those that had to be made
   *   in place of others
   */
  async #grow(size: number): Promise<{ madePerSecond: number | undefined; unmade: string[] }> {
    const unmade: string[] = [];
    const begun = performance.now();
    const before = this.#waiting + this.#inReview;
    const inReview = Math.round(size * REVIEW_SHARE);
    const made = () => this.#waiting + this.#inReview - before;
    const perSecond = () => made() / ((performance.now() - begun) / 1_000);
    for (let failures = 0; ; ) {
      const [payer, missing]: [OpenPayer, number] =
        this.#inReview < inReview
          ? ['disputes', inReview - this.#inReview]
          : ['waits', size - inReview - this.#waiting];
      if (missing <= 0) return { madePerSecond: made() > 0 ? perSecond() : undefined, unmade };
      try {
        await this.#make(payer, Math.min(BATCH, missing));
        failures = 0;
      } catch (error) {
        // One payment of thousands may go wrong, and hours would be lost: more are made until there are enough.
        if (this.context.stop.aborted || ++failures === MAX_FAILURES) throw error;
        const why = error instanceof Error ? error.message : String(error);
        this.context.report(`some payments failed: ${why}`);
        unmade.push(why);
        await this.#pause();
      }
      const minutes = Math.ceil((size - before - made()) / perSecond() / 60);
      const count = (before + made()).toLocaleString('en-US');
      this.context.report(`${count} of ${open(size)}: ${perSecond().toFixed(0)} a second, ${minutes} minutes left`);
    }
  }

  async #make(payer: OpenPayer, payments: number): Promise<void> {
    const { target } = this.running;
    const order = { kind: 'make', target, payments, payer, repeatsRefused: true } as const;
    const name = `growth-${payer}-${Date.now()}`;
    const pace = { concurrency: MAKING_CONCURRENCY };
    const { waiting, inReview, why } = await load(this.process, { ...order, name, pace }, 'prepared');
    this.#waiting = waiting;
    this.#inReview += inReview;
    if (why !== undefined) throw new Error(why);
  }

  async #measureLoad(size: number, one: Load): Promise<void> {
    const { report, stop } = this.context;
    const { concurrency, payments } = one;
    const where = `${open(size)}, ${concurrency} at a time`;
    try {
      const { result: run, memory } = await withMemory(this.running.processes, () =>
        measure(this.process, this.running, `growth-${size}`, one, { repeatsRefused: true }),
      );
      const point: GrowthPoint = { size, concurrency, payments, run, memory };
      const failures = this.figures.failures.filter((each) => each.size !== size || each.concurrency !== concurrency);
      await this.#keep({ ...this.figures, points: withItem(this.figures.points, point), failures });
      report(`${where}: ${run.perSecond.toFixed(1)} payments/s, POST to link ${run.startP99.toFixed(0)} ms at p99`);
    } catch (error) {
      stop.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      report(`${where}: FAILED: ${why}`);
      const failures = withItem(this.figures.failures, { size, concurrency, payments, why });
      await this.#keep({ ...this.figures, failures });
      await this.#pause();
    }
  }

  async #payWaiting(size: number): Promise<void> {
    const payments = Math.min(MAX_PAID, this.#waiting);
    const { target } = this.running;
    const order = { kind: 'pay', target, payments, concurrency: PAYING_CONCURRENCY } as const;
    const { outcomeP50, outcomeP99 } = await load(this.process, order, 'paid');
    this.#waiting -= payments;
    const known = itemAt(this.figures.sizes, { size });
    if (known === undefined) return;
    const paid = { payments, outcomeP50, outcomeP99 };
    await this.#keep({ ...this.figures, sizes: withItem(this.figures.sizes, { ...known, paid }) });
    this.context.report(
      `${open(size)}: ${payments} of them were paid, and the merchant heard within ${outcomeP99.toFixed(0)} ms`,
    );
  }

  async #keep(figures: GrowthFigures): Promise<void> {
    this.figures = figures;
    await this.context.keep(figures);
  }

  async #pause(): Promise<void> {
    const { stop } = this.context;
    await pause(SETTLE_MS, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
  }
}

const open = (size: number) => `${size.toLocaleString('en-US')} open payments`;
