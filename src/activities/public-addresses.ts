import { type LookupAddress, type LookupAllOptions, type LookupOptions, lookup } from 'node:dns';
import ipaddr from 'ipaddr.js';

/**
 * Thrown when an address is not on the public internet, and so may be a machine of our own network. Its message names no
 * address, because merchants read it.
 */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'EPRIVATE';

  constructor() {
    super('not sent: not a public address');
  }
}

/** Whether an IP address (v4, v6, or v4 in v6) belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/**
 * Refuses a URL whose host is an IP address that isn't public.
 *
 * @throws {PrivateAddressError}
 */
export function refusePrivateHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw new PrivateAddressError();
}

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Node's `dns.lookup`, except that it fails for names that resolve to an address that isn't public. It checks the very
 * answer that the connection uses, so that a name can't resolve to one address for the check and another for the connection.
 */
export function lookupPublic(hostname: string, options: LookupOptions, callback: Callback): void {
  const all: LookupAllOptions = { ...options, all: true };
  lookup(hostname, all, (error, addresses) => {
    if (error) return callback(error, []);
    if (!addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new PrivateAddressError(), []);
    const [first] = addresses;
    if (options.all || first === undefined) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
}
