import type { Config } from './config.js';
import type { Service } from './payments/order.js';
import { createProviderClient, type ProviderClient } from './provider/client.js';

/** One client for each of the provider's services, as the settings say. `close` each when done. */
export function createProviderServices(
  config: Config<'api'> | Config<'worker'>,
): Readonly<Record<Service, ProviderClient>> {
  const timeoutMs = config.PROVIDER_TIMEOUT;
  return {
    collection: createProviderClient({
      service: 'collection',
      url: config.PROVIDER_COLLECTION_URL,
      apiUser: config.PROVIDER_COLLECTION_API_USER,
      apiKey: config.PROVIDER_COLLECTION_API_KEY,
      timeoutMs,
    }),
    payout: createProviderClient({
      service: 'payout',
      url: config.PROVIDER_PAYOUT_URL,
      apiUser: config.PROVIDER_PAYOUT_API_USER,
      apiKey: config.PROVIDER_PAYOUT_API_KEY,
      timeoutMs,
    }),
  };
}
