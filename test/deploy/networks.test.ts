import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { REACHES } from '../support/reach.js';

const { services, networks } = z
  .object({
    services: z.record(z.string(), z.object({ networks: z.array(z.string()).default([]) })),
    networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  })
  .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }));

/** The others in a service's networks. */
function reachedFrom(service: string): string[] {
  const own = services[service]?.networks ?? [];
  const others = Object.entries(services).filter(
    ([name, other]) => name !== service && other.networks.some((network) => own.includes(network)),
  );
  return others.map(([name]) => name).sort();
}

describe('the networks of docker-compose.yml', () => {
  it('let each service reach those that are meant to be reached', () => {
    const reached = Object.keys(services).map((service) => [service, reachedFrom(service)]);
    expect(Object.fromEntries(reached)).toEqual(REACHES);
  });

  it('keep databases, and what holds payments, from the outside', () => {
    for (const name of ['data', 'book', 'temporal']) expect([name, networks[name]]).toEqual([name, { internal: true }]);
    expect(services.postgres?.networks.filter((name) => !networks[name]?.internal)).toEqual([]);
  });
});
