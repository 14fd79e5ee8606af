import { createHmac, randomBytes } from 'node:crypto';

/**
 * Chance that depends on a seed and on what it is drawn for, never on when or in which order it is drawn: two runs
 * with the same seed agree even when their requests interleave differently.
 */
export interface KeyedRandom {
  /** A number in [0, 1) for this key; the same key draws the same number. */
  fraction(...key: readonly (string | number)[]): number;
  /** `length` characters (at most 32) of `alphabet` for this key; unguessable without the seed. */
  text(length: number, alphabet: string, ...key: readonly (string | number)[]): string;
}

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const DIGITS = '0123456789';

/** A generator for `seed`; without one it draws from the system's chance, and no two are alike. */
export function keyedRandom(seed?: string | number): KeyedRandom {
  const secret = seed === undefined ? randomBytes(32) : Buffer.from(String(seed));
  // JSON keeps ["a","bc"] and ["ab","c"] apart.
  const bytes = (key: readonly (string | number)[]) =>
    createHmac('sha512', secret).update(JSON.stringify(key)).digest();
  return {
    fraction: (...key) => bytes(key).readUIntBE(0, 6) / 2 ** 48,
    text: (length, alphabet, ...key) => {
      const drawn = bytes(key);
      let text = '';
      for (let place = 0; place < length; place++) {
        text += alphabet[drawn.readUInt16BE(place * 2) % alphabet.length] ?? '';
      }
      return text;
    },
  };
}
