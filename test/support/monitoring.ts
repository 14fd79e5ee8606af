import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The path of a file in deploy/. */
export const deployed = (path: string): string => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

const dashboardSchema = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      type: z.string(),
      title: z.string(),
      description: z.string().optional(),
      targets: z.array(z.object({ expr: z.string(), datasource: z.object({ uid: z.string() }) })).default([]),
    }),
  ),
});

/** The alerts, as the text of their file. */
export const alerts = await readFile(deployed('prometheus/alerts.yml'), 'utf8');

export const dashboard = dashboardSchema.parse(
  JSON.parse(await readFile(deployed('grafana/dashboards/sanaga.json'), 'utf8')),
);

/** Every query of the dashboard, with its panel. */
export const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ panel: title, expr })),
);

/** A metric that a query names, with one of the values that it looks for, if it names labels. */
export interface NamedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

const METRIC = /(?<!")\b((?:sanaga|temporal|process|nodejs)_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|=)\s*"([^"]*)"/g;

/** Labels that Prometheus adds to what it reads. */
const ADDED = new Set(['job', 'instance']);

/**
 * The series that queries name: of a label that may have several values, one series for each. A value that is a pattern
 * and not a list of words is left out.
 */
export function namedSeries(text: string): NamedSeries[] {
  return [...text.matchAll(METRIC)].flatMap(([, name = '', selector = '']) => {
    const matchers = [...selector.matchAll(MATCHER)]
      .filter(([, label = '', , value = '']) => !ADDED.has(label) && /^[\w|]+$/.test(value))
      .map(([, label = '', , value = '']) => value.split('|').map((one) => ({ [label]: one })));
    return matchers.length === 0 ? [{ name, labels: {} }] : matchers.flat().map((labels) => ({ name, labels }));
  });
}
