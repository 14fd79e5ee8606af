import { describe, expect, it } from '@jest/globals';
import { soakSchema } from '../../../bench/soak/figures.js';
import { isGrowing, toDocument, toJson, toPictures, toTables } from '../../../bench/soak/report.js';
import { figures, ramp } from './example.js';

describe('the judgement of a soak test', () => {
  it('is about the API and the worker: what the server keeps is not ours', () => {
    expect(isGrowing(figures)).toBe(false);
  });

  it.each([
    ['api', 'heap', ramp(20, 500)],
    ['worker', 'resident', ramp(20, 5_000)],
  ] as const)('says so when the %s grows (%s)', (name, memory, samples) => {
    const processes = figures.processes.map((one) => (one.name === name ? { ...one, [memory]: samples } : one));
    expect(isGrowing({ ...figures, processes })).toBe(true);
  });
});

describe('a soak test', () => {
  it('is told as one line of JSON', () => {
    const line = toJson(figures);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      minutes: 20,
      perSecond: 20,
      payments: 2_400,
      startP99: 91,
      isGrowing: false,
      processes: {
        api: {
          resident: { perPayment: 100, judgement: 'flat' },
          heap: { perPayment: 10, judgement: 'flat' },
        },
        server: { resident: { perPayment: 9_000, judgement: 'growing' } },
      },
    });
  });

  it('is told as a table, with how the load went', () => {
    const text = toTables(figures);
    expect(text).toContain('2,400 payments in 20 min on `sanaga-postgres`: 20.0 a second, 71 % of what');
    expect(text).toContain('notified again: 4');
    expect(text).toMatch(/^\| worker +\| heap after GC \| 300\.0 .*\| 0 +\| flat/m);
    expect(text).toMatch(/^\| server +\| resident .*\| 9000 +\| growing/m);
  });

  it('that failed says so, however it is told', () => {
    const failed = { ...figures, failed: "payment 7: the merchant wasn't notified" };
    expect(toTables(failed)).toContain(
      `FAILED after ${figures.periods.length} minutes, and these are the minutes before: payment 7`,
    );
    expect(JSON.parse(toJson(failed))).toMatchObject({ failed: failed.failed });
    expect(toTables(figures)).not.toContain('FAILED');
  });

  it('has a picture of resident memory and one of the heaps', () => {
    const [resident, heap] = toPictures(figures);
    expect(resident?.svg.match(/<polyline/g)).toHaveLength(3);
    expect(heap?.svg.match(/<polyline/g)).toHaveLength(2);
    expect(toDocument(figures)).toContain('](images/soak-resident.svg)');
  });

  it('can be kept in a file, and read again', () => {
    expect(soakSchema.parse(JSON.parse(JSON.stringify(figures)))).toEqual(figures);
  });
});
