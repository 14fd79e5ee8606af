import { createHmac, hkdfSync } from 'node:crypto';
import proto from '@temporalio/proto';
import type { z } from 'zod';
import { DecryptionError, type Encryption, EncryptionCodec, type EncryptionKey } from '../temporal/encryption.js';
import { fromJson, toJson, UnreadableRecordError } from './versioned-json.js';

const { Payload } = proto.temporal.api.common.v1;

/** Protects the records from those who have only the database, by the keys of Temporal's payloads. */
export class RecordCipher {
  readonly #codec: EncryptionCodec;

  constructor(private readonly encryption: Encryption) {
    this.#codec = new EncryptionCodec(encryption);
  }

  /** Encrypts a value as JSON, with the version of its shape. */
  seal(content: object): Promise<Buffer> {
    return this.encrypt(toJson(content));
  }

  /**
   * Opens what {@link seal} made.
   *
   * @throws {UnreadableRecordError} when its key is missing, it was changed, or another version has written it.
   */
  async open<T>(sealed: Buffer, schema: z.core.$ZodType<T>): Promise<T> {
    return fromJson(await this.decrypt(sealed), schema);
  }

  async encrypt(text: string): Promise<Buffer> {
    const [sealed] = await this.#codec.encode([{ metadata: {}, data: Buffer.from(text) }]);
    return Buffer.from(Payload.encode(sealed ?? {}).finish());
  }

  /** @throws {UnreadableRecordError} when its key is missing, or it was changed. */
  async decrypt(sealed: Buffer): Promise<string> {
    try {
      const [payload] = await this.#codec.decode([Payload.decode(sealed)]);
      return Buffer.from(payload?.data ?? []).toString();
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new UnreadableRecordError(error.message, { cause: error });
    }
  }

  /**
   * Decrypts text from outside that {@link encrypt} made. While there is encryption, plain text is refused.
   *
   * @returns `undefined` for anything else
   */
  async decryptCursor(cursor: string): Promise<string | undefined> {
    const bytes = Buffer.from(cursor, 'base64url');
    try {
      const { metadata } = Payload.decode(bytes);
      if (this.encryption.isOn && metadata?.encoding === undefined) return undefined;
      return await this.decrypt(bytes);
    } catch {
      return undefined;
    }
  }

  /** The id of the key that hashes are made with now; empty without encryption. */
  async hashKeyId(): Promise<string> {
    return this.encryption.isOn ? (await this.encryption.keys.current()).id : '';
  }

  /**
   * A hash of a text, by a key: always the same, and of no use without the key.
   *
   * @returns `undefined` when the key is gone
   */
  async hash(text: string, keyId: string): Promise<Buffer | undefined> {
    const key = keyId === '' ? undefined : await this.encryption.keys.find(keyId);
    if (keyId !== '' && key === undefined) return undefined;
    return createHmac('sha256', hashKeyOf(key)).update(text).digest();
  }
}

/** A key of its own, so that hashes tell nothing about what is encrypted. */
function hashKeyOf(key: EncryptionKey | undefined): Buffer {
  if (key === undefined) return Buffer.alloc(32);
  return Buffer.from(hkdfSync('sha256', key.key, '', 'sanaga records: payers', 32));
}
