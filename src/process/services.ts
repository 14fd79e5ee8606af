import type { Service } from '../payments/words/order.js';
import type { ProviderClientOptions } from '../provider/calls.js';
import { createProviderClient, type ProviderClient } from '../provider/client.js';
import type { Config } from '../settings/read-settings.js';
import { type Tracing, traceProviderCalls } from '../telemetry/tracing.js';

/**
 * Makes a client for each of the provider's services from the settings. Call `close` on each when done.
 *
 * @param options `onCall` is told of each call to the provider, and `orderSlots` are those of the process
 * @param tracing traces the calls that are made for a payment
 */
export function createProviderServices(
  config: Config<'api'> | Config<'worker'>,
  options: Pick<ProviderClientOptions, 'onCall' | 'orderSlots'>,
  tracing: Tracing | undefined,
): Readonly<Record<Service, ProviderClient>> {
  const shared = {
    ...options,
    timeoutMs: config.PROVIDER_TIMEOUT,
    traceCall: tracing && traceProviderCalls(tracing),
  };
  return {
    collection: createProviderClient({
      ...shared,
      service: 'collection',
      url: config.PROVIDER_COLLECTION_URL,
      apiUser: config.PROVIDER_COLLECTION_API_USER,
      apiKey: config.PROVIDER_COLLECTION_API_KEY,
    }),
    payout: createProviderClient({
      ...shared,
      service: 'payout',
      url: config.PROVIDER_PAYOUT_URL,
      apiUser: config.PROVIDER_PAYOUT_API_USER,
      apiKey: config.PROVIDER_PAYOUT_API_KEY,
    }),
  };
}
