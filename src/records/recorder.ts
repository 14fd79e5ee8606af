import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { PaymentId } from '../payments/words/payment-id.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../payments/words/time.js';
import { endingWith } from '../temporal/connection.js';
import { RecordsUnavailableError } from './database.js';
import { endedBetween, OPEN_PAYMENTS_TO_RECORD } from './index-queries.js';
import { callUntil, type ListedRun, listRuns } from './list-runs.js';
import type { NewRecord } from './payment-record.js';
import { isTemporalAway, readRun } from './read-run.js';
import type { Records } from './records.js';

/** Intervals of the recorder's work, in ms. Tests shorten them. */
export interface RecorderPace {
  /** Pause between two rounds. */
  readonly roundMs: number;
  /** A dead recorder keeps the others waiting for this long. */
  readonly leaseMs: number;
  /** A round goes back by this much: Temporal's index shows nearly all ends that soon. */
  readonly soonMs: number;
  /** Now and then, a round goes back by this much: the index may show an end that late. */
  readonly overlapMs: number;
  /** Interval of reading again that far back. Each time, it would read each payment some thirty times. */
  readonly overlapEveryMs: number;
  /** Interval of comparing all that Temporal still has with the records, for what the index showed too late. */
  readonly sweepMs: number;
  /** Interval of reading the open payments. */
  readonly openMs: number;
  /** Wait before reading a payment again that was open with the same status, or couldn't be read. */
  readonly againMs: number;
}

const USUAL_PACE: RecorderPace = {
  roundMs: 2_000,
  leaseMs: 30_000,
  soonMs: 5_000,
  overlapMs: MINUTE_MS,
  overlapEveryMs: 15_000,
  sweepMs: HOUR_MS,
  openMs: 10_000,
  againMs: HOUR_MS,
};

/**
 * The period whose ends one round reads, so that the oldest of a long backlog are safe first: within a window, Temporal
 * lists the latest first. After a window of few ends, the next is twice as wide, up to a day.
 */
const WINDOW_MS = 6 * HOUR_MS;
const MAX_WINDOW_MS = DAY_MS;
const FEW = 500;

/** Temporal deletes a payment some time after its retention is over; until then, it can be found. */
const BEYOND_RETENTION_MS = DAY_MS;

/** A look through many payments is followed by a pause at least so many times as long. */
const REST_FACTOR = 4;

/** Payments that are read at the same time, and then written together. */
const BATCH = 20;

/** Between two warnings that something fails, in ms. */
const WARN_EVERY_MS = MINUTE_MS;

/** A recorder that is further behind than this logs errors: well below any retention. */
const MAX_LAG_MS = DAY_MS;

export interface RecorderOptions {
  readonly client: Client;
  readonly records: Records;
  readonly logger: Logger;
  readonly pace?: RecorderPace;
}

/**
 * Records payments that have ended, and the notifications of open ones. It asks Temporal for both again and again:
 * payments know nothing of it, and none waits for it. Of several recorders, one works at a time. It may be killed at
 * any moment, and the next continues from what was written.
 *
 * Resolves when `stop` is aborted; never rejects.
 */
export async function runRecorder(options: RecorderOptions, stop: AbortSignal): Promise<void> {
  await new Recorder(options).run(stop);
}

/** A way through time, a window at a time. */
interface Walk {
  readonly from: number;
  readonly widthMs: number;
}

class Recorder {
  readonly #client: Client;
  readonly #records: Records;
  readonly #logger: Logger;
  readonly #pace: RecorderPace;
  readonly #holder = randomUUID();
  #leasedUntil = 0;
  /** All ends are recorded up to this time; `undefined` before the first round. */
  #recordedUntil: number | undefined;
  /** All ends are recorded up to this time, except those that the index shows late. */
  #lookedUntil = 0;
  #overlapAgainAt = Number.NEGATIVE_INFINITY;
  #widthMs = WINDOW_MS;
  #sweep: Walk | undefined;
  #sweepBegunAt = 0;
  #sweepAgainAt = Number.NEGATIVE_INFINITY;
  #openAgainAt = Number.NEGATIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** The payment that Temporal didn't answer about in this round. */
  #waitsFor: PaymentId | undefined;

  constructor({ client, records, logger, pace = USUAL_PACE }: RecorderOptions) {
    this.#client = client;
    this.#records = records;
    this.#logger = logger;
    this.#pace = pace;
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const isBehind = await this.#round(stop).catch((error: unknown) => this.#fail(error, stop));
      if (!isBehind) await pause(this.#pace.roundMs, undefined, { signal: stop }).catch(() => undefined);
    }
    await this.#records.release(this.#holder).catch(() => undefined);
  }

