import { createHook } from 'node:async_hooks';
import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import ipaddr from 'ipaddr.js';
import { createMerchantNotifier } from '../../src/delivery/merchant.js';
import { createHostLookup, isPublicAddress } from '../../src/delivery/public-addresses.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import { begun, linkOrder } from '../support/orders.js';

describe('a public address', () => {
  it.each([
    ...['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8', '2a00:1450:4001::1', '64:ff9b::808:808'],
    // Neighbours of what is special.
    ...['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
    ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '2001:200::1', '2001:db9::1', '2003::1', '3ffe::1'],
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    // IPv4 in IPv6: compatible, translated, NAT64 (well-known and local), 6to4, Teredo, ISATAP's link-local.
    ...['::7f00:1', '::808:808', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b:1::808:808'],
    ...['2002:7f00:1::', '2002:808:808::1', '2001::1', '2001:0:808:808::1', 'fe80::5efe:127.0.0.1'],
    // The rest of IANA's special-purpose registries.
    ...['0.1.2.3', '100.127.255.255', '127.255.255.255', '172.31.255.255', '192.0.0.1', '192.0.0.8', '192.0.0.9'],
    ...['192.0.0.10', '192.0.0.170', '192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1'],
    ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '239.255.255.255', '240.0.0.1', '250.1.1.1'],
    ...['100::1', '100:0:0:1::1', '2001:1::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1'],
    ...['2001:30::1', '2001:db8::1', '2620:4f:8000::1', '3fff::1', '3fff:fff::1', '4000::1', '5f00::1', 'e000::1'],
    ...['fd00::1', 'febf::1', 'fec0::1', 'feff::1', 'ff02::1', 'ff0e::1', 'fe80::1%eth0', '::2'],
    ...['nonsense', ''],
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

/**
 * IANA's special-purpose registries, all of their entries as of 2026, but for those that stand for an IPv4 address:
 * https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry. And what these leave to
 * others: multicast, and site-local addresses.
 */
const REGISTERED = [
  ...['0.0.0.0/8', '0.0.0.0/32', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.0.0/29', '192.0.0.8/32', '192.0.0.9/32', '192.0.0.10/32', '192.0.0.170/32'],
  ...['192.0.0.171/32', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.88.99.2/32'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4'],
  ...['240.0.0.0/4', '255.255.255.255/32'],
  ...['::1/128', '::/128', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001::/32', '2001:1::1/128'],
  ...['2001:1::2/128', '2001:1::3/128', '2001:2::/48', '2001:3::/32', '2001:4:112::/48', '2001:10::/28'],
  ...['2001:20::/28', '2001:30::/28', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];

describe("IANA's special-purpose address", () => {
  /** The first and the last address of a block. */
  const endsOf = (cidr: string) => {
    const [address, bits] = ipaddr.parseCIDR(cidr);
    const ends = [0, 0xff].map((fill) =>
      address.toByteArray().map((byte, index) => {
        const own = Math.min(8, Math.max(0, bits - index * 8));
        return own === 8 ? byte : (byte & (0xff << (8 - own)) & 0xff) | (fill >> own);
      }),
    );
    return ends.map((bytes) => ipaddr.fromByteArray(bytes).toString());
  };

  it.each(REGISTERED)('%s is public at neither end', (cidr) => {
    expect(endsOf(cidr).filter(isPublicAddress)).toEqual([]);
  });

  it.each(['64:ff9b::', '::ffff:'])('%s is what its IPv4 address is', (prefix) => {
    const four = REGISTERED.filter((cidr) => !cidr.includes(':')).flatMap(endsOf);
    expect(four.map((address) => `${prefix}${address}`).filter(isPublicAddress)).toEqual([]);
    expect(isPublicAddress(`${prefix}8.8.8.8`)).toBe(true);
  });
});

describe('a notification to an address that is not public', () => {
  it.each(['127.0.0.1', 'localhost', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]'])(
    'is not sent (%s), and not a byte leaves',
    async (host) => {
      let connections = 0;
      const inner = createServer().on('connection', () => connections++);
      await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
      const url = `http://${host}:${(inner.address() as AddressInfo).port}/admin`;
      const secrets = [Buffer.alloc(32).toString('base64')];
      const { notifyMerchant } = createMerchantNotifier({
        endpointsOf: () => [{ url, secrets }],
        timeoutMs: 500,
        allowPrivate: false,
      });
      const delivery = await notifyMerchant({
        id: 'evt_1',
        type: 'payment.succeeded',
        timestamp: '2026-01-01T00:00:00Z',
        merchant: 'shop',
        payment: toPayment(begun(linkOrder)),
      });
      inner.close();
      expect(delivery).toEqual({ kind: 'failed', reason: expect.stringContaining('not a public address') });
      expect(connections).toBe(0);
    },
  );
});

describe("a merchant's name", () => {
  const open: (Socket | Server)[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  /** A name server that counts the questions, and answers those that `answer` has an IPv4 address for. */
  async function nameServer(answer: (name: string) => string | undefined = () => undefined) {
    const socket = createSocket('udp4');
    const server = { questions: [] as string[], resolver: new Resolver({ timeout: 1_000, tries: 1 }) };
    socket.on('message', (question, from) => {
      const name = nameIn(question);
      server.questions.push(name);
      const address = answer(name);
      if (address !== undefined) socket.send(answerTo(question, address), from.port, from.address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    open.push(socket);
    server.resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    return server;
  }

  async function merchantServer() {
    const server = createServer((_, response) => response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(server);
    return (server.address() as AddressInfo).port;
  }

  const notification = {
    id: 'evt_1',
    type: 'payment.succeeded',
    timestamp: '2026-01-01T00:00:00Z',
    merchant: 'shop',
    payment: toPayment(begun(linkOrder)),
  } as const;
  const secrets = [Buffer.alloc(32).toString('base64')];
  const notifierOf = (url: string, resolver: Resolver, allowPrivate = true) => {
    const endpoints = [{ url, secrets }];
    return createMerchantNotifier({ endpointsOf: () => endpoints, timeoutMs: 5_000, allowPrivate, resolver });
  };

  /** Counts look-ups with getaddrinfo, in libuv's threads. */
  async function getaddrinfoCalls(work: () => Promise<unknown>): Promise<number> {
    let calls = 0;
    const count = (_: number, type: string) => {
      if (type === 'GETADDRINFOREQWRAP') calls += 1;
    };
    const hook = createHook({ init: count }).enable();
    await work().finally(() => hook.disable());
    return calls;
  }

  it("whose servers don't answer takes no thread from others, and is given up after a second", async () => {
    const { resolver, questions } = await nameServer();
    const { notifyMerchant } = notifierOf('https://shop.example/hook', resolver);
    const many = () => Promise.all(Array.from({ length: 20 }, () => notifyMerchant(notification)));
    let outcomes: unknown[] = [];
    const calls = await getaddrinfoCalls(async () => {
      outcomes = await many();
    });
    expect(outcomes).toEqual(
      Array.from({ length: 20 }, () => ({ kind: 'failed', reason: 'its name servers did not answer' })),
    );
    expect(calls).toBe(0);
    // One question for each kind of address, whoever waits for it.
    expect(questions).toEqual(['shop.example', 'shop.example']);
  });

  it('is asked of the name servers, and found', async () => {
    const { resolver } = await nameServer((name) => (name === 'shop.example' ? '127.0.0.1' : undefined));
    const { notifyMerchant } = notifierOf(`http://shop.example:${await merchantServer()}/`, resolver);
    expect(await notifyMerchant(notification)).toEqual({ kind: 'delivered' });
  });

  it('that leads to an address of our own network is refused', async () => {
    const { resolver } = await nameServer(() => '127.0.0.1');
    const url = `http://shop.example:${await merchantServer()}/`;
    expect(await notifierOf(url, resolver, false).notifyMerchant(notification)).toEqual({
      kind: 'failed',
      reason: 'not sent: not a public address',
    });
  });

  it('that is localhost asks nobody', async () => {
    const { resolver, questions } = await nameServer();
    const { notifyMerchant } = notifierOf(`http://localhost:${await merchantServer()}/`, resolver);
    expect(await notifyMerchant(notification)).toEqual({ kind: 'delivered' });
    expect(questions).toEqual([]);
  });

  it("that is in the machine's file of hosts asks nobody", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
    folders.push(folder);
    const hostsFile = join(folder, 'hosts');
    await writeFile(hostsFile, '# own\n10.1.2.3\tShop shop.internal # both\nfd00::1 shop\nnonsense x\n');
    const { resolver, questions } = await nameServer();
    const lookUp = createHostLookup({ allowPrivate: true, resolver, hostsFile });
    const [four, six] = [
      { address: '10.1.2.3', family: 4 },
      { address: 'fd00::1', family: 6 },
    ];
    expect([await lookUp('shop'), await lookUp('SHOP.internal.'), await lookUp('[::1]')]).toEqual([
      [four, six],
      [four],
      [{ address: '::1', family: 6 }],
    ]);
    expect(questions).toEqual([]);
    const guarded = createHostLookup({ allowPrivate: false, resolver, hostsFile });
    await expect(guarded('shop')).rejects.toThrow('not a public address');
  });
});

/** The name that a DNS question is about. */
function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; question[at] !== 0 && at < question.length; at += 1 + (question[at] ?? 0)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  }
  return labels.join('.');
}

/** An answer with an address, or with none when another kind was asked for. */
function answerTo(question: Buffer, address: string): Buffer {
  let end = 12;
  while (question[end] !== 0) end += 1 + (question[end] ?? 0);
  const asked = question.subarray(12, end + 5);
  const isFour = question.readUInt16BE(end + 1) === 1;
  const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, Number(isFour), 0, 0, 0, 0]);
  question.copy(header, 0, 0, 2);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]);
  return Buffer.concat([header, asked, ...(isFour ? [record] : [])]);
}
