import { toSvg } from '../chart.js';
import { type Picture, table, toMarkdown } from '../document.js';
import { MAX_GROWTH, type Sample, type SoakFigures, type Trend, trendOf } from './figures.js';

/** Prints a soak test's result as JSON, as a table, and as pictures. */

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** The processes that are ours; the others are Temporal's and PostgreSQL's. */
const OURS = ['api', 'worker'];

interface JudgedProcess {
  readonly name: string;
  readonly resident: Trend | undefined;
  /** Only of Node's processes. */
  readonly heap: Trend | undefined;
}

function judge({ rate, processes }: SoakFigures): JudgedProcess[] {
  return processes.map(({ name, resident, heap }) => ({
    name,
    resident: trendOf(resident, rate, MAX_GROWTH.resident),
    heap: trendOf(heap, rate, MAX_GROWTH.heap),
  }));
}

/** Reports whether memory of the API or the worker grows. */
export function isGrowing(figures: SoakFigures): boolean {
  return judge(figures).some(
    ({ name, resident, heap }) =>
      OURS.includes(name) && (resident?.judgement === 'growing' || heap?.judgement === 'growing'),
  );
}

const total = ({ periods }: SoakFigures, pick: (period: SoakFigures['periods'][number]) => number) =>
  periods.reduce((sum, period) => sum + pick(period), 0);

const worst = ({ periods }: SoakFigures, pick: (period: SoakFigures['periods'][number]) => number) =>
  Math.max(0, ...periods.map(pick));

const toMinutes = (figures: SoakFigures) =>
  Math.max(0, ...figures.processes.flatMap(({ resident }) => resident.map(({ atMs }) => atMs))) / MINUTE_MS;

/** The result as one line of JSON: bytes, and times in ms. */
export function toJson(figures: SoakFigures): string {
  const whole = (trend: Trend | undefined) =>
    trend && {
      ...trend,
      first: Math.round(trend.first),
      last: Math.round(trend.last),
      perPayment: Math.round(trend.perPayment),
    };
  return JSON.stringify({
    system: figures.system,
    minutes: Number(toMinutes(figures).toFixed(1)),
    perSecond: Number(figures.rate.toFixed(1)),
    payments: total(figures, ({ payments }) => payments),
    startP99: Math.round(worst(figures, ({ startP99 }) => startP99)),
    outcomeP99: Math.round(worst(figures, ({ outcomeP99 }) => outcomeP99)),
    processes: Object.fromEntries(
      judge(figures).map(({ name, resident, heap }) => [name, { resident: whole(resident), heap: whole(heap) }]),
    ),
    isGrowing: isGrowing(figures),
    ...(figures.failed !== undefined && { failed: figures.failed }),
  });
}

/** Everything, for docs/performance.md. */
export function toDocument(figures: SoakFigures): string {
  return [toTables(figures), toMarkdown(toPictures(figures))].filter((part) => part !== '').join('\n\n');
}

/** The table of every process's memory, with how the load went. */
export function toTables(figures: SoakFigures): string {
  const { machine, system, rate, limit, periods, failed } = figures;
  const payments = total(figures, (period) => period.payments);
  const share = limit === undefined ? '' : `, ${((rate / limit) * 100).toFixed(0)} % of what it had made at most`;
  const odd = {
    'answered without link': total(figures, ({ withoutLink }) => withoutLink),
    'POSTs repeated': total(figures, ({ repeated }) => repeated),
    'notified again': total(figures, ({ notifiedAgain }) => notifiedAgain),
  };
  return [
    machine,
    ...(failed === undefined
      ? []
      : [`It FAILED after ${periods.length} minutes, and these are the minutes before: ${failed}`]),
    `${payments.toLocaleString('en-US')} payments in ${toMinutes(figures).toFixed(0)} min on \`${system}\`: ${rate.toFixed(1)} a second${share}. ` +
      `Each was paid, and its merchant notified of that alone. In the worst minute of ${periods.length}, POST to link took ` +
      `${worst(figures, ({ startP99 }) => startP99).toFixed(0)} ms at p99, and webhook to merchant ${worst(figures, ({ outcomeP99 }) => outcomeP99).toFixed(0)}. ` +
      `${Object.entries(odd)
        .map(([what, count]) => `${what}: ${count}`)
        .join(', ')}.`,
    memoryTable(figures),
  ].join('\n\n');
}

function memoryTable(figures: SoakFigures): string {
  const rows = judge(figures).flatMap(({ name, resident, heap }) => [
    [name, 'resident', ...cells(resident)],
    ...(heap === undefined ? [] : [[name, 'heap after GC', ...cells(heap)]]),
  ]);
  return table(['process', 'memory', 'MiB at first', 'MiB at last', 'bytes a payment', 'judgement'], rows);
}

function cells(trend: Trend | undefined): string[] {
  if (trend === undefined) return ['', '', '', 'unknown'];
  const { first, last, perPayment, judgement } = trend;
  return [(first / MIB).toFixed(1), (last / MIB).toFixed(1), perPayment.toFixed(0), judgement];
}

/** The curves, as files for docs/images. */
export function toPictures({ processes }: SoakFigures): Picture[] {
  const x = { title: 'minutes' };
  const y = { title: 'MiB' };
  const line = (name: string, samples: readonly Sample[]) => ({
    name,
    points: samples.map(({ atMs, bytes }) => [atMs / MINUTE_MS, bytes / MIB] as const),
  });
  const resident = processes.map(({ name, resident }) => line(name, resident));
  const heap = processes.map(({ name, heap }) => line(name, heap));
  return [
    { name: 'soak-resident.svg', title: 'Resident memory under a constant load', lines: resident },
    { name: 'soak-heap.svg', title: 'Heap after a collection of garbage', lines: heap },
  ].flatMap(({ name, title, lines }) => {
    const drawn = lines.filter(({ points }) => points.length > 0);
    return drawn.length === 0 ? [] : [{ name, text: title, svg: toSvg({ title, x, y, lines: drawn }) }];
  });
}
