import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { eventually } from '../support/eventually.js';
import { compose, docker, inTree } from './compose.js';

const PROMETHEUS = 'http://127.0.0.1:9090/api/v1';

const ask = async (path: string): Promise<unknown> => {
  const response = await fetch(`${PROMETHEUS}${path}`);
  return z.object({ data: z.unknown() }).parse(await response.json()).data;
};

const targetsSchema = z.object({
  activeTargets: z.array(z.object({ labels: z.object({ job: z.string() }), health: z.string() })),
});
const healthy = async (job: string) =>
  targetsSchema
    .parse(await ask('/targets'))
    .activeTargets.filter(({ labels, health }) => labels.job === job && health === 'up').length;

describe('the profile metrics', () => {
  beforeAll(async () => {
    await compose('--profile', 'metrics', 'up', '-d', 'prometheus');
  }, 300_000);
  afterAll(async () => {
    await compose('--profile', 'metrics', 'rm', '--stop', '--force', 'prometheus');
  }, 120_000);

  it('has Prometheus read the API and the worker', async () => {
    await eventually(
      () => healthy('sanaga-api').catch(() => 0),
      (count) => count === 1,
      120_000,
    );
    await eventually(
      () => healthy('sanaga-worker').catch(() => 0),
      (count) => count === 1,
      120_000,
    );
  });

  it('has it judge by all alerts, none of which says that something is wrong with itself', async () => {
    const file = z
      .object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string().optional() })) })) })
      .parse(parse(await readFile(inTree('deploy/prometheus/alerts.yml'), 'utf8')));
    const wanted = file.groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
    const rules = z.object({
      groups: z.array(
        z.object({ rules: z.array(z.object({ name: z.string(), health: z.string(), type: z.string() })) }),
      ),
    });
    const loaded = async () =>
      rules.parse(await ask('/rules')).groups.flatMap((group) => group.rules.filter(({ type }) => type === 'alerting'));
    const judged = await eventually(loaded, (all) => all.every(({ health }) => health !== 'unknown'), 120_000);
    expect(judged.map(({ name }) => name).sort()).toEqual(wanted.sort());
    expect(judged.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  it('has it find a worker that is started beside the present ones', async () => {
    const id = await compose('run', '-d', '--rm', '--no-deps', '--use-aliases', 'worker');
    try {
      await eventually(
        () => healthy('sanaga-worker'),
        (count) => count === 2,
        180_000,
      );
    } finally {
      await docker('stop', id.trim().split('\n').at(-1) ?? '');
    }
  });
});
