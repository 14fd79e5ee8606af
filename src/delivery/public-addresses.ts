import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Thrown when an address is not on the public internet, and so may be a machine of our own network. Its message names
 * no address, because merchants read it.
 */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'EPRIVATE';

  constructor() {
    super('not sent: not a public address');
  }
}

/** The range of IPv6 from which the internet's addresses are assigned; all else is special or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** IPv4 addresses, written in IPv6, that a gateway of an IPv6 network translates (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Reports whether an IP address (v4, v6, or v4 in v6) belongs to the public internet. Addresses that IANA calls special
 * but globally reachable don't count as public: nobody has a web server at an anycast address of the infrastructure.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6) {
    if (parsed.match(NAT64)) return isPublicAddress(parsed.toByteArray().slice(12).join('.'));
    if (!parsed.match(GLOBAL_UNICAST)) return false;
  }
  return parsed.range() === 'unicast';
}

/**
 * Refuses a URL whose host is an IP address that isn't public.
 *
 * @throws {PrivateAddressError}
 */
export function refusePrivateHost(url: URL): void {
  const host = withoutBrackets(url.hostname);
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw new PrivateAddressError();
}

/** The used part of a DNS resolver. */
export type HostResolver = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** Time limit for a name server's answer, in ms. It is asked once: the notification is tried again anyway. */
const NAME_SERVER_MS = 1_000;

interface LookupOptions {
  /** `true` to accept addresses that aren't on the public internet. */
  readonly allowPrivate: boolean;
  /** c-ares with the machine's name servers, by default. */
  readonly resolver?: HostResolver | undefined;
  /** File with the machine's own names; /etc/hosts by default. */
  readonly hostsFile?: string | undefined;
}

/**
 * Looks up merchants' names without getaddrinfo: that would wait in one of libuv's four threads for each name whose
 * servers don't answer, and the provider's client needs these threads, too.
 *
 * Its result stands in for Node's `dns.lookup`, and fails for names that resolve to an address that isn't public. It
 * checks the very answer that the connection uses, so that a name can't resolve to one address for the check and
 * another for the connection.
 */
export function createLookup(options: LookupOptions): LookupFunction {
  const addressesOf = createHostLookup(options);
  return (hostname, wanted, callback) => {
    addressesOf(hostname).then(
      (found) => {
        const family = Number(String(wanted.family ?? 0).replace('IPv', ''));
        const addresses = found.filter((one) => family === 0 || one.family === family);
        const [first] = addresses;
        if (first === undefined) return callback(failureOf('ENOTFOUND', hostname), []);
        if (wanted.all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };
}

interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds the addresses of a host, one question at a time for each name. */
export function createHostLookup({
  allowPrivate,
  resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: 1, maxTimeout: NAME_SERVER_MS }),
  hostsFile = '/etc/hosts',
}: LookupOptions): (hostname: string) => Promise<HostAddress[]> {
  const asked = new Map<string, Promise<HostAddress[]>>();
  const find = async (name: string): Promise<HostAddress[]> => {
    const own = ownAddressesOf(name, hostsFile);
    const found = own.length > 0 ? own : await resolve(resolver, name);
    if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address))) throw new PrivateAddressError();
    return found;
  };
  return (hostname) => {
    const name = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
    const asking = asked.get(name) ?? find(name).finally(() => asked.delete(name));
    asked.set(name, asking);
    return asking;
  };
}

/**
 * Asks for both kinds of addresses. One kind is enough: a server that answers for the other alone is often slow or
 * wrong.
 */
async function resolve(resolver: HostResolver, name: string): Promise<HostAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 as const })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 as const })) : []),
  ];
  if (found.length > 0) return found;
  const codes = [four, six].map((one) => (one.status === 'rejected' ? String(one.reason?.code) : 'ENODATA'));
  throw failureOf(codes.find((code) => !NOT_FOUND.has(code)) ?? 'ENOTFOUND', name);
}

/** The name doesn't exist, or has no address: c-ares tells them apart, and nobody needs to know. */
const NOT_FOUND: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function failureOf(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name}: ${code}`), { code });
}

/**
 * Finds the addresses of a name that the machine itself knows: an address, one of its own (RFC 6761), or a listed host.
 */
function ownAddressesOf(name: string, hostsFile: string): HostAddress[] {
  if (ipaddr.isValid(name)) return [toAddress(name)];
  const listed = hostsIn(hostsFile).get(name);
  if (listed !== undefined) return listed;
  return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'].map(toAddress) : [];
}

function toAddress(address: string): HostAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}

/** The names in a file of hosts, as it is now: it is short, and kept in memory by the system. */
function hostsIn(file: string): Map<string, HostAddress[]> {
  const hosts = new Map<string, HostAddress[]>();
  for (const line of readLines(file)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!ipaddr.isValid(address)) continue;
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), toAddress(address)]);
  }
  return hosts;
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A host as URLs have it, without the brackets of an IPv6 address. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
