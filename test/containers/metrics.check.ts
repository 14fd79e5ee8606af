import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { eventually } from '../support/eventually.js';
import { compose, docker, inTree } from './compose.js';

/** Grafana but shows what Prometheus has. */
const METRICS = ['prometheus', 'postgres-exporter', 'node-exporter'];
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

const hasSample = (answer: unknown) => z.object({ result: z.array(z.unknown()) }).parse(answer).result.length > 0;

describe('the profile metrics', () => {
  beforeAll(async () => {
    await compose('--profile', 'metrics', 'up', '-d', ...METRICS);
  }, 300_000);
  afterAll(async () => {
    await compose('--profile', 'metrics', 'rm', '--stop', '--force', ...METRICS);
  }, 120_000);

  it.each(['sanaga-api', 'sanaga-worker', 'temporal', 'postgres', 'node'])('has Prometheus read %s', async (job) => {
    await eventually(
      () => healthy(job).catch(() => 0),
      (count) => count === 1,
      120_000,
    );
  });

  it.each([
    ['PostgreSQL answers', 'max(pg_up) == 1'],
    ['its log is archived', 'max(pg_stat_archiver_last_archive_age) < 900'],
    ['its connections are counted', 'sum(pg_stat_activity_count) / max(pg_settings_max_connections) > 0'],
    ['its transactions are timed', 'max(pg_stat_activity_max_tx_duration{state!="idle"}) >= 0'],
    ['a backup was taken today', 'time() - max(postgres_backup_timestamp_seconds) < 86400'],
    ['the machine has room', 'min(node_filesystem_avail_bytes / node_filesystem_size_bytes) >= 0'],
    ["Temporal's calls are counted", 'sum(rate(service_requests{service_name="frontend"}[5m])) > 0'],
    [
      "Temporal's errors have a type",
      'count(service_error_with_type{service_name="frontend",error_type=~"serviceerror_.+"}) > 0',
    ],
    ["Temporal's database is timed", 'sum(rate(persistence_latency_bucket[5m])) > 0'],
    ['tasks are counted', 'count(approximate_backlog_count{taskqueue="payments"}) > 0'],
  ])('knows whether %s', async (_, query) => {
    const found = () => ask(`/query?query=${encodeURIComponent(query)}`).then(hasSample);
    expect(await eventually(found, (isThere) => isThere, 180_000)).toBe(true);
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
