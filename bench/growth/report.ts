import { toSvg } from '../chart.js';
import { type Picture, pair, table, toMarkdown } from '../document.js';
import { totalCpu } from '../figures.js';
import type { GrowthFigures, GrowthPoint } from './figures.js';

/** Prints the figures as JSON, as tables, and as pictures. */

const MIB = 2 ** 20;
const count = (value: number) => value.toLocaleString('en-US');
const mib = (bytes: number) => (bytes / MIB).toFixed(0);
const round = (value: number, digits = 1) => Number(value.toFixed(digits));

/** The result as one line of JSON. Times are in ms, `memory` is in bytes. */
export function toJson({ system, sizes, points, failures }: GrowthFigures): string {
  return JSON.stringify({
    system,
    points: points.map(({ size, concurrency, payments, run, memory }) => ({
      ...{ open: size, concurrency, payments },
      perSecond: round(run.perSecond, 2),
      startP50: round(run.startP50),
      startP99: round(run.startP99),
      outcomeP50: round(run.outcomeP50),
      outcomeP99: round(run.outcomeP99),
      totalP99: round(run.totalP99),
      cpuMs: round(totalCpu(run)),
      memory,
    })),
    sizes: sizes.map(({ size, newest, byReference, review, wholeReview, paid, memory }) => ({
      ...{
        open: size,
        newest: round(newest.p50),
        byReference: round(byReference.p50),
        review: round(review.p50),
      },
      wholeReview: { payments: wholeReview.payments, ms: round(wholeReview.ms) },
      ...(paid && { paidP50: round(paid.outcomeP50), paidP99: round(paid.outcomeP99) }),
      memory,
    })),
    failures,
  });
}

/** Everything, for docs/performance.md. */
export function toDocument(figures: GrowthFigures): string {
  return [toTables(figures), toMarkdown(toPictures(figures))].filter((part) => part !== '').join('\n\n');
}

/** Tables of everything that was measured, with what failed. */
export function toTables({ runs, system, points, sizes, failures }: GrowthFigures): string {
  const names = processesOf(points);
  return [
    [...runs, `The system is \`${system}\`. Each figure is of one run.`].join('\n\n'),
    ...(points.length > 0 ? [loadTable(points, names)] : []),
    ...(sizes.length > 0 ? [sizeTable(sizes, names)] : []),
    ...sizes.flatMap(({ size, unmade = [] }) =>
      unmade.map((why) => `While ${count(size)} open payments were made, some FAILED: ${why}`),
    ),
    ...failures.map(
      ({ size, concurrency, why }) =>
        `With ${count(size)} open payments, ${concurrency} at a time FAILED, and has no figures: ${why}`,
    ),
  ].join('\n\n');
}

const processesOf = (all: readonly Pick<GrowthPoint, 'memory'>[]) => [
  ...new Set(all.flatMap(({ memory }) => Object.keys(memory))),
];

function loadTable(points: readonly GrowthPoint[], names: readonly string[]): string {
  return table(
    [
      ...['open', 'at a time', 'payments/s', 'POST to link', 'webhook to merchant', 'POST to merchant'],
      ...['without link', 'POSTs repeated', 'notified again', 'CPU ms', `MiB: ${names.join(', ')}`, 'other work'],
    ],
    points.map(({ size, concurrency, run, memory }) => [
      count(size),
      String(concurrency),
      run.perSecond.toFixed(1),
      pair(run.startP50, run.startP99),
      pair(run.outcomeP50, run.outcomeP99),
      pair(run.totalP50, run.totalP99),
      String(run.withoutLink),
      String(run.repeated),
      String(run.notifiedAgain),
      totalCpu(run).toFixed(1),
      names.map((name) => mib(memory[name] ?? 0)).join(', '),
      `${(run.otherCpu * 100).toFixed(0)} %`,
    ]),
  );
}

