import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../payments/words/time.js';

/** Work that is done again and again. */
export interface Repeated {
  readonly work: () => Promise<void>;
  /** Pause after it, in ms. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** What doesn't happen while the work fails, for the log. */
  readonly failure: string;
}

/** Between two warnings that the work fails, in ms. */
const WARN_EVERY_MS = MINUTE_MS;

/** Does some work at once and then again and again, whether or not it fails, until `stop` is aborted. Never rejects. */
export async function repeat({ work, everyMs, logger, failure }: Repeated, stop: AbortSignal): Promise<void> {
  let warnedAt = Number.NEGATIVE_INFINITY;
  while (!stop.aborted) {
    try {
      await work();
    } catch (error) {
      const now = performance.now();
      if (!stop.aborted && now - warnedAt >= WARN_EVERY_MS) {
        warnedAt = now;
        logger.warn({ err: error }, failure);
      }
    }
    await pause(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
