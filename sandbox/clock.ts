/**
 * The sandbox's clock, in ms since the epoch. Link expiry, the status limit, settlement, webhook delays and dates all
 * follow it.
 */
export interface Clock {
  /** The current time. */
  now(): number;
  /** Calls `run` when the clock reaches `timeMs`, always asynchronously. Returns a function that cancels it. */
  at(timeMs: number, run: () => void): () => void;
  /** Converts a duration of this clock to real ms, for example for `Retry-After`. */
  realMs(durationMs: number): number;
}

/** The longest delay of a Node timer; longer waits take several timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A clock that starts at the current real time, or at `startMs`, and runs `scale` times as fast.
 *
 * @example scaledClock({ scale: 8640 }) // 24 hours pass in 10 seconds
 * @throws RangeError when `scale` isn't a positive number
 */
export function scaledClock({
  scale = 1,
  startMs = Date.now(),
}: {
  scale?: number;
  startMs?: number | undefined;
} = {}): Clock {
  if (!(scale > 0 && Number.isFinite(scale))) throw new RangeError(`scale must be above 0, not ${scale}`);
  const startedTick = performance.now();
  const now = () => Math.floor(startMs + (performance.now() - startedTick) * scale);

  const at = (timeMs: number, run: () => void) => {
    let timer: NodeJS.Timeout;
    const wait = () => {
      const left = (timeMs - now()) / scale;
      timer = setTimeout(wake, Math.min(Math.max(0, Math.ceil(left)), MAX_TIMER_MS));
    };
    // A timer may fire slightly early.
    const wake = () => (now() < timeMs ? wait() : run());
    wait();
    return () => clearTimeout(timer);
  };
  return { now, at, realMs: (durationMs) => durationMs / scale };
}

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** Advances to `timeMs`, running the callbacks that fall due in order, each at its own time. Never goes back. */
  advanceTo(timeMs: number): void;
  /** Returns the time of the next callback; `undefined` when there is none. */
  nextDue(): number | undefined;
}

/** A manual clock that starts at `startMs`. Callbacks due at the same time run in the order of their `at` calls. */
export function manualClock(startMs: number): ManualClock {
  let time = startMs;
  /** Sorted by due time, then by the order of the `at` calls. */
  const timers: { readonly due: number; readonly run: () => void }[] = [];

  /** The index of the first timer whose due time isn't `isBefore`. */
  const search = (isBefore: (due: number) => boolean) => {
    let low = 0;
    let high = timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const timer = timers[middle];
      if (timer && isBefore(timer.due)) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    now: () => time,
    at: (timeMs, run) => {
      const timer = { due: Math.max(timeMs, time), run };
      const place = search((due) => due <= timer.due);
      timers.splice(place, 0, timer);
      return () => {
        const index = timers.indexOf(
          timer,
          search((due) => due < timer.due),
        );
        if (index >= 0) timers.splice(index, 1);
      };
    },
    realMs: (durationMs) => durationMs,
    advanceTo: (timeMs) => {
      for (let next = timers[0]; next && next.due <= timeMs; next = timers[0]) {
        timers.shift();
        time = Math.max(time, next.due);
        next.run();
      }
      time = Math.max(time, timeMs);
    },
    nextDue: () => timers[0]?.due,
  };
}
