import { describe, expect, it } from '@jest/globals';
import { SEPARATORS, toCsv } from '../../../src/api/routes/csv.js';
import { paymentCsv } from '../../../src/api/routes/payment-csv.js';

const CHARACTERS = { comma: ',', semicolon: ';' } as const;

/** Reads CSV as RFC 4180 says. */
function parse(csv: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\r\n]*))(${separator}|\r\n|$)`, 'gy');
  for (const [whole, quoted, plain, end] of csv.matchAll(cell)) {
    if (whole === '' && end === '') break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  rows.pop();
  return rows;
}

/** What a spreadsheet could have as cells that splits at these characters, whether they are in quotes or not. */
const splitAt = (csv: string, separators: string) =>
  csv.split(new RegExp(`[${separators}\r\n]`)).map((cell) => cell.replace(/^[\s"']*"/, ''));

const FORMULAS = [
  ...['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '＝1', '＋1', '－1', '＠1', '"=1', "\n'=1"],
  ...['x;=1+1', 'x,=1+1', 'x\t=1+1', 'x\n=1+1', 'x\r\n@1', 'x; =1', 'x;"=1+1"', 'x,"=1+1', 'x;;+1', 'x,;-1', 'x|=1'],
];

describe.each(SEPARATORS)('CSV with the separator %s', (separator) => {
  const character = CHARACTERS[separator];
  const write = (...rows: readonly object[]) =>
    toCsv(rows, { columns: ['first', 'text', 'last'], header: false, separator });

  it.each(FORMULAS)('has no cell that is a formula, wherever it is split: %j', (text) => {
    const csv = write({ first: 1, text, last: 2 }, { first: 1, text: { [text]: text, b: text }, last: 2 });
    for (const separators of [',', ';', '\t', '|', ',;\t|']) {
      // An apostrophe is text itself, so that what it stands before is, too.
      expect(splitAt(csv, separators).filter((cell) => /^\s*[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
    }
    const [[, cell = '', last] = [], [, json = ''] = []] = parse(csv, character);
    expect(last).toBe('2');
    expect(cell.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
    expect(JSON.parse(json)).toEqual({ [text]: text, b: text });
  });

  it.each([
    ...['1234567890123456', '0123456789', '007', '1234 5678 9012 3456', '1.234.567.890.123.456', '12E5', '1e10'],
  ])('keeps all of a reference that looks like a number: %s', (text) => {
    expect(parse(write({ first: 1, text, last: 2 }), character)).toEqual([['1', `'${text}`, '2']]);
  });

  it.each(['order-1001', '123456789012345', '0', 'a; b, c', 'Awa "M"', 'TX-1', 'two\r\nlines', 'a@b.cm', '1-2'])(
    'leaves any other text as it is: %j',
    (text) => {
      expect(parse(write({ first: 1, text, last: 2 }), character)).toEqual([['1', text, '2']]);
    },
  );

  it('has whole numbers, negative ones, too', () => {
    expect(write({ first: -5, text: 12_500, last: 0 })).toBe(['-5', '12500', '0\r\n'].join(character));
  });

  it('has the time in Douala, with its offset, so that its day is that of statements', () => {
    const [head = [], row = []] = parse(
      paymentCsv([{ id: 'col_1', createdAt: '2026-11-20T23:30:00.000Z' }, { id: 'col_2' }], true, separator).slice(1),
      character,
    );
    expect(row[head.indexOf('createdAt')]).toBe('2026-11-21T00:30:00.000+01:00');
    expect(row[head.indexOf('updatedAt')]).toBe('');
  });
});