function sizeTable(sizes: GrowthFigures['sizes'], names: readonly string[]): string {
  return table(
    [
      ...['open', 'of these in REVIEW', 'made/s', 'store, MiB', 'newest 100', 'by externalId'],
      ...['REVIEW, first 100', 'REVIEW, all', 'paid after waiting', `MiB at rest: ${names.join(', ')}`],
    ],
    sizes.map(({ size, inReview, madePerSecond, bytes, memory, newest, byReference, review, wholeReview, paid }) => [
      count(size),
      count(inReview),
      madePerSecond?.toFixed(1) ?? '',
      mib(bytes),
      pair(newest.p50, newest.max),
      pair(byReference.p50, byReference.max),
      pair(review.p50, review.max),
      `${count(wholeReview.payments)} in ${wholeReview.ms.toFixed(0)}`,
      paid === undefined ? '' : pair(paid.outcomeP50, paid.outcomeP99),
      names.map((name) => mib(memory[name] ?? 0)).join(', '),
    ]),
  );
}

/** The curves, as files for docs/images; none of what wasn't measured. */
export function toPictures(figures: GrowthFigures): Picture[] {
  return [...loadPictures(figures), ...sizePictures(figures)];
}

function loadPictures({ points, sizes }: GrowthFigures): Picture[] {
  if (points.length === 0) return [];
  const marks = [...new Set(points.map(({ concurrency }) => concurrency))].sort((one, other) => one - other);
  const all = [...new Set([...sizes, ...points].map(({ size }) => size))].sort((one, other) => one - other);
  const x = { title: 'payments at a time', marks, isByFactors: true };
  const of = (pick: (point: GrowthPoint) => number) =>
    all
      .map((size) => ({
        name: size === 0 ? 'none open' : `${count(size)} open`,
        points: points.filter((point) => point.size === size).map((point) => [point.concurrency, pick(point)] as const),
      }))
      .filter((line) => line.points.length > 0);
  const [throughput, start, outcome] = [
    { title: 'Payments a second', y: 'payments/s', lines: of(({ run }) => run.perSecond) },
    { title: 'POST to link, 99th percentile', y: 'seconds', lines: of(({ run }) => run.startP99 / 1_000) },
    {
      title: 'Webhook to merchant, 99th percentile',
      y: 'seconds',
      lines: of(({ run }) => run.outcomeP99 / 1_000),
    },
  ].map(({ title, y, lines }) => toSvg({ title, x, y: { title: y }, lines }));
  return [
    picture('growth-throughput.svg', 'Payments a second by payments at a time', throughput),
    picture('growth-start.svg', 'POST to link at p99 by payments at a time', start),
    picture('growth-outcome.svg', 'Webhook to merchant at p99 by payments at a time', outcome),
    picture('growth-memory.svg', 'Memory of each process by payments at a time', memoryPicture(points, x)),
  ];
}

/** Memory of the largest size alone, where each process has the most. */
function memoryPicture(points: readonly GrowthPoint[], x: Parameters<typeof toSvg>[0]['x']): string {
  const largest = Math.max(...points.map(({ size }) => size));
  const there = points.filter(({ size }) => size === largest);
  const lines = processesOf(there).map((name) => ({
    name,
    points: there.map(({ concurrency, memory }) => [concurrency, (memory[name] ?? 0) / MIB] as const),
  }));
  return toSvg({ title: `Memory with ${count(largest)} open payments`, x, y: { title: 'MiB' }, lines });
}

function sizePictures({ sizes }: GrowthFigures): Picture[] {
  if (sizes.length < 2) return [];
  const x = { title: 'open payments', marks: sizes.map(({ size }) => size), isByFactors: true };
  const of = (name: string, pick: (size: GrowthFigures['sizes'][number]) => number) => ({
    name,
    points: sizes.map((size) => [size.size, pick(size)] as const),
  });
  const lists = [
    of('newest 100', ({ newest }) => newest.p50),
    of('by externalId', ({ byReference }) => byReference.p50),
    of('REVIEW, first 100', ({ review }) => review.p50),
  ];
  const title = 'Time of a list, median';
  const svg = toSvg({ title, x, y: { title: 'ms' }, lines: lists });
  return [picture('growth-lists.svg', 'Time of lists by the number of open payments', svg)];
}

function picture(name: string, text: string, svg = ''): Picture {
  return { name, text, svg };
}
