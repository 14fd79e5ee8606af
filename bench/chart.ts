/** Line charts as SVG: small, with axes and units, readable in light and dark, and without colours, too. */

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  /** The quantity on the axis, with its unit. */
  readonly title: string;
  /** Values of the marks; round numbers from 0 on by default. */
  readonly marks?: readonly number[];
  /** Puts the marks at equal distances, for numbers that grow by factors. Only with `marks`. */
  readonly isByFactors?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

const SIZE = { width: 640, height: 360 } as const;
const PLOT = { left: 70, right: 600, top: 70, bottom: 300 } as const;
/** Each line has a colour that stands out from white and from black, a shape of its points, and a stroke. */
const STYLES = [
  { colour: '#2f7de1', dash: '' },
  { colour: '#d9730d', dash: '7 4' },
  { colour: '#2b9a66', dash: '2 4' },
  { colour: '#9d6be0', dash: '11 3 2 3' },
  { colour: '#c94f7c', dash: '4 2' },
] as const;
const MARKS = 5;
/** Width of a character in the legend, at most. */
const CHARACTER = 7.5;

const STYLE = `
    svg { --ink: #1f2328; --soft: #59636e; --grid: #d8dee4; --paper: #ffffff; font: 13px system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) {
      svg { --ink: #e6edf3; --soft: #9198a1; --grid: #30363d; --paper: #0d1117; }
    }
    text { fill: var(--soft); }
    .title { fill: var(--ink); font-size: 15px; font-weight: 600; }
    .paper { fill: var(--paper); }
    .grid { stroke: var(--grid); }
    .line { fill: none; stroke-width: 2; }`;

/**
 * @throws RangeError when there is nothing to show, or more lines than can be told apart
 */
export function toSvg({ title, x, y, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) throw new RangeError(`there is nothing to show of: ${title}`);
  if (lines.length > STYLES.length) throw new RangeError(`a chart has ${STYLES.length} lines at most`);
  const across = scale(
    x,
    points.map(([at]) => at),
    PLOT.left,
    PLOT.right,
  );
  const up = scale(
    y,
    points.map(([, value]) => value),
    PLOT.bottom,
    PLOT.top,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" role="img" aria-label="${escaped(title)}">`,
    `  <title>${escaped(title)}</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="paper" width="${SIZE.width}" height="${SIZE.height}" rx="6"/>`,
    `  <text class="title" x="${PLOT.left}" y="26">${escaped(title)}</text>`,
    ...legend(lines),
    ...up.marks.map((mark) => horizontal(up.at(mark), label(mark))),
    ...across.marks.map((mark) => text(across.at(mark), PLOT.bottom + 20, label(mark), 'middle')),
    text((PLOT.left + PLOT.right) / 2, SIZE.height - 12, x.title, 'middle'),
    `  <text transform="translate(18 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(y.title)}</text>`,
    ...lines.flatMap((line, index) => drawn(line, index, across.at, up.at)),
    '</svg>',
  ].join('\n')}\n`;
}

interface Scale {
  readonly marks: readonly number[];
  at(value: number): number;
}

/** Returns a function from values to positions between two places of the picture. */
function scale({ marks, isByFactors }: Axis, values: readonly number[], from: number, to: number): Scale {
  if (marks !== undefined && isByFactors) {
    const step = (to - from) / Math.max(1, marks.length - 1);
    return { marks, at: (value) => from + step * place(marks, value) };
  }
  const all = marks ?? roundMarks(Math.max(...values));
  const end = Math.max(...all, Number.MIN_VALUE);
  return { marks: all, at: (value) => from + ((to - from) * value) / end };
}

/** A value's place among marks: 0 for the first, and in between in proportion to its logarithm. */
function place(marks: readonly number[], value: number): number {
  const next = marks.findIndex((mark) => mark >= value);
  const [low = 0, high = 0] = [marks[next - 1], marks[next]];
  if (next <= 0 || low === 0) return Math.max(0, next);
  return next - 1 + Math.log(value / low) / Math.log(high / low);
}

/** Round numbers from 0 to at least `max`, about {@link MARKS} of them. */
export function roundMarks(max: number): number[] {
  if (max <= 0) return [0, 1];
  const rough = max / MARKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

function drawn(
  { points }: Line,
  index: number,
  across: (value: number) => number,
  up: (value: number) => number,
): string[] {
  const { colour, dash } = styleOf(index);
  const places = points.map(([x, y]) => `${round(across(x))},${round(up(y))}`);
  // Many points are a curve; a few are measurements, which the lines only connect.
  const dots = points.length > 20 ? [] : places.map((at) => dot(at, colour));
  return [
    `  <polyline class="line" stroke="${colour}"${dash && ` stroke-dasharray="${dash}"`} points="${places.join(' ')}"/>`,
    ...dots,
  ];
}

function dot(at: string, colour: string): string {
  const [x, y] = at.split(',');
  return `  <circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`;
}

function legend(lines: readonly Line[]): string[] {
  let left: number = PLOT.left;
  return lines.flatMap(({ name }, index) => {
    const { colour, dash } = styleOf(index);
    const from = left;
    left += 44 + name.length * CHARACTER;
    return [
      `  <line class="line" stroke="${colour}"${dash && ` stroke-dasharray="${dash}"`} x1="${from}" x2="${from + 24}" y1="46" y2="46"/>`,
      text(from + 30, 50, name, 'start'),
    ];
  });
}

const styleOf = (index: number) => STYLES[index % STYLES.length] ?? STYLES[0];

function horizontal(y: number, name: string): string {
  const at = round(y);
  return `  <line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}"/>\n${text(PLOT.left - 8, y + 4, name, 'end')}`;
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `  <text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

const round = (value: number) => Number(value.toFixed(1));

const label = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 });

const escaped = (words: string) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
