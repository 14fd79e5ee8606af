import { describe, expect, it } from '@jest/globals';
import { keysOf } from '../../src/temporal/encryption.js';
import { type ApiUnderTest, KEYS } from '../support/api-under-test.js';
import { link, useStack } from '../support/payment-stack.js';
import { freshKey } from '../support/test-encryption.js';

const stack = useStack();

describe("an API that doesn't have the key of a payment", () => {
  const startOther = (): Promise<ApiUnderTest> =>
    stack.startMore({ encryption: { keys: keysOf([freshKey('another-key')]), isOn: true } });

  it('says that the payment is there, and its log names the key', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const other = await startOther();
    const { status, body } = await other.ask('GET', `/v1/payments/${id}`, { key: KEYS.shop });
    expect([status, body.code]).toEqual([500, 'record_unreadable']);
    expect(body.detail).not.toContain('key');
    expect(JSON.stringify(await other.lineOf(body.requestId))).toMatch(/needs the encryption key/);
    expect((await stack.read(id)).status).toBe(200);
  });

  it('neither makes the payment of a repeated request anew, nor says that it was', async () => {
    const first = await stack.begun('/v1/collections', link, 'once-and-for-all');
    const other = await startOther();
    const again = await other.ask('POST', '/v1/collections', {
      key: KEYS.shop,
      body: link,
      headers: { 'idempotency-key': 'once-and-for-all' },
    });
    expect([again.status, again.body.code]).toEqual([500, 'record_unreadable']);
    expect(stack.transactionsOf(first.id)).toHaveLength(1);
  });
});
