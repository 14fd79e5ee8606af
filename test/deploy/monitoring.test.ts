import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { alerts, dashboard, deployed, namedSeries, queries } from '../support/monitoring.js';
import { findPromtool, PROMTOOL_LIMIT_MS } from '../support/promtool.js';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

let promtool: string;
beforeAll(async () => {
  promtool = await findPromtool();
}, PROMTOOL_LIMIT_MS);

/** Runs promtool, and returns its output. Throws with it when it finds an error. */
function check(...args: readonly string[]): string {
  return execFileSync(promtool, args, { cwd: dirname(deployed('prometheus/alerts.yml')), encoding: 'utf8' });
}

const names = [...alerts.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

describe('the alert rules', () => {
  it('are right by promtool, and so is the configuration that names them', () => {
    expect(check('check', 'rules', 'alerts.yml')).toContain(`${names.length} rules found`);
    expect(check('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
  });

  it('fire when they should, and not before', () => {
    expect(check('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  });

  it('are each tried for firing', async () => {
    const tests = await readFile(deployed('prometheus/alerts.test.yml'), 'utf8');
    const fired = [...tests.matchAll(/labels: 'ALERTS\{alertname="(\w+)",alertstate="firing"/g)];
    expect([...new Set(fired.map(([, name]) => name))].sort()).toEqual([...names].sort());
  });

  it('are each explained to operators, under the address that they give', async () => {
    const guide = await read('docs/operators.md');
    const headings = [...guide.matchAll(/^### (Sanaga\w+)$/gm)].map(([, heading = '']) => heading);
    expect(headings.sort()).toEqual([...names].sort());
    const runbooks = [...alerts.matchAll(/^ +runbook: (.+)$/gm)].map(([, runbook]) => runbook);
    expect(runbooks).toEqual(names.map((name) => `docs/operators.md#${name.toLowerCase()}`));
  });
});

describe('the dashboard', () => {
  it('has queries that Prometheus can read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-dashboard-'));
    const rules = queries.map(({ expr }, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }));
    const file = join(folder, 'queries.yml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(check('check', 'rules', file)).toContain(`${rules.length} rules found`);
    await rm(folder, { recursive: true });
  });

  it('asks the data source that Grafana is given with it', async () => {
    const source = await readFile(deployed('grafana/provisioning/datasources/prometheus.yml'), 'utf8');
    const asked = new Set(dashboard.panels.flatMap(({ targets }) => targets.map(({ datasource }) => datasource.uid)));
    expect([...asked].map((uid) => `uid: ${uid}`)).toEqual([/uid: .*/.exec(source)?.[0]]);
  });

  it('shows each metric that an alert goes by', () => {
    const namesIn = (text: string) => new Set(namedSeries(text).map(({ name }) => name));
    const shown = namesIn(queries.map(({ expr }) => expr).join('\n'));
    expect([...namesIn(alerts)].filter((name) => !shown.has(name))).toEqual([]);
  });

  it('says of each panel what it shows', () => {
    const silent = dashboard.panels.filter(({ type, description }) => type !== 'row' && !description);
    expect(silent).toEqual([]);
  });
});

describe('the series that a query names', () => {
  it('are found, with each value that it looks for', () => {
    expect(namedSeries('sum(rate(sanaga_a_total{x=~"one|two",job="j",route=~"/v1/.+"}[5m])) / sanaga_b')).toEqual([
      { name: 'sanaga_a_total', labels: { x: 'one' } },
      { name: 'sanaga_a_total', labels: { x: 'two' } },
      { name: 'sanaga_b', labels: {} },
    ]);
  });
});
