import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createMerchantNotifier } from '../../src/activities/merchant.js';
import { isPublicAddress } from '../../src/activities/public-addresses.js';
import { toPayment } from '../../src/payments/to-payment.js';
import { begun, linkOrder } from '../support/orders.js';

describe('a public address', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'nonsense',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('a notification to an address that is not public', () => {
  it.each(['127.0.0.1', 'localhost', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]'])(
    'is not sent (%s), and not a byte leaves',
    async (host) => {
      let connections = 0;
      const inner = createServer().on('connection', () => connections++);
      await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
      const url = `http://${host}:${(inner.address() as AddressInfo).port}/admin`;
      const secrets = [Buffer.alloc(32).toString('base64')];
      const { notifyMerchant } = createMerchantNotifier({
        endpointsOf: () => [{ url, secrets }],
        timeoutMs: 500,
        allowPrivate: false,
      });
      const delivery = await notifyMerchant({
        id: 'evt_1',
        type: 'payment.succeeded',
        timestamp: '2026-01-01T00:00:00Z',
        payment: toPayment(begun(linkOrder)),
      });
      inner.close();
      expect(delivery).toEqual({ kind: 'failed', reason: expect.stringContaining('not a public address') });
      expect(connections).toBe(0);
    },
  );
});
