import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createMerchantNotifier, type MerchantNotification } from '../../src/activities/notify-merchant.js';
import { toPayment } from '../../src/payments/to-payment.js';
import { begun, linkOrder } from '../payments/orders.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const notification: MerchantNotification = {
  id: 'evt_col_1_1',
  type: 'payment.succeeded',
  timestamp: '2026-01-01T00:00:00.000Z',
  payment: toPayment(begun(linkOrder)),
};

const got: { headers: IncomingHttpHeaders; body: string }[] = [];
let answer: (number | { redirect: string }) | 'nothing' = 200;
const merchant = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
  if (answer === 'nothing') return;
  if (typeof answer === 'number') response.writeHead(answer).end();
  else response.writeHead(307, { location: answer.redirect }).end();
});
const url = () => `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/hook`;
const notify = () =>
  createMerchantNotifier({
    url: url(),
    secrets: [SECRET],
    timeoutMs: 300,
    allowPrivate: true,
  }).notifyMerchant(notification);

beforeAll(() => new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  merchant.closeAllConnections();
  merchant.close();
});
beforeEach(() => {
  got.length = 0;
  answer = 200;
});

describe('a notification to the merchant', () => {
  it('is a Standard Webhook that the merchant can verify, with the payment as its data', async () => {
    expect(await notify()).toEqual({ kind: 'delivered' });
    const [{ headers, body } = { headers: {}, body: '' }] = got;
    const verified = new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(verified).toEqual({
      type: 'payment.succeeded',
      timestamp: notification.timestamp,
      data: JSON.parse(JSON.stringify(notification.payment)),
    });
    expect(headers['webhook-id']).toBe('evt_col_1_1');
  });

  it('is signed with both secrets during a rotation, so that either verifies it', async () => {
    const next = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const endpoint = { url: url(), secrets: [SECRET, next], timeoutMs: 300, allowPrivate: true };
    await createMerchantNotifier(endpoint).notifyMerchant(notification);
    const [{ headers, body } = { headers: {}, body: '' }] = got;
    for (const secret of [SECRET, next]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
    }
  });

  it('spares the first tries once the merchant is down, and not the later ones, which find out when it is back', async () => {
    answer = 500;
    const endpoint = { url: url(), secrets: [SECRET], timeoutMs: 300, allowPrivate: true };
    const { notifyMerchant, notifyMerchantAgain } = createMerchantNotifier(endpoint);
    for (let failure = 0; failure < 3; failure++) await notifyMerchant(notification);
    expect(await notifyMerchant(notification)).toMatchObject({ kind: 'failed' });
    expect(got).toHaveLength(3);
    answer = 200;
    expect(await notifyMerchantAgain(notification)).toEqual({ kind: 'delivered' });
    expect(await notifyMerchant(notification)).toEqual({ kind: 'delivered' });
    expect(got).toHaveLength(5);
  });

  it("can't be verified with another secret", async () => {
    await notify();
    const [{ headers, body } = { headers: {}, body: '' }] = got;
    const other = new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(() => other.verify(body, headers as Record<string, string>)).toThrow();
  });

  it.each([204, 299])('is delivered when the merchant answers %d', async (status) => {
    answer = status;
    expect(await notify()).toEqual({ kind: 'delivered' });
  });

  it.each([301, 400, 410, 500, 503])(
    'is not delivered when the merchant answers %d, and is tried once',
    async (status) => {
      answer = status;
      expect(await notify()).toEqual({ kind: 'failed', reason: `the merchant's address answered ${status}` });
      expect(got).toHaveLength(1);
    },
  );

  it('follows no redirect', async () => {
    answer = { redirect: url() };
    expect(await notify()).toMatchObject({ kind: 'failed' });
    expect(got).toHaveLength(1);
  });

  it('is not delivered when the merchant does not answer in time', async () => {
    answer = 'nothing';
    expect(await notify()).toEqual({ kind: 'failed', reason: 'not delivered: ETIMEDOUT' });
  });

  it('has nowhere to go without an address', async () => {
    expect(await createMerchantNotifier(undefined).notifyMerchant(notification)).toEqual({
      kind: 'noAddress',
    });
  });
});
