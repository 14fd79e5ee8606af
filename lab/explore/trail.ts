/** The way to each state, in six bytes a state. */
export class Trail {
  #parents = new Int32Array(1 << 16);
  #ordinals = new Uint16Array(1 << 16);
  #size = 0;

  add(parent: number, ordinal: number): number {
    if (this.#size === this.#parents.length) {
      const parents = new Int32Array(this.#size * 2);
      const ordinals = new Uint16Array(this.#size * 2);
      parents.set(this.#parents);
      ordinals.set(this.#ordinals);
      this.#parents = parents;
      this.#ordinals = ordinals;
    }
    this.#parents[this.#size] = parent;
    this.#ordinals[this.#size] = ordinal;
    this.#size += 1;
    return this.#size - 1;
  }

  to(index: number): number[] {
    const ordinals: number[] = [];
    for (let at = index; at > 0; at = this.#parents[at] ?? -1) ordinals.push(this.#ordinals[at] ?? 0);
    return ordinals.reverse();
  }
}
