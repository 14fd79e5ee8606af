import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { REACHES } from '../support/reach.js';
import { asRoot, inspect, SERVICES } from './compose.js';

/** Where each service listens for others, in its container. */
const PORTS: Readonly<Record<(typeof SERVICES)[number], readonly number[]>> = {
  postgres: [5432],
  backup: [],
  temporal: [7233, 8000],
  'temporal-ui': [8080],
  api: [3000, 9464],
  balancer: [3000],
  worker: [9464],
  codec: [8234],
  desk: [3001],
  sandbox: [4000],
};

/** Tries each address, and prints those that take the connection. A wall that drops what comes never answers. */
const CONNECT = `
  const { connect } = require('node:net');
  const tried = process.argv.slice(1).map((target) => new Promise((resolve) => {
    const [host, port] = target.split(' ');
    const socket = connect({ host, port, timeout: 5_000 });
    const end = (found) => { socket.destroy(); resolve(found); };
    socket.on('connect', () => end([target])).on('error', () => end([])).on('timeout', () => end([]));
  }));
  Promise.all(tried).then((found) => process.stdout.write(JSON.stringify(found.flat())));`;

/** A service's container: its first process, and its addresses, one in each of its networks. */
interface Container {
  readonly pid: string;
  readonly addresses: readonly string[];
}
const containers = new Map<string, Container>();

beforeAll(async () => {
  const template = '{{.State.Pid}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}';
  for (const service of SERVICES) {
    const [pid = '', ...addresses] = (await inspect(service, template)).split(' ');
    containers.set(service, { pid, addresses });
  }
}, 300_000);

describe.each(SERVICES)('the container of %s', (service) => {
  it('gets at the ports of those that it may reach, and of no other, even by their addresses', async () => {
    const targets = new Map<string, string>();
    for (const other of SERVICES.filter((name) => name !== service)) {
      // What listens nowhere may have no address.
      if (PORTS[other].length === 0) continue;
      const addresses = containers.get(other)?.addresses ?? [];
      expect([other, addresses.length]).not.toEqual([other, 0]);
      for (const port of PORTS[other]) {
        for (const address of addresses) targets.set(`${address} ${port}`, `${other}:${port}`);
      }
    }
    // With the machine's own Node, in the container's network alone: not every image has a program that connects.
    const into = [
      '--target',
      containers.get(service)?.pid ?? '',
      '--net',
      process.execPath,
      '--eval',
      CONNECT,
      ...targets.keys(),
    ];
    const taken = z.array(z.string()).parse(JSON.parse(await asRoot('nsenter', ...into)));
    const allowed = SERVICES.filter((other) => REACHES[service]?.includes(other));
    expect([...new Set(taken.map((target) => targets.get(target)))].sort()).toEqual(
      allowed.flatMap((other) => PORTS[other].map((port) => `${other}:${port}`)).sort(),
    );
  });
});
