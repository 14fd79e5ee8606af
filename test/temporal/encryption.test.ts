import { beforeEach, describe, expect, it } from '@jest/globals';
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import {
  type CodecCall,
  DecryptionError,
  type Encryption,
  EncryptionCodec,
  type EncryptionKey,
  isEncrypted,
  keysOf,
} from '../../src/temporal/encryption.js';
import { failureConverter } from '../../src/temporal/failure-converter.js';
import { freshKey } from '../support/test-encryption.js';

const ORDER = { phone: '677123456', name: 'Awa Mballa', email: 'awa@example.cm', amount: 5_000 };

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const contentOf = (payload: Payload | undefined): unknown => payload && defaultPayloadConverter.fromPayload(payload);

const codecWith = (keys: readonly EncryptionKey[], isOn = true) =>
  new EncryptionCodec({ keys: keysOf(keys), isOn } satisfies Encryption);

async function encrypted(value: unknown, ...keys: EncryptionKey[]): Promise<Payload> {
  const [payload] = await codecWith(keys).encode([payloadOf(value)]);
  if (payload === undefined) throw new Error('it was encoded to nothing');
  return payload;
}

const key = freshKey('2026-11');

describe('an encrypted payload', () => {
  it('becomes what it was, whatever that was', async () => {
    const codec = codecWith([key]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), async (values) => {
        const plain = values.map(payloadOf);
        const payloads = await codec.encode(plain);
        expect(payloads.every(isEncrypted)).toBe(true);
        const decoded = await codec.decode(payloads);
        // Not the values themselves: a payload is JSON, which has no -0.
        expect(decoded.map(contentOf)).toEqual(plain.map(contentOf));
      }),
    );
  });

  it('keeps the metadata of what is in it, of bytes and of nothing, too', async () => {
    const codec = codecWith([key]);
    const payloads = [payloadOf(new Uint8Array([0, 255, 7])), payloadOf(undefined)];
    const decoded = await codec.decode(await codec.encode(payloads));
    expect(decoded.map(contentOf)).toEqual([new Uint8Array([0, 255, 7]), undefined]);
  });

  it('shows nothing of what is in it but the name of its key', async () => {
    const { metadata, data } = await encrypted(ORDER, key);
    const text = Buffer.from(data ?? []).toString('latin1');
    for (const value of Object.values(ORDER)) expect(text).not.toContain(String(value));
    const shown = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString()]);
    expect(Object.fromEntries(shown)).toEqual({
      encoding: 'binary/encrypted',
      'encryption-key-id': '2026-11',
    });
  });

  it('is another one each time', async () => {
    const payloads = await Promise.all(Array.from({ length: 500 }, () => encrypted(ORDER, key)));
    const nonces = payloads.map(({ data }) => Buffer.from(data ?? []).toString('hex', 0, 12));
    expect(new Set(nonces).size).toBe(payloads.length);
  });

  it.each([
    ['its data', (payload: Payload) => flip(payload.data, 20)],
    ['its nonce', (payload: Payload) => flip(payload.data, 0)],
    ['its tag', (payload: Payload) => flip(payload.data, -1)],
  ])("isn't read when %s was changed", async (_, change) => {
    const payload = await encrypted(ORDER, key);
    change(payload);
    await expect(codecWith([key]).decode([payload])).rejects.toThrow(
      /can't be decrypted with the encryption key "2026-11".* the payload was changed/,
    );
  });

  it("isn't read when its metadata was changed, in whatever way", async () => {
    const other: EncryptionKey = { ...key, id: 'another' };
    const codec = codecWith([key, other]);
    const { metadata, data = null } = await encrypted(ORDER, key);
    const changed = [
      { ...metadata, 'encryption-key-id': Buffer.from('another') },
      { ...metadata, more: Buffer.from('of it') },
    ];
    for (const each of changed) {
      await expect(codec.decode([{ metadata: each, data }])).rejects.toThrow(DecryptionError);
    }
  });

  it.each([0, 5, 12, 27])("isn't read when only %i bytes of it are left", async (length) => {
    const { metadata = null, data } = await encrypted(ORDER, key);
    const cut = { metadata, data: Buffer.from(data ?? []).subarray(0, length) };
    await expect(codecWith([key]).decode([cut])).rejects.toThrow(DecryptionError);
  });
});

