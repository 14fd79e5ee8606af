import { setTimeout as pause } from 'node:timers/promises';
import type { Postgres } from '../../stack/postgres/postgres.js';
import type { Stack } from '../../stack/processes/stack.js';
import type { Counts } from '../counts.js';
import type { MerchantManners, PeopleContext, Timeline } from '../people/context.js';
import type { ObservedPayment } from '../people/observed-payment.js';

/** Shared by people and the killer in a chaos run. */
export interface ChaosContext extends PeopleContext {
  readonly timeline: RealTimeline;
  readonly stack: Stack;
  /** The PostgreSQL server of the book. */
  readonly book: Postgres;
  /** File of Temporal's database. */
  readonly temporalFile: string;
  readonly records: readonly ObservedPayment[];
  /** Aborted when the run is over. */
  readonly over: AbortSignal;
  readonly report: (line: string) => void;
}

/** Runs people's plans in real time. */
export class RealTimeline implements Timeline {
  #pending = 0;
  #fail: (reason: unknown) => void = () => undefined;
  readonly #idle: (() => void)[] = [];
  /** Rejects with the first error of something planned; never resolves. */
  readonly failed: Promise<never>;

  /** @param over drops the remaining plans when it is aborted */
  constructor(readonly over: AbortSignal) {
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  /** Number of things planned or under way. */
  get pending(): number {
    return this.#pending;
  }

  at(time: number, act: () => Promise<void> | void): void {
    this.exactly(time, act);
  }

  exactly(time: number, act: () => Promise<void> | void): void {
    this.#pending++;
    void this.#run(time, act).finally(() => {
      this.#pending--;
      if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve();
    });
  }

  /** Resolves when nothing is planned any more. @throws the first error of something planned */
  async idle(): Promise<void> {
    if (this.#pending === 0) return;
    await Promise.race([new Promise<void>((resolve) => this.#idle.push(resolve)), this.failed]);
  }

  async #run(time: number, act: () => Promise<void> | void): Promise<void> {
    try {
      await untilOver(
        (async () => {
          await wait(time - Date.now(), this);
          await act();
        })(),
      );
    } catch (error) {
      this.#fail(error);
    }
  }
}

/** The pause before a request that had no answer is repeated, in ms: it doubles up to the second one. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [200, 2_000];
/** The pause between two reads of a payment that has no link yet, in ms. */
const LINK_PAUSE_MS = 1_000;

/**
 * Merchants who repeat each call until it has an answer: a broken connection, a 503 and a 500 are none. They get a link
 * that the answer didn't have by reading the payment.
 */
export function persistentMerchants(actions: Counts, over: AbortSignal): MerchantManners {
  return {
    async call(record, request) {
      for (let tries = 0; ; tries++) {
        over.throwIfAborted();
        const answer = await request();
        const { status } = answer;
        if (status === 500) record.wrongAnswers.push('the API answered 500');
        if (status !== 0 && status !== 503 && status !== 500) return answer;
        actions.add(status === 0 ? 'merchant: no answer' : `merchant: ${status}`);
        await wait(Math.min(MIN_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS), { over });
      }
    },
    getsLinkBy: 'reading',
    pauseMs: (tries) => (tries === 0 ? 0 : LINK_PAUSE_MS),
  };
}

/** Lets real time pass. @throws AbortError if the run is over meanwhile */
export async function wait(ms: number, { over }: { readonly over: AbortSignal }): Promise<void> {
  await pause(Math.max(0, ms), undefined, { signal: over });
}

/** Ends work without an error when the end of the run has cut it short. */
export async function untilOver(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}
