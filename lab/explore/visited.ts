/** Two halves of hashes, side by side in slots; a half of 0 is an empty slot. */
interface Table {
  readonly first: Uint32Array;
  readonly second: Uint32Array;
}

/** A set of texts, by 64 bits of hash each: two of a million texts collide once in ten million times. */
export class Visited {
  #table = tableOf(1 << 8);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a text, and returns whether it is new. */
  add(text: string): boolean {
    const [first, second] = hash(text);
    if (this.#size * 2 > this.#table.first.length) this.#table = grown(this.#table);
    const isNew = insert(this.#table, first, second);
    if (isNew) this.#size += 1;
    return isNew;
  }
}

function tableOf(capacity: number): Table {
  return { first: new Uint32Array(capacity), second: new Uint32Array(capacity) };
}

function insert({ first, second }: Table, one: number, other: number): boolean {
  const mask = first.length - 1;
  let slot = other & mask;
  while (first[slot] !== 0) {
    if (first[slot] === one && second[slot] === other) return false;
    slot = (slot + 1) & mask;
  }
  first[slot] = one;
  second[slot] = other;
  return true;
}

function grown({ first, second }: Table): Table {
  const larger = tableOf(first.length * 2);
  first.forEach((one, slot) => {
    if (one !== 0) insert(larger, one, second[slot] ?? 0);
  });
  return larger;
}

/** Looked up once: under jest, each look-up of a global costs more than the multiplication. */
const { imul } = Math;

/** Hashes a text to 64 bits, as cyrb53 does, a public-domain hash; the first half is never 0. */
function hash(text: string): readonly [number, number] {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = imul(one ^ code, 2654435761);
    other = imul(other ^ code, 1597334677);
  }
  one = imul(one ^ (one >>> 16), 2246822507) ^ imul(other ^ (other >>> 13), 3266489909);
  other = imul(other ^ (other >>> 16), 2246822507) ^ imul(one ^ (one >>> 13), 3266489909);
  return [(one | 1) >>> 0, other >>> 0];
}
