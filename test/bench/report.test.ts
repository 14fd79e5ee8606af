import { describe, expect, it } from '@jest/globals';
import { withGenerated } from '../../bench/document.js';
import type { RunFigures } from '../../bench/figures.js';
import { toJson, toTables } from '../../bench/report.js';
import type { LoadFigures } from '../../bench/run-bench.js';

const run: RunFigures = {
  ...{
    perSecond: 31.24,
    startP50: 40,
    startP99: 90.06,
    outcomeP50: 20,
    outcomeP99: 50,
    totalP50: 100,
    totalP99: 200,
  },
  ...{
    resent: 0,
    withoutLink: 0,
    repeated: 0,
    notifiedAgain: 0,
    cpuByProcess: { api: 5.04, worker: 25 },
    loadCpuMs: 2,
    otherCpu: 0,
    loadDelayP99: 1,
    events: 17,
    bytes: 9_000.4,
  },
};

const load: LoadFigures = {
  payments: 400,
  concurrency: 32,
  systems: new Map([
    ['sanaga', run],
    ['dbos', { ...run, perSecond: 62.48 }],
  ]),
};

describe('the JSON of a benchmark', () => {
  it("has each system's figures and the ratios, on one line", () => {
    const line = toJson(load);
    expect(line).not.toContain('\n');
    const figures = {
      ...{
        startP50: 40,
        startP99: 90.1,
        outcomeP50: 20,
        outcomeP99: 50,
        cpuMs: 30,
        events: 17,
        bytes: 9_000,
      },
    };
    expect(JSON.parse(line)).toEqual({
      payments: 400,
      concurrency: 32,
      systems: { sanaga: { perSecond: 31.24, ...figures }, dbos: { perSecond: 62.48, ...figures } },
      ratios: { 'sanaga/dbos': 0.5 },
    });
  });
});

describe('the tables of a benchmark', () => {
  const result = { figures: [load], leftOut: new Map(), failed: new Map() };

  it('show every system, with its CPU time by process', () => {
    const text = toTables(result);
    expect(text).toMatch(/^\| sanaga \| 31\.2 .*40 \/ 90/m);
    expect(text).toMatch(/^\| dbos +\| 62\.5/m);
    expect(text).toContain('api 5.0, worker 25.0');
    expect(text).toContain('sanaga/dbos 0.50');
  });

  it('name what was left out and what failed, with why', () => {
    const text = toTables({
      ...result,
      leftOut: new Map([['dbos', 'Install it']]),
      failed: new Map([['restate', 'the merchant was told FAILED']]),
    });
    expect(text).toContain('dbos was left out: Install it');
    expect(text).toContain('restate FAILED, and has no figures: the merchant was told FAILED');
  });
});

describe('the generated part of a document', () => {
  const command = 'npm run bench -- --write-docs';
  const [begin, end] = ['begin', 'end'].map((word) => `<!-- ${command}: ${word} -->`);

  it('is replaced, and nothing else', () => {
    const document = `# Title\n\n${begin}\n\nold\n\n${end}\n\nThe rest.\n`;
    expect(withGenerated(document, 'new', command)).toBe(`# Title\n\n${begin}\n\nnew\n\n${end}\n\nThe rest.\n`);
  });

  it('must be there', () => expect(() => withGenerated('# Title\n', 'new', command)).toThrow('no part between'));
});
