import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { MerchantEndpoint } from '../../../lab/people/merchant-endpoint.js';
import { MERCHANT_SECRET } from '../../../lab/world/credentials.js';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import { begun, linkOrder } from '../../support/orders.js';

const webhookId = 'evt_1';
const body = JSON.stringify({
  type: 'payment.succeeded',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: toPayment(begun(linkOrder)),
});

function signedHeaders() {
  const at = new Date();
  return {
    'webhook-id': webhookId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(MERCHANT_SECRET).sign(webhookId, at, body),
  };
}

/** Counts the timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe("a merchant's endpoint", () => {
  const server = createServer();
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('ends its endless answer at once when the sender has hung up before', async () => {
    const { port } = server.address() as AddressInfo;
    const sender = send({ port, host: '127.0.0.1', method: 'POST', headers: signedHeaders() });
    sender.on('error', () => undefined);
    sender.end(body);
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const received: unknown[] = [];
    const endpoint = new MerchantEndpoint({
      seed: 1,
      secret: MERCHANT_SECRET,
      async now() {
        const closed = once(response, 'close');
        sender.destroy();
        await closed;
        return Date.now();
      },
      truthOf: () => [],
      onNotification: (notification) => received.push(notification),
      count: () => undefined,
      faultOf: () => 'merchantEndless',
    });
    const before = timers();
    await endpoint.take(request, response);
    expect(received).toHaveLength(1);
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
