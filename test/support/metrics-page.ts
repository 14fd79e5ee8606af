/** One line of a page of metrics. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

const NOT_FINITE: Readonly<Record<string, number>> = {
  Nan: Number.NaN,
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};

/** The samples of a page in Prometheus's text format. @throws Error on a line that isn't of the format. */
export function samplesOf(page: string): Sample[] {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return { name, labels: Object.fromEntries(pairs), value: NOT_FINITE[value] ?? Number(value) };
  });
}

/** The sum of the series of a metric that have these labels. @throws Error when there is none. */
export function sumOf(page: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const series = samplesOf(page).filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  if (series.length === 0) throw new Error(`no ${name} with ${JSON.stringify(labels)}`);
  return series.reduce((total, { value }) => total + value, 0);
}

/** The page without the fractions of its values: 0.001677000000001 seconds have the digits of a phone by chance. */
export function withoutFractions(page: string): string {
  return page.replaceAll(/\.\d+(e[-+]?\d+)?$/gm, '');
}
