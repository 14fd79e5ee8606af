import ipaddr from 'ipaddr.js';

/**
 * Returns the network that counts as one address: an IPv4 address, or an IPv6 network of 64 bits, which a customer
 * usually has.
 *
 * @param address as a proxy may write it: with a port, in brackets, or with a zone
 */
export function networkOf(address: string): string {
  const [, bracketed, four] =
    /^(?:\[([^\]]{1,100})\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/.exec(address.trim()) ?? [];
  const host = (bracketed ?? four ?? address.trim()).replace(/%.*$/s, '');
  if (host.length > 100 || !ipaddr.isValid(host)) return 'unknown';
  const parsed = ipaddr.process(host);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, 8).join('.');
}
