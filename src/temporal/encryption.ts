import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
// A CommonJS package whose named exports Node can't detect.
import proto from '@temporalio/proto';
import { DECRYPTION_FAILURE } from './failure-converter.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** A key for AES-256-GCM. */
export interface EncryptionKey {
  /** Identifies the key. It is written, readable, beside everything that the key encrypts, and never changes. */
  readonly id: string;
  /** 256 bits. */
  readonly key: KeyObject;
}

/**
 * Provides keys: a file of them ({@link keysOf}), or a key management service. The source chooses the ids: one that
 * hands out data keys can make a data key's encrypted form its id, and needs to store none of them.
 */
export interface KeySource {
  /** The key to encrypt with now. */
  current(): Promise<EncryptionKey>;
  /** Returns the key with this id; `undefined` when there is none, or no longer one. */
  find(id: string): Promise<EncryptionKey | undefined>;
}

/**
 * Keys that are all known beforehand: the first one encrypts, and each decrypts what it has encrypted.
 *
 * @throws Error from `current` when there is none
 */
export function keysOf(keys: readonly EncryptionKey[]): KeySource {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const [first] = keys;
  return {
    async current() {
      if (first === undefined) throw new Error('there is no key to encrypt with');
      return first;
    },
    find: async (id) => byId.get(id),
  };
}

/** An attempt to encrypt or decrypt payloads together. It fails when one of them can't be. */
export interface CodecCall {
  readonly operation: (typeof CODEC_OPERATIONS)[number];
  readonly result: (typeof CODEC_RESULTS)[number];
  readonly payloads: number;
  readonly durationMs: number;
}

export const CODEC_OPERATIONS = ['encrypt', 'decrypt'] as const;
export const CODEC_RESULTS = ['succeeded', 'failed'] as const;

/** Keys and switch of the encryption of payloads. */
export interface Encryption {
  readonly keys: KeySource;
  /** `true` to encrypt new payloads. Encrypted ones are decrypted in either case. */
  readonly isOn: boolean;
  /** Called after each encryption or decryption. Payloads that stay in plain text don't count. */
  readonly onCall?: ((call: CodecCall) => void) | undefined;
}

/** For a client that neither starts nor reads payments: it could only read those in plain text. */
export const NO_KEYS: Encryption = { keys: keysOf([]), isOn: false };

/** The settings that say how. */
interface EncryptionSettings {
  readonly ENCRYPTION: 'on' | 'off';
  readonly ENCRYPTION_KEYS?: readonly EncryptionKey[] | undefined;
}

/** @param onCall called after each encryption or decryption */
export function encryptionOf(
  { ENCRYPTION, ENCRYPTION_KEYS = [] }: EncryptionSettings,
  onCall?: (call: CodecCall) => void,
): Encryption {
  return { keys: keysOf(ENCRYPTION_KEYS), isOn: ENCRYPTION === 'on', onCall };
}

/**
 * Thrown for a payload that can't be decrypted, and by nothing else: an activity that fails with it was never begun.
 * The message says which key it needs, and what to do.
 */
export class DecryptionError extends Error {
  // Temporal's SDK uses it as the type of the failure made from the error.
  override readonly name = DECRYPTION_FAILURE;

