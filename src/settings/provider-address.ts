import { baseUrl } from './kinds.js';

/**
 * Reports whether the provider at an address is the sandbox: on this machine, or the service `sandbox` of
 * docker-compose.yml. Any other name, with a dot or without one, can be the real provider's.
 */
export function isSandbox(address: string | undefined): boolean {
  const host = URL.parse(address ?? '')?.hostname ?? '';
  return host === 'sandbox' || isLoopback(host);
}

const isLoopback = (host: string) =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Base address of one of the provider's services: its credentials and people's numbers are sent there. */
export const providerUrl = baseUrl.refine(
  (address) => URL.parse(address)?.protocol === 'https:' || isSandbox(address),
  {
    error:
      "must be an https address: by http, whoever is on the way reads the API key and people's numbers. Only the sandbox may be at an http address, on this machine or as http://sandbox:4000",
  },
);
