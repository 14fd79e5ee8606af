import type { Surroundings } from '../load/load-process.js';
import type { LoadTarget } from '../load/messages.js';

/** Options of a system's start. */
export interface SystemContext extends Surroundings {
  /** For its data and logs; it is removed at the end. */
  readonly folder: string;
  readonly report: (line: string) => void;
}

/** A system that takes payments. */
export interface RunningSystem {
  readonly target: LoadTarget;
  /** Its processes by what they do. */
  readonly processes: Readonly<Record<string, number>>;
  /** Bytes of its store, now. */
  bytes(): Promise<number>;
  /**
   * Records that it keeps of these payments, all together, in its own unit: see docs/performance.md. Resolves when it
   * has come to their ends.
   */
  events(payments: readonly string[]): Promise<number>;
  /** Stops all its processes. */
  stop(): Promise<void>;
}

/** One of the systems that are compared. */
export interface System {
  readonly name: SystemName;
  /** Returns the reason why it can't run on this machine, and the remedy; `undefined` when it can. */
  missing(): Promise<string | undefined>;
  /** Installs or builds what it needs. It may take minutes, once. @throws Error */
  prepare(report: (line: string) => void): Promise<void>;
  /** Starts it afresh, with nothing kept from before. @throws Error */
  start(context: SystemContext): Promise<RunningSystem>;
}

/** Systems compared, unless `--systems` names others. */
export const SYSTEM_NAMES = [
  'sanaga',
  'sanaga-doubled',
  'sanaga-postgres',
  'temporal-floor',
  'temporal-textbook',
  'dbos',
  'restate',
] as const;

/** Sanaga without something that it does, or with something that it leaves out, to see what that costs. */
export const VARIANT_NAMES = ['sanaga-unencrypted', 'sanaga-call-stacks'] as const;

export type SystemName = (typeof SYSTEM_NAMES | typeof VARIANT_NAMES)[number];

/** Stops everything that was started, the last first, even if one of them fails. @throws what failed first */
export class Started {
  readonly #stops: (() => Promise<void>)[] = [];

  /** Adds what stops something that was just started. */
  add(stop: () => Promise<void>): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    const errors: unknown[] = [];
    for (const stop of this.#stops.splice(0).reverse()) await stop().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }

  /** Runs the start of a system; if that fails, stops everything that was started. */
  static async while(start: (started: Started) => Promise<RunningSystem>): Promise<RunningSystem> {
    const started = new Started();
    try {
      return await start(started);
    } catch (error) {
      await started.stop().catch(() => undefined);
      throw error;
    }
  }
}
