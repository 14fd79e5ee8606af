import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { type Encryption, measured } from '../temporal/encryption.js';
import { fromJson, toJson, UnreadableRecordError } from './versioned-json.js';

/** A row that is sealed: what one row holds can't be passed off as another's, nor as a later version of its own. */
export interface Place {
  readonly table:
    | 'states'
    | 'sends'
    | 'inbox'
    | 'replies'
    | 'unmatched'
    | 'audit'
    | 'cursors'
    | 'statement_pieces'
    | 'statement_parts';
  readonly id: string;
  readonly version?: number | undefined;
}

/** A row that can't be opened. The message says why; it quotes nothing. */
export class SealBroken extends UnreadableRecordError {
  override readonly name = 'SealBroken';
}

const CIPHER = 'aes-256-gcm';
/** Sizes in bytes. A random nonce may be used for 2^32 rows of one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What the keys of digests are for. */
const DIGESTS = 'sanaga book: payers';

/** The first byte: whether the rest is plain JSON, or a key's id, a nonce, the ciphertext and its tag. */
const PLAIN = 0;
const SEALED = 1;

/**
 * Encrypts what a row holds, bound to the row: whoever can write to the book could send money else. While there is
 * encryption, plain text is refused.
 */
export class Seals {
  constructor(private readonly encryption: Encryption) {}

  seal(place: Place, content: object): Promise<Buffer> {
    return this.#seal(place, Buffer.from(toJson(content)));
  }

  async #seal(place: Place, text: Buffer): Promise<Buffer> {
    if (!this.encryption.isOn) return Buffer.concat([Buffer.of(PLAIN), text]);
    return await this.#measured('encrypt', place, () => this.#encrypt(place, text));
  }

  async #encrypt(place: Place, text: Buffer): Promise<Buffer> {
    const { id, key } = await this.encryption.keys.current();
    const head = headOf(id);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(head, place));
    const ciphertext = cipher.update(text);
    cipher.final();
    return Buffer.concat([head, nonce, ciphertext, cipher.getAuthTag()]);
  }

  /** @throws {SealBroken} when its key is missing, or it was changed, moved, or written by an older version. */
  async open<T>(place: Place, sealed: Buffer, schema: z.core.$ZodType<T>): Promise<T> {
    return fromJson((await this.#text(place, sealed)).toString(), schema);
  }

  /**
   * Seals what a row holds with the present key.
   *
   * @returns `undefined` when it is
   * @throws {SealBroken} as {@link open} does
   */
  async reseal(place: Place, sealed: Buffer): Promise<Buffer | undefined> {
    const head = this.encryption.isOn ? headOf((await this.encryption.keys.current()).id) : Buffer.of(PLAIN);
    if (sealed.subarray(0, head.length).equals(head)) return undefined;
    return await this.#seal(place, await this.#text(place, sealed));
  }

  /** The id of the key that digests are made with now; empty without encryption. */
  async digestKeyId(): Promise<string> {
    return this.encryption.isOn ? (await this.encryption.keys.current()).id : '';
  }

  /**
   * A digest of a text by a key: always the same, and of no use without the key.
   *
   * @returns `undefined` when the key is gone
   */
  async digest(text: string, keyId: string): Promise<Buffer | undefined> {
    const key = keyId === '' ? undefined : await this.encryption.keys.find(keyId);
    if (keyId !== '' && key === undefined) return undefined;
    // A key of its own, so that digests tell nothing about what is encrypted.
    const own = key === undefined ? Buffer.alloc(32) : Buffer.from(hkdfSync('sha256', key.key, '', DIGESTS, 32));
    return createHmac('sha256', own).update(text).digest();
  }

  /** Operators are called when a row can't be opened. Cursors don't count: callers may send what they like as one. */
  #measured<T>(operation: 'encrypt' | 'decrypt', { table }: Place, work: () => Promise<T>): Promise<T> {
    return table === 'cursors' ? work() : measured(this.encryption, operation, 1, work);
  }

  async #text(place: Place, sealed: Buffer): Promise<Buffer> {
    const { table, id, version = '' } = place;
    const which = `${table} ${id} ${version}`.trim();
    if (sealed[0] === PLAIN && !this.encryption.isOn) return sealed.subarray(1);
    if (sealed[0] !== SEALED) throw new SealBroken(`${which} isn't encrypted, and has to be`);
    return await this.#measured('decrypt', place, () => this.#decrypt(place, which, sealed));
  }

  async #decrypt(place: Place, which: string, sealed: Buffer): Promise<Buffer> {
    const length = 2 + (sealed[1] ?? 0);
    const keyId = sealed.subarray(2, length).toString();
    const key = await this.encryption.keys.find(keyId);
    if (key === undefined) throw new SealBroken(`${which} needs the encryption key "${keyId}"`);
    try {
      const nonce = sealed.subarray(length, length + NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(sealed.subarray(0, length), place)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(length + NONCE_BYTES, -TAG_BYTES));
      decipher.final();
      return text;
    } catch (cause) {
      throw new SealBroken(`${which} was changed, or belongs to another row`, { cause });
    }
  }
}

function headOf(keyId: string): Buffer {
  const id = Buffer.from(keyId);
  return Buffer.concat([Buffer.of(SEALED, id.length), id]);
}

function boundTo(head: Buffer, { table, id, version }: Place): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([table, id, version ?? null]))]);
}
