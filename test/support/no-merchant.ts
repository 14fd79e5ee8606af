import { createMerchantNotifier } from '../../src/delivery/merchant.js';

/** Notifies nobody: no merchant has an address. */
export const noMerchant = createMerchantNotifier({
  endpointsOf: () => [],
  timeoutMs: 1_000,
  allowPrivate: false,
});
