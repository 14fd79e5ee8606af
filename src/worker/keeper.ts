import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { giveBack, takeOverdue } from '../book/due.js';
import type { Ring } from '../engine/ring.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { MINUTE_MS } from '../payments/words/time.js';
import { repeat } from '../process/repeat.js';

export interface KeeperOptions {
  readonly book: Book;
  readonly ring: Ring;
  readonly logger: Logger;
  /** Intervals; tests shorten them. */
  readonly pace?: KeeperPace | undefined;
}

/** Intervals in ms. */
export interface KeeperPace {
  /** Between two looks. */
  readonly lookMs: number;
  /** What is due is left to its workflow for this long. */
  readonly lateMs: number;
}

const USUAL_PACE: KeeperPace = { lookMs: 5_000, lateMs: MINUTE_MS };

/** Payments that are rung after one look: 50 a second, when they are back after an outage. */
const RUNG_AT_ONCE = 250;

/** Between two of them, in ms. */
const RING_EVERY_MS = 20;

/** Payments in a row that can't be rung before that is put down to Temporal. */
const AWAY_AFTER = 3;

/**
 * Rings payments that something is overdue of, until `stop` is aborted: those that were claimed and not started, whose
 * workflow was terminated or is lost, and whose bell or timer got lost. It asks Temporal nothing, so that nothing of
 * Temporal's can be lost or restored that it needs. Any number of workers may do so at once. Never rejects.
 */
export async function runKeeper(options: KeeperOptions, stop: AbortSignal): Promise<void> {
  const { book, logger, pace = USUAL_PACE } = options;
  const failed = new Set<PaymentId>();
  const work = async () => {
    const taken = await takeOverdue(book, pace.lateMs, RUNG_AT_ONCE, book.now());
    // Those that can't be rung come last: three of them, always the longest overdue, would hold up all others for good.
    const ids = [...taken.filter((id) => !failed.has(id)), ...taken.filter((id) => failed.has(id))];
    for (const id of failed) if (!taken.includes(id)) failed.delete(id);
    await ringAll(options, ids, failed, stop);
  };
  const failure = 'payments whose workflows are lost are not brought on at the moment';
  await repeat({ work, everyMs: pace.lookMs, logger, failure }, stop);
}

/**
 * Rings payments one after the other. One that can't be rung holds up no other.
 *
 * @param failed those that can't be rung
 * @throws when Temporal is away
 */
async function ringAll(
  { book, ring, logger }: KeeperOptions,
  ids: readonly PaymentId[],
  failed: Set<PaymentId>,
  stop: AbortSignal,
): Promise<void> {
  let rung = 0;
  for (const [index, id] of ids.entries()) {
    try {
      stop.throwIfAborted();
      await ring(id);
      failed.delete(id);
      rung = index + 1;
    } catch (error) {
      failed.add(id);
      if (index - rung + 1 < AWAY_AFTER && !stop.aborted) {
        logger.warn({ err: error, paymentId: id }, 'a payment whose workflow is lost can not be brought on');
        continue;
      }
      await giveBack(book, ids.slice(rung));
      throw error;
    }
    await pause(RING_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