  /** @returns whether there is more to be done at once */
  async #round(stop: AbortSignal): Promise<boolean> {
    if (!(await this.#lease())) return false;

    this.#waitsFor = undefined;
    const now = Date.now();
    if (await this.#recordEnded(now, stop)) return true;
    await this.#recordOpen(now, stop);
    await this.#sweepOn(now, stop);
    return false;
  }

  /** Renewed before each batch, too, so that no other recorder begins while this one is at a long window. */
  async #lease(): Promise<boolean> {
    const { leaseMs } = this.#pace;
    if (Date.now() < this.#leasedUntil - leaseMs / 2) return true;
    const state = await this.#records.lease(this.#holder, leaseMs);
    if (state === undefined) return false;
    this.#leasedUntil = Date.now() + leaseMs;
    this.#recordedUntil = state.recordedUntil;
    return true;
  }

  /** Records the ends since the last look, or the next window of them. @returns whether another is to follow at once */
  async #recordEnded(now: number, stop: AbortSignal): Promise<boolean> {
    if (now < this.#overlapAgainAt) {
      const latest = endedBetween(this.#lookedUntil - this.#pace.soonMs, now);
      if ((await this.#recordAll(latest, now, stop)) !== undefined) this.#lookedUntil = now;
      return false;
    }
    const from = this.#recordedUntil ?? (await this.#oldest(now, stop));
    const to = Math.min(now, from + this.#widthMs);
    const count = await this.#recordAll(endedBetween(from, to), now, stop);
    if (count === undefined) return false;
    // The index may still lack the latest.
    const recordedUntil = Math.max(from, Math.min(to, now - this.#pace.overlapMs));
    await this.#records.advance(recordedUntil);
    this.#recordedUntil = recordedUntil;
    this.#lookedUntil = to;
    this.#widthMs = widened(this.#widthMs, count);
    if (to < now) return true;
    this.#overlapAgainAt = now + this.#pace.overlapEveryMs;
    return false;
  }

  /** Records the notifications of open payments. A payment is read when its status changes, and now and then. */
  async #recordOpen(now: number, stop: AbortSignal): Promise<void> {
    if (now < this.#openAgainAt) return;
    if ((await this.#recordAll(OPEN_PAYMENTS_TO_RECORD, now, stop)) === undefined) return;
    this.#openAgainAt = nextAt(now, this.#pace.openMs);
  }

  /**
   * Once in a while, reads a window of all that Temporal has: no payment is left out for good because the index showed
   * it late.
   */
  async #sweepOn(now: number, stop: AbortSignal): Promise<void> {
    if (this.#sweep === undefined) {
      if (now < this.#sweepAgainAt) return;
      this.#sweepBegunAt = now;
    }
    const { from, widthMs } = this.#sweep ?? { from: await this.#oldest(now, stop), widthMs: WINDOW_MS };
    const to = from + widthMs;
    const count = await this.#recordAll(endedBetween(from, to), now, stop);
    if (count === undefined) return;
    this.#sweep = to < now ? { from: to, widthMs: widened(widthMs, count) } : undefined;
    this.#sweepAgainAt = nextAt(this.#sweepBegunAt, this.#pace.sweepMs);
  }

  /** Returns the earliest time at which a payment that Temporal still has may have ended. */
  async #oldest(now: number, stop: AbortSignal): Promise<number> {
    const { workflowService, options } = this.#client;
    const describe = () => workflowService.describeNamespace({ namespace: options.namespace });
    const { config } = await endingWith(this.#client, stop, describe);
    return now - Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000 - BEYOND_RETENTION_MS;
  }

  /** Records the runs that a query finds. @returns how many these are; `undefined` when it was interrupted */
  async #recordAll(query: string, now: number, stop: AbortSignal): Promise<number | undefined> {
    let count = 0;
    const listed = listRuns(this.#client, query, (list) => callUntil(this.#client, stop, list));
    for await (const { runs } of listed) {
      count += runs.length;
      const missing = await this.#records.missing(runs, now - this.#pace.againMs);
      for (let first = 0; first < missing.length; first += BATCH) {
        if (stop.aborted || !(await this.#lease())) return undefined;
        const read = await Promise.all(missing.slice(first, first + BATCH).map((run) => this.#read(run, stop)));
        await this.#write(read.filter((record) => record !== undefined));
      }
    }
    return count;
  }

  /** Writes payments together. One that the database refuses must not keep out the others: each is tried by itself. */
  async #write(records: readonly NewRecord[]): Promise<void> {
    try {
      await this.#records.write(records);
    } catch (error) {
      if (error instanceof RecordsUnavailableError) throw error;
      const [record, ...more] = records;
      if (more.length > 0) for (const one of records) await this.#write([one]);
      else {
        this.#logger.error(
          { err: error, paymentId: record?.id },
          "a payment can't be recorded; it is tried again every hour, until Temporal deletes it and its key no longer holds",
        );
      }
    }
  }

  /** Records a payment that has ended and can't be read all the same: its key must hold. It is tried again. */
  async #read({ memo, ...run }: ListedRun, stop: AbortSignal): Promise<NewRecord | undefined> {
    try {
      const content = await readRun(this.#client, { memo, ...run }, stop);
      return content && { ...run, content };
    } catch (error) {
      if (isTemporalAway(error)) {
        this.#waitsFor = run.id;
        throw error;
      }
      this.#logger.warn(
        { err: error, paymentId: run.id },
        "a payment can't be read, and is recorded without its content",
      );
      return run.closedAt === undefined ? undefined : { ...run, content: undefined };
    }
  }

  #fail(error: unknown, stop: AbortSignal): false {
    // After an outage of either, there may be much to do.
    this.#widthMs = WINDOW_MS;
    const now = Date.now();
    if (stop.aborted || now - this.#warnedAt < WARN_EVERY_MS) return false;
    this.#warnedAt = now;
    const lagMs = this.#recordedUntil === undefined ? undefined : now - this.#recordedUntil;
    const isLate = lagMs !== undefined && lagMs > MAX_LAG_MS;
    this.#logger[isLate ? 'error' : 'warn'](
      { err: error, lagMs, paymentId: this.#waitsFor },
      'payments are not recorded at the moment; nothing is lost if that ends before Temporal deletes them',
    );
    return false;
  }
}

/**
 * Returns the time of the next run of a task that began at `begunAt` and has just ended: a long task runs less often,
 * so that others get their turn.
 */
function nextAt(begunAt: number, everyMs: number): number {
  const now = Date.now();
  return Math.max(begunAt + everyMs, now + REST_FACTOR * (now - begunAt));
}

function widened(widthMs: number, count: number): number {
  return count < FEW ? Math.min(2 * widthMs, MAX_WINDOW_MS) : WINDOW_MS;
}
