/**
 * Who does a part of what takes two people: orders a payout or approves it, makes a decision or makes the same. Who
 * orders with a key must not approve with it, whatever a merchants' file calls its owner by then.
 */
export interface Person {
  readonly name: string;
  /**
   * Identifiers of all API keys that were this person's at that time, never the keys themselves. Absent: it happened
   * before they were recorded.
   */
  readonly keys?: readonly string[] | undefined;
}

/** An API key, and whom a merchants' file names as its person. */
export interface PersonsKey {
  readonly merchant: string;
  readonly person: string;
  /** Identifies the key; it isn't the key. */
  readonly keyId: string;
}

/** Reports whether two may be one person: they have one name, however it is spelt, or a key that was both's. */
export function isOnePerson(one: Person, other: Person): boolean {
  return isOneName(one.name, other.name) || one.keys?.some((key) => other.keys?.includes(key)) === true;
}

/** Reports whether two names are one person's, however they are spelt. */
export function isOneName(one: string, other: string): boolean {
  return foldedName(one) === foldedName(other);
}

/**
 * Returns a name without what people leave out or write otherwise: case, accents, full width, what can't be seen, and
 * how its words are separated. Rémi and Remi may be two people, and count as one: that takes a third person, while the
 * opposite mistake would let one person do what takes two.
 */
export function foldedName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Format}]/gu, '')
    .toLowerCase()
    .toUpperCase() // ß and ẞ, σ and ς
    .replace(/[^\p{Letter}\p{Number}]+/gu, ' ')
    .trim();
}
