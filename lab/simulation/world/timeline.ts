/** Something that is to happen at a time (ms since the epoch). */
interface Happening {
  readonly at: number;
  readonly order: number;
  readonly run: () => Promise<void> | void;
}

/**
 * What the simulation's people are going to do, in order of time. What needn't happen at an exact moment is put off to
 * the next tick, so that much of it happens at once: time then has fewer stops to make.
 */
export class Timeline {
  readonly #happenings: Happening[] = [];
  #added = 0;

  /**
   * @param origin the first tick, in ms since the epoch
   * @param tickMs ms between two ticks
   */
  constructor(
    private readonly origin: number,
    private readonly tickMs: number,
  ) {}

  /** Plans something for the first tick at or after a time. */
  at(time: number, run: Happening['run']): void {
    this.exactly(this.origin + Math.ceil((time - this.origin) / this.tickMs) * this.tickMs, run);
  }

  /** Plans something for just this moment. */
  exactly(time: number, run: Happening['run']): void {
    const happening = { at: time, order: this.#added++, run };
    this.#happenings.splice(this.#placeOf(happening), 0, happening);
  }

  /** When the next thing is to happen. */
  next(): number | undefined {
    return this.#happenings.at(-1)?.at;
  }

  /** Takes out everything that has fallen due, in order. */
  takeDue(now: number): (() => Promise<void> | void)[] {
    const due: (() => Promise<void> | void)[] = [];
    for (let last = this.#happenings.at(-1); last !== undefined && last.at <= now; ) {
      due.push(last.run);
      this.#happenings.pop();
      last = this.#happenings.at(-1);
    }
    return due;
  }

  /** Kept from last to first, so that the next one is taken from the end. */
  #placeOf({ at, order }: Happening): number {
    let low = 0;
    let high = this.#happenings.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#happenings[middle];
      if (other !== undefined && (other.at > at || (other.at === at && other.order > order)))
        low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
