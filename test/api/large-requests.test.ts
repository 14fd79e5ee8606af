import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { encryptionOf } from '../../src/temporal/encryption.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';
import { testEncryption } from '../support/test-encryption.js';

/** Metadata of 50 pairs that has so many bytes as JSON. */
function metadataOf(bytes: number): Record<string, string> {
  const value = (length: number) => 'é'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2);
  const pairs = Array.from({ length: 50 }, (_, item) => [`item-${10 + item}`, value(620)] as [string, string]);
  const left = bytes - Buffer.byteLength(JSON.stringify(Object.fromEntries(pairs)));
  pairs[49] = ['item-59', value(620 + left)];
  return Object.fromEntries(pairs);
}

const order = {
  externalId: 'o'.repeat(100),
  userId: 'u'.repeat(100),
  message: '\u{1f4b6}'.repeat(200),
  email: `${'e'.repeat(64)}@${'d'.repeat(63)}.example`,
};
const bodies = {
  '/v1/collections': { ...link, ...order, redirectUrl: `https://shop.example/?${'r'.repeat(1_900)}` },
  '/v1/payouts': { ...payout, ...order, name: '\u{1f4b6}'.repeat(200) },
};

describe.each([
  ['encrypted', testEncryption],
  ['in plain text', encryptionOf({ ENCRYPTION: 'off' })],
])('a request as large as it may be, %s', (_, encryption) => {
  const stack = useStack({ encryption });

  it.each(Object.entries(bodies))('is taken: POST %s', async (path, body) => {
    const answer = () => stack.post(path, { ...body, metadata: metadataOf(32_000) }, randomUUID());
    const { status, body: payment } = await eventually(answer, (given) => given.status !== 503);
    expect([201, 202]).toContain(status);
    const { body: listed } = await eventually(
      () => stack.api.ask('GET', '/v1/payments?limit=100', { key: KEYS.shop }),
      ({ text }) => text.includes(payment.id),
    );
    const found = listed.data.find(({ id }: { id: string }) => id === payment.id);
    expect(Buffer.byteLength(JSON.stringify(found.metadata))).toBe(32_000);
  });

  it.each(Object.entries(bodies))('is refused beyond that, and names the field: POST %s', async (path, body) => {
    const before = stack.sandbox.ledger.all().length;
    const answer = await stack.post(path, { ...body, metadata: metadataOf(32_001) }, randomUUID());
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { errors: [{ field: 'metadata', message: expect.stringContaining('at most 32000 bytes') }] },
    ]);
    expect(stack.sandbox.ledger.all()).toHaveLength(before);
  });
});
