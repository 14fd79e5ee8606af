import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { SealBroken, Seals } from '../../src/book/seals.js';
import { type CodecCall, type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { freshKey } from '../support/test-encryption.js';

const [one, other] = [freshKey('one'), freshKey('other')];
const PLACE = { table: 'states', id: 'pay_1', version: 3 } as const;
const CONTENT = { phone: '677000205' };
const schema = z.object({ phone: z.string() });

/** Seals with these keys, and what their measures are told. */
function sealsWith(...keys: readonly EncryptionKey[]) {
  const calls: CodecCall[] = [];
  const seals = new Seals({ keys: keysOf(keys), isOn: true, onCall: (call) => calls.push(call) });
  return { seals, told: () => calls.map(({ operation, result, payloads }) => `${operation} ${result} ${payloads}`) };
}

describe('what a row holds', () => {
  it('is opened by whoever has its key, and shows nothing to anybody else', async () => {
    const sealed = await sealsWith(one).seals.seal(PLACE, CONTENT);
    expect(await sealsWith(other, one).seals.open(PLACE, sealed, schema)).toEqual(CONTENT);
    expect(sealed.toString('latin1')).not.toContain('677000205');
    await expect(sealsWith(other).seals.open(PLACE, sealed, schema)).rejects.toThrow('needs the encryption key "one"');
  });

  it.each([
    ['another row', { ...PLACE, id: 'pay_2' }],
    ['another table', { ...PLACE, table: 'sends' } as const],
    ['a later version of its own', { ...PLACE, version: 4 }],
  ])("can't be passed off as that of %s", async (_, place) => {
    const { seals } = sealsWith(one);
    const sealed = await seals.seal(PLACE, CONTENT);
    await expect(seals.open(place, sealed, schema)).rejects.toThrow(SealBroken);
  });

  it('is refused when a bit of it has changed, or when it is in plain text', async () => {
    const { seals } = sealsWith(one);
    const sealed = await seals.seal(PLACE, CONTENT);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      await expect(seals.open(PLACE, changed, schema)).rejects.toThrow(SealBroken);
    }
    const plain = await new Seals({ keys: keysOf([]), isOn: false }).seal(PLACE, CONTENT);
    await expect(seals.open(PLACE, plain, schema)).rejects.toThrow("isn't encrypted, and has to be");
  });
});

describe('the measures of the encryption', () => {
  it('are told of each row that is sealed or opened, and of each that could not be', async () => {
    const { seals, told } = sealsWith(one);
    const sealed = await seals.seal(PLACE, CONTENT);
    await seals.open(PLACE, sealed, schema);
    expect(told()).toEqual(['encrypt succeeded 1', 'decrypt succeeded 1']);
    const without = sealsWith(other);
    await without.seals.open(PLACE, sealed, schema).catch(() => undefined);
    expect(without.told()).toEqual(['decrypt failed 1']);
  });

  it('are told nothing of cursors, as which callers may send what they like', async () => {
    const { seals, told } = sealsWith(one);
    const cursor = { table: 'cursors', id: 'events' } as const;
    const sealed = await seals.seal(cursor, CONTENT);
    await seals.open({ ...cursor, id: 'others' }, sealed, schema).catch(() => undefined);
    expect(told()).toEqual([]);
  });
});
