import { describe, expect, it } from '@jest/globals';
import { toDocument, toJson, toPictures, toTables } from '../../../bench/growth/report.js';
import { figures, point } from './example.js';

describe('the JSON of growth', () => {
  it('has every run and every size, on one line', () => {
    const line = toJson(figures);
    expect(line).not.toContain('\n');
    const { points, sizes, failures } = JSON.parse(line);
    expect(points[3]).toMatchObject({
      open: 10_000,
      concurrency: 8,
      perSecond: 24.5,
      startP99: 900,
      cpuMs: 30,
    });
    expect(sizes[1]).toMatchObject({ open: 10_000, newest: 31, review: 22, paidP99: 260 });
    expect(failures).toHaveLength(1);
  });
});

describe('the tables of growth', () => {
  const text = toTables(figures);

  it('have a row for each run, with the memory of each process', () => {
    expect(text).toContain('Measured on a machine.');
    expect(text).toContain('MiB: api, worker');
    expect(text).toMatch(/^\| 10,000 \| 8 +\| 24\.5 .*\| 400 \/ 900 +\| 300 \/ 700 .*\| 150, 350/m);
  });

  it('have a row for each size, with the time of its lists', () => {
    expect(text).toMatch(/^\| 10,000 \| 500 .*\| 41\.5 .*\| 31 \/ 45 .*\| 22 \/ 33 .*\| 500 in 210 .*\| 120 \/ 260/m);
    expect(text).toMatch(/^\| 0 +\| 0 .*\| 0 in 210 .*\| +\| 140, 300/m);
  });

  it('name what failed, with why', () => {
    expect(text).toContain(
      'With 10,000 open payments, 512 at a time FAILED, and has no figures: the merchant was told FAILED',
    );
  });

  it('show what there is of a run that was stopped', () => {
    const text = toTables({ ...figures, points: [], failures: [] });
    expect(text).not.toContain('at a time');
    expect(text).toContain('newest 100');
  });
});

describe('the pictures of growth', () => {
  const names = (given: typeof figures) => toPictures(given).map(({ name }) => name);

  it('show throughput, latencies, memory and lists, with a line for each size', () => {
    const pictures = toPictures(figures);
    expect(pictures.map(({ name }) => name)).toEqual([
      ...['growth-throughput.svg', 'growth-start.svg', 'growth-outcome.svg', 'growth-memory.svg', 'growth-lists.svg'],
    ]);
    expect(pictures[0]?.svg).toContain('>10,000 open</text>');
    expect(pictures[0]?.svg.match(/<polyline/g)).toHaveLength(2);
    expect(pictures[3]?.svg).toContain('>Memory with 10,000 open payments</text>');
  });

  it('leave out what was not measured', () => {
    expect(names({ ...figures, points: [] })).toEqual(['growth-lists.svg']);
    expect(names({ ...figures, points: [point(0, 1)], sizes: [] })).not.toContain('growth-lists.svg');
    expect(names({ ...figures, points: [], sizes: [] })).toEqual([]);
  });

  it('are shown by the document', () => {
    const text = toDocument(figures);
    for (const name of names(figures)) expect(text).toContain(`](images/${name})`);
  });
});
