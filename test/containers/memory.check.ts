import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { PROJECT } from '../support/built.js';
import { compose, containerOf, docker, ENGINE, inspect } from './compose.js';
import { create, ends } from './merchant.js';

/** Podman runs without cgroups here, and then knows no limits. */
const limited = ENGINE === 'docker' ? describe : describe.skip;

const PROCESSES = ['api', 'worker'] as const;
const resources = z.object({ resources: z.object({ limits: z.object({ memory: z.string() }) }) });
const valuesSchema = z.object({ api: resources, worker: resources });

const AT_ONCE = 25;
const ROUNDS = 20;

limited('with the limits of memory that the chart sets', () => {
  beforeAll(async () => {
    const values = valuesSchema.parse(parse(await readFile(`${PROJECT}deploy/helm/sanaga/values.yaml`, 'utf8')));
    for (const name of PROCESSES) {
      const memory = values[name].resources.limits.memory.replace(/i$/, '').toLowerCase();
      await docker('update', '--memory', memory, '--memory-swap', memory, await containerOf(name));
    }
  });
  afterAll(() => compose('up', '-d', '--no-deps', '--force-recreate', ...PROCESSES), 120_000);

  it('five hundred payments end, and no process is killed', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const body = { method: 'direct', amount: 500, phone: '677000000' };
      const created = await Promise.all(Array.from({ length: AT_ONCE }, () => create('/v1/collections', body)));
      for (const payment of created) expect(await ends(payment)).toMatchObject({ status: 'SUCCESSFUL' });
    }
    for (const name of PROCESSES) {
      expect([name, await inspect(name, '{{.State.OOMKilled}} {{.RestartCount}}')]).toEqual([name, 'false 0']);
    }
  });
});
