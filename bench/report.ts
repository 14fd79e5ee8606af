import { pair, table } from './document.js';
import { type RunFigures, ratios, totalCpu } from './figures.js';
import type { BenchResult, LoadFigures } from './run-bench.js';

/** Prints the benchmark's result as JSON and as tables, which are Markdown and can be read as they are. */

const round = (value: number, digits = 1) => Number(value.toFixed(digits));

/**
 * The result at one concurrency, as one line of JSON. Times are in ms; `cpuMs`, `events` and `bytes` are a payment's.
 */
export function toJson({ payments, concurrency, systems }: LoadFigures): string {
  return JSON.stringify({
    payments,
    concurrency,
    systems: Object.fromEntries(
      [...systems].map(([name, run]) => [
        name,
        {
          perSecond: round(run.perSecond, 2),
          startP50: round(run.startP50),
          startP99: round(run.startP99),
          outcomeP50: round(run.outcomeP50),
          outcomeP99: round(run.outcomeP99),
          cpuMs: round(totalCpu(run)),
          events: round(run.events, 2),
          bytes: Math.round(run.bytes),
        },
      ]),
    ),
    ratios: Object.fromEntries(Object.entries(ratios(systems)).map(([name, ratio]) => [name, round(ratio, 2)])),
  });
}

/** Tables of all figures, with the omissions and failures. */
export function toTables(result: BenchResult): string {
  const sections = result.figures.map((load) => {
    const title = `**${load.concurrency === 1 ? 'One payment' : `${load.concurrency} payments`} at a time** (${load.payments} payments)`;
    return [
      title,
      throughputTable(load),
      costTable(load),
      ...compared('Payments a second', load, ({ perSecond }) => round(perSecond)),
      ...compared('CPU ms', load, shownCpu),
    ].join('\n\n');
  });
  const leftOut = [...result.leftOut].map(([name, why]) => `${name} was left out: ${why}`);
  const failed = [...result.failed].map(([name, why]) => `${name} FAILED, and has no figures: ${why}`);
  return [...sections, ...leftOut, ...failed].join('\n\n');
}

/** The ratios of a figure as the tables show it, so that whoever divides finds the same. */
function compared(title: string, { systems }: LoadFigures, shown: (run: RunFigures) => number): string[] {
  const all = Object.entries(ratios(systems, shown)).map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`);
  return all.length > 0 ? [`${title}, one to the other: ${all.join(', ')}.`] : [];
}

/** CPU time of all processes: the sum of the figures shown beside it. */
const shownCpu = ({ cpuByProcess }: RunFigures) =>
  round(Object.values(cpuByProcess).reduce((sum, ms) => sum + round(ms), 0));

function throughputTable({ systems }: LoadFigures): string {
  return table(
    [
      '',
      'payments/s',
      'POST to link',
      'webhook to merchant',
      'POST to merchant',
      'without link',
      'webhooks resent',
      'notified again',
    ],
    [...systems].map(([name, run]) => [
      name,
      run.perSecond.toFixed(1),
      pair(run.startP50, run.startP99),
      pair(run.outcomeP50, run.outcomeP99),
      pair(run.totalP50, run.totalP99),
      String(run.withoutLink),
      String(run.resent),
      String(run.notifiedAgain),
    ]),
  );
}

function costTable({ systems }: LoadFigures): string {
  return table(
    ['a payment', 'CPU ms', 'of which', 'events', 'bytes stored', 'load CPU ms', 'load delay p99', 'other work'],
    [...systems].map(([name, run]) => [
      name,
      shownCpu(run).toFixed(1),
      processes(run),
      run.events.toFixed(1),
      run.bytes.toFixed(0),
      run.loadCpuMs.toFixed(1),
      `${run.loadDelayP99.toFixed(1)} ms`,
      `${(run.otherCpu * 100).toFixed(0)} %`,
    ]),
  );
}

const processes = ({ cpuByProcess }: RunFigures) =>
  Object.entries(cpuByProcess)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
    .join(', ');
