import { describe, expect, it } from '@jest/globals';
import { type Chart, roundMarks, toSvg } from '../../bench/chart.js';

const chart: Chart = {
  title: 'Payments a second',
  x: { title: 'payments at a time', marks: [1, 8, 32], isByFactors: true },
  y: { title: 'payments/s' },
  lines: [
    {
      name: 'none open',
      points: [
        [1, 10],
        [8, 24],
        [32, 30],
      ],
    },
    {
      name: '10,000 open',
      points: [
        [1, 9],
        [32, 28],
      ],
    },
  ],
};

/** The places of each line's points, from left to right. */
const placesOf = (svg: string) =>
  [...svg.matchAll(/<polyline[^>]* points="([^"]*)"/g)].map(([, places = '']) =>
    places.split(' ').map((place) => place.split(',').map(Number)),
  );

describe('a chart', () => {
  it('has a title, titles of its axes with their units, and the names of its lines', () => {
    const svg = toSvg(chart);
    for (const words of ['Payments a second', 'payments at a time', 'payments/s', 'none open', '10,000 open']) {
      expect(svg).toContain(`>${words}</text>`);
    }
  });

  it('puts larger values higher, and zero at the bottom', () => {
    const lines = [{ name: 'a', points: [[0, 0] as const, [5, 10] as const, [10, 5] as const] }];
    const [[zero, ten, five] = []] = placesOf(toSvg({ ...chart, x: { title: 'x' }, lines }));
    expect(zero).toEqual([70, 300]);
    expect(ten?.[1]).toBe(70);
    expect(five).toEqual([600, 185]);
  });

  it('puts marks by factors at equal distances, and values in between by their logarithm', () => {
    const lines = [{ name: 'a', points: [[1, 1] as const, [8, 1] as const, [16, 1] as const, [32, 1] as const] }];
    const [[one, eight, sixteen, thirtyTwo] = []] = placesOf(toSvg({ ...chart, lines }));
    expect([one, eight, sixteen, thirtyTwo].map((place) => place?.[0])).toEqual([70, 335, 467.5, 600]);
  });

  it('takes 0 as the first mark by factors', () => {
    const lines = [{ name: 'a', points: [[0, 1] as const, [10_000, 1] as const, [100_000, 1] as const] }];
    const x = { title: 'open payments', marks: [0, 10_000, 100_000], isByFactors: true };
    const [places = []] = placesOf(toSvg({ ...chart, x, lines }));
    expect(places.map(([at]) => at)).toEqual([70, 335, 600]);
  });

  it('shows measurements as points, but not the samples of a curve', () => {
    const curve = Array.from({ length: 100 }, (_, at) => [at, at] as const);
    expect(toSvg(chart).match(/<circle/g)).toHaveLength(5);
    expect(toSvg({ ...chart, x: { title: 'x' }, lines: [{ name: 'a', points: curve }] })).not.toContain('<circle');
  });

  it('can be read in the dark, and without colours', () => {
    const svg = toSvg(chart);
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
    const dashes = [...svg.matchAll(/<polyline[^>]*/g)].map(([line]) => /dasharray="[^"]*"/.exec(line)?.[0]);
    expect(new Set(dashes).size).toBe(2);
  });

  it('is well-formed whatever its words are', () => {
    expect(toSvg({ ...chart, title: 'a < b & "c"' })).toContain('>a &lt; b &amp; &quot;c&quot;</text>');
  });

  it('is refused when there is nothing to show, or too much to be told apart', () => {
    expect(() => toSvg({ ...chart, lines: [] })).toThrow(RangeError);
    const line = { name: 'a', points: [[1, 1] as const] };
    expect(() => toSvg({ ...chart, lines: Array.from({ length: 6 }, () => line) })).toThrow(RangeError);
  });
});

describe('the marks of an axis', () => {
  it.each([
    [34, [0, 10, 20, 30, 40]],
    [10, [0, 2, 4, 6, 8, 10]],
    [0.7, [0, 0.2, 0.4, 0.6, 0.8]],
    [1_999, [0, 500, 1_000, 1_500, 2_000]],
    [0, [0, 1]],
  ])('are round numbers from 0 to at least %d', (max, marks) => expect(roundMarks(max)).toEqual(marks));
});
