import { createHmac, createSecretKey, randomBytes } from 'node:crypto';

/**
 * Random values determined by a seed and a key, not by the order of the calls: two runs with the same seed agree even
 * when their requests interleave differently.
 */
export interface KeyedRandom {
  /** A number in [0, 1), always the same for the same key. */
  fraction(...key: readonly (string | number)[]): number;
  /** `length` characters (at most 32) of `alphabet`, always the same for the same key; unguessable without the seed. */
  text(length: number, alphabet: string, ...key: readonly (string | number)[]): string;
}

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const DIGITS = '0123456789';

/** A generator for `seed`; without one, each generator gets a random secret of its own. */
export function keyedRandom(seed?: string | number): KeyedRandom {
  const secret = createSecretKey(seed === undefined ? randomBytes(32) : Buffer.from(String(seed)));
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