describe('keys', () => {
  const next = freshKey('2026-12');

  it('are rotated: the first encrypts, and each decrypts what it has encrypted', async () => {
    const before = await encrypted('before', key);
    const after = await encrypted('after', next, key);
    expect(Buffer.from(after.metadata?.['encryption-key-id'] ?? []).toString()).toBe('2026-12');
    const decoded = await codecWith([next, key]).decode([before, after]);
    expect(decoded.map(contentOf)).toEqual(['before', 'after']);
  });

  it('that are missing are named, with what to do', async () => {
    const payload = await encrypted(ORDER, key);
    await expect(codecWith([next]).decode([payload])).rejects.toThrow(
      'A payload in Temporal is encrypted with the key "2026-11", which this process doesn\'t have. Add that key to ENCRYPTION_KEYS',
    );
  });

  it('of the same id that are others are named, too', async () => {
    const payload = await encrypted(ORDER, key);
    await expect(codecWith([freshKey('2026-11')]).decode([payload])).rejects.toThrow(
      /can't be decrypted with the encryption key "2026-11": either that isn't the key which encrypted it/,
    );
  });

  it('can come from a source that makes a new one each time', async () => {
    const made = new Map<string, EncryptionKey>();
    const source = {
      async current() {
        const fresh = freshKey(`data-key-${made.size}`);
        made.set(fresh.id, fresh);
        return fresh;
      },
      find: async (id: string) => made.get(id),
    };
    const codec = new EncryptionCodec({ keys: source, isOn: true });
    const payloads = [...(await codec.encode([payloadOf(1)])), ...(await codec.encode([payloadOf(2)]))];
    expect((await codec.decode(payloads)).map(contentOf)).toEqual([1, 2]);
    expect(made.size).toBe(2);
  });

  it("that can't be had at the moment are named", async () => {
    const payload = await encrypted(ORDER, key);
    const cause = new Error('the key management service is away');
    const away = { current: () => Promise.reject(cause), find: () => Promise.reject(cause) };
    const codec = new EncryptionCodec({ keys: away, isOn: true });
    const failure = await codec.decode([payload]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DecryptionError);
    expect(failure).toMatchObject({
      cause,
      message: 'The encryption key "2026-11" can\'t be had at the moment',
    });
    // An activity whose result can't be encrypted has been carried out: that must not look as if it had never begun.
    await expect(codec.encode([payload])).rejects.not.toBeInstanceOf(DecryptionError);
  });

  it('must be there to encrypt with', async () => {
    await expect(codecWith([]).encode([payloadOf(1)])).rejects.toThrow('there is no key to encrypt with');
  });
});

describe('what was encrypted and decrypted', () => {
  const told: CodecCall[] = [];
  const codec = new EncryptionCodec({ keys: keysOf([key]), isOn: true, onCall: (call) => told.push(call) });
  beforeEach(() => void told.splice(0));

  it('is told, with how many payloads there were and how long it took', async () => {
    await codec.decode(await codec.encode([payloadOf(1), payloadOf(2)]));
    expect(told).toEqual([
      { operation: 'encrypt', result: 'succeeded', payloads: 2, durationMs: expect.any(Number) },
      { operation: 'decrypt', result: 'succeeded', payloads: 2, durationMs: expect.any(Number) },
    ]);
  });

  it('is told when it fails, too', async () => {
    const foreign = await encrypted(ORDER, freshKey('unknown'));
    await expect(codec.decode([foreign, payloadOf(1)])).rejects.toThrow(DecryptionError);
    const keyless = new EncryptionCodec({ keys: keysOf([]), isOn: true, onCall: (call) => told.push(call) });
    await expect(keyless.encode([payloadOf(1)])).rejects.toThrow();
    expect(told).toMatchObject([
      { operation: 'decrypt', result: 'failed', payloads: 1 },
      { operation: 'encrypt', result: 'failed', payloads: 1 },
    ]);
  });

  it('leaves out what is in plain text', async () => {
    await codec.decode([payloadOf(ORDER)]);
    await codec.encode([]);
    expect(told).toEqual([]);
  });
});

describe('payloads in plain text', () => {
  it('stay readable', async () => {
    const plain = payloadOf(ORDER);
    expect(await codecWith([key]).decode([plain])).toEqual([plain]);
  });

  it('are written when encryption is off, which still reads what was encrypted', async () => {
    const codec = codecWith([key], false);
    const plain = payloadOf(ORDER);
    expect(await codec.encode([plain])).toEqual([plain]);
    expect((await codec.decode([await encrypted('before', key)])).map(contentOf)).toEqual(['before']);
  });
});

describe('failures', () => {
  it('have their message and their stack trace in a payload, and those of their causes', () => {
    const cause = new Error('677123456 has no account');
    const failure = ApplicationFailure.create({ type: 'Refused', message: 'Awa Mballa was refused', cause });
    const {
      encodedAttributes,
      cause: inner,
      ...shown
    } = failureConverter.errorToFailure(failure, defaultPayloadConverter);
    const readable = JSON.stringify([shown, { ...inner, encodedAttributes: undefined }]);
    expect(readable).toContain('Encoded failure');
    expect(readable).not.toMatch(/Awa|677123456|encryption\.test/);
    expect(contentOf(encodedAttributes ?? undefined)).toMatchObject({ message: 'Awa Mballa was refused' });
    expect(contentOf(inner?.encodedAttributes ?? undefined)).toMatchObject({
      message: '677123456 has no account',
    });
  });

  it('become the errors that they were', () => {
    const failure = failureConverter.errorToFailure(
      ApplicationFailure.create({ type: 'Refused', message: 'Awa Mballa was refused' }),
      defaultPayloadConverter,
    );
    expect(failureConverter.failureToError(failure, defaultPayloadConverter)).toMatchObject({
      type: 'Refused',
      message: 'Awa Mballa was refused',
    });
  });
});

function flip(data: Uint8Array | null | undefined, at: number): void {
  const index = at < 0 ? (data?.length ?? 0) + at : at;
  if (data) data[index] = (data[index] ?? 0) ^ 1;
}
