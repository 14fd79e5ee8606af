/**
 * The sandbox's only clock: link expiry, the status limit, pending times, webhook delays and dates all follow it.
 * Times are ms since the epoch.
 */
export interface Clock {
  /** The time now, in ms since the epoch. */
  now(): number;
  /** Runs `run` once the clock has reached `timeMs`, never before this call has returned. Returns its cancellation. */
  at(timeMs: number, run: () => void): () => void;
  /** How many real ms a stretch of this clock takes: what a client has to be told to wait. */
  realMs(durationMs: number): number;
}

/** Node's timers take at most this many ms; a longer wait is made of several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * A clock that starts at the real time, or at `startMs`, and runs `scale` times as fast.
 *
 * @example scaledClock({ scale: 8640 }) // 24 hours pass in 10 seconds
 * @throws RangeError when the scale isn't a number above 0
 */
export function scaledClock({
  scale = 1,
  startMs = Date.now(),
}: {
  scale?: number;
  startMs?: number | undefined;
} = {}): Clock {
  if (!(scale > 0 && Number.isFinite(scale)))
    throw new RangeError(`A clock's scale is above 0, not ${scale}`);
  const startedTick = performance.now();
  const now = () => Math.floor(startMs + (performance.now() - startedTick) * scale);

  const at = (timeMs: number, run: () => void) => {
    let timer: NodeJS.Timeout;
    const wait = () => {
      const left = (timeMs - now()) / scale;
      timer = setTimeout(wake, Math.min(Math.max(0, Math.ceil(left)), LONGEST_TIMER_MS));
    };
    // A timer may fire a moment early: whoever is called must find that its time has come.
    const wake = () => (now() < timeMs ? wait() : run());
    wait();
    return () => clearTimeout(timer);
  };
  return { now, at, realMs: (durationMs) => durationMs / scale };
}

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Goes on to `timeMs`; what falls due on the way runs in order of time, each at its own time. Never goes back. */
  advanceTo(timeMs: number): void;
  /** When the next callback is due, in ms since the epoch; `undefined` when none waits. */
  nextDue(): number | undefined;
}

/** A clock moved by hand, from `startMs` on; callbacks of the same time run in the order they were asked for. */
export function manualClock(startMs: number): ManualClock {
  let time = startMs;
  let asked = 0;
  const waiting: { readonly due: number; readonly order: number; readonly run: () => void }[] = [];

  /** The place of a callback in `waiting`, which is kept in order of time, then of asking. */
  const placeOf = (due: number, order: number) => {
    let low = 0;
    let high = waiting.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = waiting[middle];
      if (other && (other.due < due || (other.due === due && other.order < order))) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    now: () => time,
    at: (timeMs, run) => {
      const entry = { due: Math.max(timeMs, time), order: asked++, run };
      waiting.splice(placeOf(entry.due, entry.order), 0, entry);
      return () => {
        const place = placeOf(entry.due, entry.order);
        if (waiting[place] === entry) waiting.splice(place, 1);
      };
    },
    realMs: (durationMs) => durationMs,
    advanceTo: (timeMs) => {
      for (let next = waiting[0]; next && next.due <= timeMs; next = waiting[0]) {
        waiting.shift();
        time = Math.max(time, next.due);
        next.run();
      }
      time = Math.max(time, timeMs);
    },
    nextDue: () => waiting[0]?.due,
  };
}