  /** @param workflowId the workflow whose payload it is, where Temporal's SDK says it */
  constructor(
    message: string,
    readonly workflowId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The encoding of an encrypted payload, and the field with the key's id, as Temporal's own tools call them. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const CIPHER = 'aes-256-gcm';
/** Sizes in bytes. A random nonce may be used for 2^32 payloads of one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Tells the encryption's {@link Encryption.onCall} how some work went. */
export async function measured<T>(
  { onCall }: Encryption,
  operation: CodecCall['operation'],
  payloads: number,
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  let result: CodecCall['result'] = 'failed';
  try {
    const done = await work();
    result = 'succeeded';
    return done;
  } finally {
    onCall?.({ operation, result, payloads, durationMs: performance.now() - begun });
  }
}

/**
 * Encrypts payloads before they leave the process, and decrypts those that come in. The whole payload is encrypted, its
 * own metadata included. Its data is then the nonce, the ciphertext and the tag, one after the other; its metadata,
 * which names the key, is authenticated with it. Payloads that aren't encrypted stay as they are, so that histories
 * from before can be read.
 */
export class EncryptionCodec implements PayloadCodec {
  constructor(private readonly encryption: Encryption) {}

  async encode(payloads: Payload[]): Promise<Payload[]> {
    const { keys, isOn } = this.encryption;
    if (!isOn || payloads.length === 0) return payloads;
    return await measured(this.encryption, 'encrypt', payloads.length, async () => {
      const key = await keys.current();
      return payloads.map((payload) => encrypt(payload, key));
    });
  }

  /** @throws {DecryptionError} when a key is missing or wrong, or a payload was changed. */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const encrypted = payloads.filter(isEncrypted).length;
    if (encrypted === 0) return payloads;
    return await measured(this.encryption, 'decrypt', encrypted, () =>
      Promise.all(
        payloads.map((payload) => (isEncrypted(payload) ? this.#decrypt(payload, context?.workflowId) : payload)),
      ),
    );
  }

  async #decrypt(payload: Payload, workflowId: string | undefined): Promise<Payload> {
    const id = textOf(payload.metadata?.[KEY_ID]);
    const key = await this.#find(id, workflowId);
    if (key === undefined) throw new DecryptionError(missing(id), workflowId);
    try {
      return decrypt(payload, key);
    } catch {
      throw new DecryptionError(
        `A payload in Temporal can't be decrypted with the encryption key "${id}": either that isn't the key which encrypted it, ` +
          'or the payload was changed. Give the process the key that had this id then (ENCRYPTION_KEYS), and restart it.',
        workflowId,
      );
    }
  }

  async #find(id: string, workflowId: string | undefined): Promise<EncryptionKey | undefined> {
    try {
      return await this.encryption.keys.find(id);
    } catch (cause) {
      throw new DecryptionError(`The encryption key "${id}" can't be had at the moment`, workflowId, {
        cause,
      });
    }
  }
}

const missing = (id: string) =>
  `A payload in Temporal is encrypted with the key "${id}", which this process doesn't have. Add that key to ENCRYPTION_KEYS (or the ` +
  'file that ENCRYPTION_KEYS_FILE names), after the first, and restart the process.';

/** Reports whether {@link EncryptionCodec} has encrypted a payload. */
export function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.encoding) === ENCODING;
}

function encrypt(payload: Payload, { id, key }: EncryptionKey): Payload {
  const metadata = { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(id) };
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bytesOf(metadata));
  const ciphertext = cipher.update(PayloadMessage.encode(payload).finish());
  cipher.final();
  return { metadata, data: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) };
}

/** @throws Error when the tag doesn't fit. */
function decrypt({ metadata, data }: Payload, { key }: EncryptionKey): Payload {
  const bytes = data ?? new Uint8Array();
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAAD(bytesOf(metadata ?? {}));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  // Checks the tag. In this mode no text remains.
  decipher.final();
  return PayloadMessage.decode(plain);
}

/** Metadata in one form for each content: two that differ never have the same bytes. */
function bytesOf(metadata: Readonly<Record<string, Uint8Array>>): Buffer {
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return Buffer.from(JSON.stringify(entries.sort(([one = ''], [other = '']) => (one < other ? -1 : 1))));
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes).toString() : '';
}

/** The converter of failures, compiled or TypeScript, as this file is. Workflow bundles need it, too. */
const FAILURE_CONVERTER = fileURLToPath(new URL(`./failure-converter${extname(import.meta.url)}`, import.meta.url));

/** The converter between values and payloads, for every client and every worker. */
export function dataConverterOf(encryption: Encryption): DataConverter {
  return { payloadCodecs: [new EncryptionCodec(encryption)], failureConverterPath: FAILURE_CONVERTER };
}
