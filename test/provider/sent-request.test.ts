import { afterEach, describe, expect, it } from '@jest/globals';
import { toDirectPay, toInitiatePay, toPayout } from '../../src/activities/to-request.js';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.js';
import { directOrder, linkOrder, payoutOrder } from '../payments/orders.js';
import { closeServers, json, serveHttp } from './local-servers.js';

const clients: ProviderClient[] = [];

function clientOf(service: 'collection' | 'payout', url: string): ProviderClient {
  const client = createProviderClient({ service, url, apiUser: 'user', apiKey: 'key', timeoutMs: 1_000 });
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await closeServers();
});

const merchants = { userId: 'guest', externalId: 'order-7' };

describe('an order with identifiers of the merchant, as it is sent to the provider', () => {
  it.each<[string, string, (url: string) => Promise<unknown>]>([
    [
      'a link',
      linkOrder.id,
      (url) => clientOf('collection', url).initiatePay(toInitiatePay({ ...linkOrder, ...merchants })),
    ],
    [
      'a direct payment',
      directOrder.id,
      (url) => clientOf('collection', url).directPay(toDirectPay({ ...directOrder, ...merchants })),
    ],
    [
      'a payout',
      payoutOrder.id,
      (url) => clientOf('payout', url).payout(toPayout({ ...payoutOrder, ...merchants })),
    ],
  ])(
    "(%s) carries the payment's id as externalId and userId, and neither of the merchant's",
    async (_, id, send) => {
      const server = await serveHttp(json(200, { transId: 'T1' }));
      await send(server.url);
      expect(server.seen).toHaveLength(1);
      const body = server.seen[0]?.body ?? '';
      expect(JSON.parse(body)).toMatchObject({ externalId: id, userId: id });
      expect(body).not.toMatch(/guest|order-7/);
    },
  );
});
