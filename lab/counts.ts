/** Counts by kind, in the order of the kinds' names when read. */
export class Counts {
  readonly #counts = new Map<string, number>();

  add(kind: string, count = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
  }

  addAll(counts: Iterable<readonly [kind: string, count: number]>): void {
    for (const [kind, count] of counts) this.add(kind, count);
  }

  of(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  [Symbol.iterator](): Iterator<readonly [kind: string, count: number]> {
    return this.#counts.entries();
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
