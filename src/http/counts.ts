/** Counts what is open at the moment, such as requests, by key. */
export class Counts {
  readonly #open = new Map<string, number>();

  /** @returns a function to call at the end; `undefined` when there are `max` already. */
  enter(key: string, max: number): (() => void) | undefined {
    const before = this.#open.get(key) ?? 0;
    if (before >= max) return undefined;
    this.#open.set(key, before + 1);
    return () => {
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }
}
